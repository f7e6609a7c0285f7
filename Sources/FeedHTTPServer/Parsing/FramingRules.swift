/// The fields that determine where a request ends, and whether the connection stays open.
///
/// A request that two parsers could delimit differently is refused: otherwise, one request could be smuggled inside
/// another (RFC 9112, 11.2).
struct FramingRules {
  var isTrailer = false
  private var length: Int?
  private var hasCoding = false
  private var isChunked = false
  private var hasOtherCoding = false
  private var hosts = 0
  private var host = Place(0, 0)
  private var closes = false
  private var keeps = false

  /// Examines a complete field.
  mutating func take(
    _ field: FieldPlace, _ bytes: UnsafeRawBufferPointer, _ head: RequestHead
  ) throws(ParseFailure) {
    let name = UnsafeRawBufferPointer(rebasing: bytes[field.name.range])
    let value = UnsafeRawBufferPointer(rebasing: bytes[field.value.range])
    switch name.count {
    case 4 where name.matches("host"):
      try refuseInTrailer()
      hosts += 1
      host = field.value
    case 5 where name.matches("range"): head.asksForPart = true
    case 6 where name.matches("expect") && !isTrailer:
      guard value.matches("100-continue") else { throw ParseFailure(.expectationFailed, "an unknown expectation") }
      head.expectsContinue = true
    case 10 where name.matches("connection") && !isTrailer:
      value.forEachMember { member in
        if member.matches("close") { closes = true }
        if member.matches("keep-alive") { keeps = true }
      }
    case 14 where name.matches("content-length"):
      try refuseInTrailer()
      // Rejected even if the values are equal, because no well-behaved client repeats the field.
      guard length == nil else { throw ParseFailure("more than one Content-Length") }
      length = try Self.number(value)
    case 17 where name.matches("transfer-encoding"):
      try refuseInTrailer()
      try takeCodings(value)
    default: break
    }
  }

  private func refuseInTrailer() throws(ParseFailure) {
    if isTrailer { throw ParseFailure("a trailer field that is allowed only in the header") }
  }

  private static func number(_ value: UnsafeRawBufferPointer) throws(ParseFailure) -> Int {
    var number = 0
    guard !value.isEmpty else { throw ParseFailure("an invalid Content-Length") }
    for byte in value {
      guard (0x30...0x39).contains(byte) else { throw ParseFailure("an invalid Content-Length") }
      let (tens, overflow) = number.multipliedReportingOverflow(by: 10)
      let (sum, carry) = tens.addingReportingOverflow(Int(byte - 0x30))
      guard !overflow, !carry else { throw ParseFailure("an invalid Content-Length") }
      number = sum
    }
    return number
  }

  private mutating func takeCodings(_ value: UnsafeRawBufferPointer) throws(ParseFailure) {
    hasCoding = true
    var isWrong = false
    value.forEachMember { coding in
      // "chunked" must occur only once, last, and without parameters: other parsers may read anything else differently.
      if coding.isEmpty || isChunked { isWrong = true }
      if coding.matches("chunked") { isChunked = true } else { hasOtherCoding = true }
    }
    if isWrong { throw ParseFailure("an invalid Transfer-Encoding") }
  }

  /// Checks the combination when all fields have been read.
  func conclude(_ head: RequestHead, _ bytes: UnsafeRawBufferPointer) throws(ParseFailure) {
    let isOld = head.minorVersion == 0
    if hosts != 1 {
      guard hosts == 0, isOld else {
        throw hosts == 0 ? ParseFailure("a missing Host") : ParseFailure("more than one Host")
      }
    } else {
      guard TargetRules.checkAuthority(bytes, host.range) != nil else { throw ParseFailure("an invalid Host") }
      // The target's own host takes precedence (RFC 9112, 3.2.2).
      if head.authority == nil { head.authority = host }
    }
    if hasCoding {
      guard !isOld else { throw ParseFailure("a Transfer-Encoding in HTTP/1.0") }
      guard length == nil else { throw ParseFailure("both Content-Length and Transfer-Encoding") }
      guard isChunked else { throw ParseFailure("a Transfer-Encoding that does not end with chunked") }
      guard !hasOtherCoding else { throw ParseFailure(.notImplemented, "a Transfer-Encoding other than chunked") }
      head.framing = .chunked
    } else if let length, length > 0 {
      head.framing = .length(length)
    }
    head.keepsAlive = !closes && (!isOld || keeps)
    // HTTP/1.0 has no 100 response, and a request without a body needs none.
    if isOld || head.framing == .none { head.expectsContinue = false }
  }
}
