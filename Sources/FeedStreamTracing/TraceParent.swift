/// The identity of a request within a trace: the content of the field `traceparent` (W3C Trace Context, section 3.2).
public struct TraceParent: Hashable, Sendable, CustomStringConvertible {
  /// The trace's ID: 32 hexadecimal digits.
  public let traceID: String
  /// The ID of the span that sent the request: 16 hexadecimal digits.
  public let parentID: String
  /// Bit 0 is set if the sender may have recorded the trace.
  public let flags: UInt8

  /// Parses the field's value; `nil` if it is invalid. In a later version, only the parts that version 00 defines are
  /// read.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    let dash = UInt8(ascii: "-")
    guard bytes.count >= 55, bytes[2] == dash, bytes[35] == dash, bytes[52] == dash else { return nil }
    let version = bytes[..<2]
    guard Self.isHexadecimal(version), !version.elementsEqual("ff".utf8) else { return nil }
    guard bytes.count == 55 || !version.elementsEqual("00".utf8) && bytes[55] == dash else { return nil }
    let (trace, parent) = (bytes[3..<35], bytes[36..<52])
    for part in [trace, parent] where !Self.isHexadecimal(part) || part.allSatisfy({ $0 == UInt8(ascii: "0") }) {
      return nil
    }
    guard Self.isHexadecimal(bytes[53..<55]),
      let flags = UInt8(String(decoding: bytes[53..<55], as: UTF8.self), radix: 16)
    else { return nil }
    traceID = String(decoding: trace, as: UTF8.self)
    parentID = String(decoding: parent, as: UTF8.self)
    self.flags = flags
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
    return TraceParent(traceID: digits(2), parentID: digits(1), flags: 1)
  }

  private init(traceID: String, parentID: String, flags: UInt8) {
    (self.traceID, self.parentID, self.flags) = (traceID, parentID, flags)
  }

  /// The field's value in version 00.
  public var description: String {
    "00-\(traceID)-\(parentID)-\(flags < 16 ? "0" : "")\(String(flags, radix: 16))"
  }

  /// True for hexadecimal digits whose letters are lowercase, as the specification requires.
  private static func isHexadecimal(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }
}
