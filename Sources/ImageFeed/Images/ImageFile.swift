import Foundation

/// The file of one image: its facts in lines of text, an empty line, and its bytes. The index is rebuilt from these
/// lines if it is lost.
struct ImageFile {
  var url: URL
  var image: Saved<FetchedImage>

  private static let magic = "feed image 1"
  /// The maximum length of the header: the lines before the bytes.
  private static let longestHeader = 64 << 10

  /// The name of the file for an image, in a folder whose name has two characters.
  static func name(for url: URL) -> String {
    let digest = SHA1.digest(of: Array(url.absoluteString.utf8)).hexDigits
    return "\(digest.prefix(2))/\(digest.dropFirst(2))"
  }

  /// True for a path that ``name(for:)`` may return, or for a file that will replace it.
  static func isName(_ path: String) -> Bool {
    path.wholeMatch(of: /[0-9a-f]{2}\/[0-9a-f]{38}(?:\.[0-9A-F]{8}-[0-9A-F-]{27}\.new)?/) != nil
  }

  var bytes: Data {
    var lines = [
      Self.magic, "url: \(url.absoluteString)", "bytes: \(image.value.data.bytes.count)",
      "timestamp: \(image.timestamp.timeIntervalSinceReferenceDate)",
      "lifetime: \(image.value.lifetime / .seconds(1))",
    ]
    if let width = image.value.reducedWidth { lines.append("reduced-width: \(width)") }
    // Omit a value with a line break, which would break the header; HTTP allows none.
    if let etag = image.validators.etag, !etag.contains(where: \.isNewline) { lines.append("etag: \(etag)") }
    if let date = image.validators.lastModified, !date.contains(where: \.isNewline) {
      lines.append("last-modified: \(date)")
    }
    return Data((lines.joined(separator: "\n") + "\n\n").utf8) + image.value.data.bytes
  }

  init(url: URL, image: Saved<FetchedImage>) {
    self.url = url
    self.image = image
  }

  /// The range of these bytes in an open image file; `nil` if the file has different bytes. Blocks.
  static func range(of bytes: Data, in descriptor: Int32) -> Range<Int64>? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    let (end, start) = (Int64(status.st_size), Int64(status.st_size) - Int64(bytes.count))
    guard start > Int64(magic.utf8.count) else { return nil }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
    func read(_ count: Int, at place: Int64) -> Data? {
      guard (try? file.seek(toOffset: UInt64(place))) != nil else { return nil }
      return try? file.read(upToCount: count)
    }
    guard read(magic.utf8.count, at: 0) == Data(magic.utf8) else { return nil }
    var place = 0
    while place < bytes.count {
      let count = min(256 * 1024, bytes.count - place)
      let part = bytes.dropFirst(place).prefix(count)
      guard read(count, at: start + Int64(place)) == part else { return nil }
      place += count
    }
    return start..<end
  }

  /// Reads the file at a path; `nil` if there is none, or if it isn't a complete image file. Throws if it can't be read,
  /// such as when there are no file descriptors left: it may be a good file. Blocks.
  static func read(_ path: String) throws -> ImageFile? {
    do {
      return ImageFile(try Data(contentsOf: URL(filePath: path, directoryHint: .notDirectory)))
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
      return nil
    }
  }

  /// Parses a file; `nil` if it isn't an image file or isn't complete. A crash of the machine may leave a partial file.
  init?(_ bytes: Data) {
    let head = bytes.prefix(Self.longestHeader)
    guard let end = head.firstRange(of: Data("\n\n".utf8)),
      let text = String(data: head[..<end.lowerBound], encoding: .utf8)
    else { return nil }
    let lines = text.split(separator: "\n")
    guard lines.first.map(String.init) == Self.magic else { return nil }
    var fields: [Substring: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstRange(of: ": ") else { return nil }
      fields[line[..<colon.lowerBound]] = String(line[colon.upperBound...])
    }
    let body = Data(bytes[end.upperBound...])
    guard let url = fields["url"].flatMap({ URL(string: $0) }), fields["bytes"] == "\(body.count)",
      let timestamp = fields["timestamp"].flatMap(Double.init), timestamp.isFinite,
      let lifetime = fields["lifetime"].flatMap(Double.init), (0...1e12).contains(lifetime),
      let data = try? ImageData(body)
    else { return nil }
    let validators = FeedValidators(etag: fields["etag"], lastModified: fields["last-modified"])
    let image = FetchedImage(
      data, lifetime: .seconds(lifetime), reducedWidth: fields["reduced-width"].flatMap { Int($0) })
    self.init(
      url: url,
      image: Saved(image, timestamp: Date(timeIntervalSinceReferenceDate: timestamp), validators: validators))
  }
}
