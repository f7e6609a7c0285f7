/// The identity of a request within a trace: the content of the `traceparent` field (W3C Trace Context, section 3.2).
public struct TraceParent: Hashable, Sendable, CustomStringConvertible {
  /// The field's value in version 00.
  public let description: String
  /// The trace's flags: bit 0 is set if the sender may have recorded the trace.
  public let flags: UInt8

  /// The trace's ID: 32 hexadecimal digits.
  public var traceID: String { part(3, 32) }
  /// The ID of the span that sent the request: 16 hexadecimal digits.
  public var parentID: String { part(36, 16) }

  /// Parses the field's value; `nil` if it is invalid. In a later version, only the parts that version 00 defines are
  /// read.
  public init?(_ text: String) {
    var text = text
    guard let flags = text.withUTF8(Self.flags(of:)) else { return nil }
    self.flags = flags
    let isFirstVersion = text.utf8.count == 55 && text.hasPrefix("00")
    description = isFirstVersion ? text : "00" + String(decoding: text.utf8.dropFirst(2).prefix(53), as: UTF8.self)
  }

  /// A new trace with random IDs, which is recorded.
  public static func random() -> TraceParent {
    func digits(_ words: Int) -> String {
      (0..<words).map { _ in
        let digits = String(UInt64.random(in: 1 ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
      }
      .joined()
    }
    return TraceParent(description: "00-\(digits(2))-\(digits(1))-01", flags: 1)
  }

  private init(description: String, flags: UInt8) { (self.description, self.flags) = (description, flags) }

  private func part(_ start: Int, _ count: Int) -> String {
    String(decoding: description.utf8.dropFirst(start).prefix(count), as: UTF8.self)
  }

  /// The flags of a field's value; `nil` if the value is invalid.
  private static func flags(of bytes: UnsafeBufferPointer<UInt8>) -> UInt8? {
    let dash = UInt8(ascii: "-")
    guard bytes.count >= 55, bytes[2] == dash, bytes[35] == dash, bytes[52] == dash else { return nil }
    guard bytes[..<2].allSatisfy(isDigit), bytes[3..<35].allSatisfy(isDigit), bytes[36..<52].allSatisfy(isDigit),
      bytes[53..<55].allSatisfy(isDigit)
    else { return nil }
    let version = value(bytes[0]) << 4 | value(bytes[1])
    guard version != 0xff, bytes.count == 55 || version > 0 && bytes[55] == dash else { return nil }
    let zero = UInt8(ascii: "0")
    guard bytes[3..<35].contains(where: { $0 != zero }), bytes[36..<52].contains(where: { $0 != zero }) else {
      return nil
    }
    return value(bytes[53]) << 4 | value(bytes[54])
  }

  /// True for a hexadecimal digit; letters must be lowercase, as the specification requires.
  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) }

  private static func value(_ digit: UInt8) -> UInt8 { digit < 0x61 ? digit - 0x30 : digit - 0x61 + 10 }
}
