/// The rules for the target of a request: the four forms of RFC 9112, 3.2.
enum TargetRules {
  /// Determines the form of the target, and the ranges of its parts.
  static func check(_ head: RequestHead, _ bytes: UnsafeRawBufferPointer) throws(ParseFailure) {
    let (start, end) = (Int(head.target.start), Int(head.target.end))
    if head.method == .connect {
      head.form = .authority
      head.authority = head.target
      head.path = Place(end, end)
      guard let port = checkAuthority(bytes, start..<end), port > 0 else {
        throw ParseFailure("CONNECT needs a host and a port")
      }
      return
    }
    if bytes[start] == UInt8(ascii: "/") {
      head.form = .origin
      return try split(head, bytes, from: start)
    }
    if bytes[start] == UInt8(ascii: "*"), end == start + 1 {
      guard head.method == .options else { throw ParseFailure("the target * is only for OPTIONS") }
      head.form = .asterisk
      head.path = Place(end, end)
      return
    }
    head.form = .absolute
    let rest = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    let scheme =
      if rest.count > 7, UnsafeRawBufferPointer(rebasing: rest[..<7]).matches("http://") {
        7
      } else if rest.count > 8,
        UnsafeRawBufferPointer(rebasing: rest[..<8]).matches("https://")
      { 8 } else { 0 }
    guard scheme > 0 else { throw ParseFailure("an invalid target") }
    var at = start + scheme
    while at < end, bytes[at] != UInt8(ascii: "/"), bytes[at] != UInt8(ascii: "?") { at += 1 }
    head.authority = Place(start + scheme, at)
    guard checkAuthority(bytes, start + scheme..<at) != nil else { throw ParseFailure("an invalid host") }
    try split(head, bytes, from: at)
  }

  /// Checks path and query, which begin at `start`.
  private static func split(
    _ head: RequestHead, _ bytes: UnsafeRawBufferPointer, from start: Int
  ) throws(ParseFailure) {
    let end = Int(head.target.end)
    let classes = ByteClass.table
    var at = start
    var kind = ByteClass.path
    while at < end {
      let byte = bytes[at]
      if byte == UInt8(ascii: "?"), kind == ByteClass.path {
        head.path = Place(start, at)
        head.query = Place(at + 1, end)
        kind = ByteClass.query
      } else if byte == UInt8(ascii: "%") {
        guard at + 2 < end, classes[Int(bytes[at + 1])] & ByteClass.hexDigit != 0,
          classes[Int(bytes[at + 2])] & ByteClass.hexDigit != 0
        else { throw ParseFailure("a percent sign in the target that isn't followed by two hexadecimal digits") }
        at += 2
      } else if classes[Int(byte)] & kind == 0 {
        throw ParseFailure("a character that must be escaped in the target")
      }
      at += 1
    }
    if head.query == nil { head.path = Place(start, end) }
  }

  /// Checks a host with an optional port (RFC 3986, 3.2.2), but without a user name.
  ///
  /// - Returns: the port, or 0 if there is none; `nil` if the text isn't a host.
  static func checkAuthority(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int? {
    let classes = ByteClass.table
    let end = range.upperBound
    var at = range.lowerBound
    guard at < end else { return nil }
    if bytes[at] == UInt8(ascii: "[") {
      at += 1
      let first = at
      var colons = 0
      while at < end,
        classes[Int(bytes[at])] & ByteClass.hexDigit != 0 || bytes[at] == UInt8(ascii: ":")
          || bytes[at] == UInt8(ascii: ".")
      {
        if bytes[at] == UInt8(ascii: ":") { colons += 1 }
        at += 1
      }
      guard at < end, bytes[at] == UInt8(ascii: "]"), colons >= 2, at - first <= 45 else { return nil }
      at += 1
    } else {
      let first = at
      while at < end, classes[Int(bytes[at])] & ByteClass.host != 0 {
        if bytes[at] == UInt8(ascii: "%") {
          guard at + 2 < end, classes[Int(bytes[at + 1])] & ByteClass.hexDigit != 0,
            classes[Int(bytes[at + 2])] & ByteClass.hexDigit != 0
          else { return nil }
        }
        at += 1
      }
      guard at > first, at - first <= 255 else { return nil }
    }
    guard at < end else { return 0 }
    guard bytes[at] == UInt8(ascii: ":") else { return nil }
    at += 1
    var port = 0
    while at < end {
      guard classes[Int(bytes[at])] & ByteClass.digit != 0 else { return nil }
      port = port * 10 + Int(bytes[at] - 0x30)
      guard port <= 65_535 else { return nil }
      at += 1
    }
    return port
  }
}
