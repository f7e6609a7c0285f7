import ImageFeed

// Some of the fields of a host's note: see PollNotes.
extension HostPace {
  init?(_ fields: NoteFields.Reader) {
    guard let refusals = fields.integer(7) else { return nil }
    self.init()
    self.refusals = refusals
    (gap, held, refusedGap) = (fields.number(8), fields.number(9), fields.number(10))
    (refusedAt, isConfirmed, asked) = (fields.date(11), fields.flag(12) ?? false, fields.date(13))
    (accepted, since, quotaAt) = (fields.integer(14) ?? 0, fields.date(15), fields.date(16))
    quota = fields.number(17).map {
      RequestQuota(
        remaining: $0, resetsAfter: fields.number(18), limit: fields.number(19), window: fields.number(20))
    }
    bound()
  }

  func put(in fields: inout NoteFields.Writer) {
    fields.put(7, refusals)
    fields.put(8, gap)
    fields.put(9, held)
    fields.put(10, refusedGap)
    fields.put(11, refusedAt)
    fields.put(12, isConfirmed)
    fields.put(13, asked)
    fields.put(14, accepted)
    fields.put(15, since)
    fields.put(16, quotaAt)
    fields.put(17, quota?.remaining)
    fields.put(18, quota?.resetsAfter)
    fields.put(19, quota?.limit)
    fields.put(20, quota?.window)
  }
}
