import ImageFeed

// Some of the fields of a feed's note: see PollNotes.
extension PushLease {
  init?(_ fields: NoteFields.Reader, _ link: HubLink?) {
    guard let link, let path = fields.text(27), let secret = fields.text(28) else { return nil }
    self.init(link: link, path: path, secret: secret)
    (until, announced, trouble) = (fields.date(29), fields.date(30), fields.text(31) ?? "")
  }

  func put(in fields: inout NoteFields.Writer) {
    fields.put(27, path)
    fields.put(28, secret)
    fields.put(29, until)
    fields.put(30, announced)
    fields.put(31, trouble)
  }
}
