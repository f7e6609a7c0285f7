import FeedStream

extension RedisValue {
  /// Reads a value that is one line, from its first byte and the bytes after it up to the line ending.
  init(line kind: UInt8, _ body: UnsafeRawBufferPointer) throws(RESPError) {
    switch kind {
    case UInt8(ascii: "+"):
      // Nearly every status is `OK`, which needs no decoding.
      let isOK = body.count == 2 && body[0] == UInt8(ascii: "O") && body[1] == UInt8(ascii: "K")
      self = .status(isOK ? "OK" : String(decoding: body, as: UTF8.self))
    case UInt8(ascii: "-"): self = .error(RedisRefusal(String(decoding: body, as: UTF8.self)))
    case UInt8(ascii: ":"): self = .integer(try Int64(line: body))
    case UInt8(ascii: "_"):
      guard body.isEmpty else { throw .malformed }
      self = .null
    case UInt8(ascii: "#"):
      guard body.count == 1, body[0] == UInt8(ascii: "t") || body[0] == UInt8(ascii: "f") else { throw .malformed }
      self = .boolean(body[0] == UInt8(ascii: "t"))
    case UInt8(ascii: ","):
      guard let number = Double(String(decoding: body, as: UTF8.self)) else { throw .malformed }
      self = .double(number)
    case UInt8(ascii: "("):
      let digits = body.first == UInt8(ascii: "-") ? body.dropFirst() : body[...]
      guard !digits.isEmpty, digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { throw .malformed }
      self = .bigNumber(String(decoding: body, as: UTF8.self))
    default: throw .malformed
    }
  }
}

extension Int64 {
  /// Parses decimal digits, with or without a sign.
  init(line digits: UnsafeRawBufferPointer) throws(RESPError) {
    let isNegative = digits.first == UInt8(ascii: "-")
    var place = isNegative || digits.first == UInt8(ascii: "+") ? 1 : 0
    guard digits.count > place, digits.count - place <= 19 else { throw .malformed }
    var number: Int64 = 0
    while place < digits.count {
      let digit = digits[place]
      guard 0x30...0x39 ~= digit else { throw .malformed }
      let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      // Accumulates a negative number, because `Int64.min` has no positive counterpart.
      let (next, overflows) = tens.subtractingReportingOverflow(Int64(digit &- 0x30))
      guard !isTooLarge, !overflows else { throw .malformed }
      number = next
      place += 1
    }
    guard isNegative || number != .min else { throw .malformed }
    self = isNegative ? number : -number
  }
}
