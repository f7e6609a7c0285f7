/// The header fields of an answer, in the order they arrived.
///
/// They are stored unread and read when asked for: most answers' fields are never used.
public struct HTTPHeaders: Sendable {
  // Lines of "name:value", each ending with a line feed; no line is folded.
  private let lines: [UInt8]

  /// - Parameter lines: the lines as received; a line that is no header field is ignored.
  init(lines: [UInt8]) { self.lines = lines }

  /// The value of the first field named `name`, in upper or lower case.
  public subscript(name: String) -> String? {
    let name = name.lowercased()
    return first { $0.name.lowercased() == name }?.value
  }
}

extension HTTPHeaders: ExpressibleByArrayLiteral {
  public init(_ fields: [(name: String, value: String)]) {
    lines = fields.flatMap { Array("\($0.name):\($0.value)\n".utf8) }
  }

  public init(arrayLiteral elements: (name: String, value: String)...) { self.init(elements) }
}

extension HTTPHeaders: Sequence {
  /// Reads one field after another.
  public struct Iterator: IteratorProtocol {
    fileprivate var rest: ArraySlice<UInt8>

    public mutating func next() -> (name: String, value: String)? {
      while !rest.isEmpty {
        let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
        let line = rest[..<end]
        rest = rest[end...].dropFirst()
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else { continue }
        return (text(line[..<colon]), text(line[(colon + 1)...]))
      }
      return nil
    }

    /// Without the white space around it; invalid UTF-8 is repaired.
    private func text(_ bytes: ArraySlice<UInt8>) -> String {
      func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
      let text = bytes.drop(while: isSpace)
      guard let last = text.lastIndex(where: { !isSpace($0) }) else { return "" }
      return String(decoding: text[...last], as: UTF8.self)
    }
  }

  public func makeIterator() -> Iterator { Iterator(rest: lines[...]) }
}

extension HTTPHeaders: Equatable {
  public static func == (lhs: HTTPHeaders, rhs: HTTPHeaders) -> Bool { lhs.elementsEqual(rhs) { $0 == $1 } }
}

extension HTTPHeaders: CustomStringConvertible {
  public var description: String { map { "\($0.name): \($0.value)" }.joined(separator: "\n") }
}
