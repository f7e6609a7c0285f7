import Foundation

/// The header fields of a response, in the order in which they arrived.
///
/// Fields are parsed on access, because most are never used.
public struct HTTPHeaders: Sendable {
  // Lines of "name:value", each ending with a line feed; no line is folded.
  package let lines: [UInt8]

  /// - Parameter lines: the lines as received; a line that isn't a header field is ignored.
  package init(lines: [UInt8]) { self.lines = lines }

  /// The value of the first field named `name`, regardless of case.
  public subscript(name: String) -> String? {
    var found: String?
    forEachValue(of: name) { value in
      found = Self.text(value)
      return false
    }
    return found
  }

  /// The values of all fields named `name`, regardless of case, in the order in which they arrived.
  public func values(of name: String) -> [String] {
    var values: [String] = []
    forEachValue(of: name) { value in
      values.append(Self.text(value))
      return true
    }
    return values
  }

  /// The fields for which `isKept` is true, byte for byte.
  package func keeping(_ isKept: (_ name: String) -> Bool) -> HTTPHeaders {
    var fields = makeIterator()
    var kept: [UInt8] = []
    kept.reserveCapacity(lines.count)
    while let (name, line) = fields.nextLine() {
      if isKept(name) { kept += line }
    }
    return HTTPHeaders(lines: kept)
  }

  /// The fields as they are sent: the bytes that arrived, `name: value`, each line ending with CR and LF.
  package var wireFormat: [UInt8] {
    var fields = makeIterator()
    var bytes: [UInt8] = []
    bytes.reserveCapacity(lines.count + 64)
    while let (name, value) = fields.nextBytes() { bytes += name + [0x3A, 0x20] + value + [0x0D, 0x0A] }
    return bytes
  }

  /// These fields, followed by one more.
  package func adding(_ name: String, _ value: String) -> HTTPHeaders {
    HTTPHeaders(lines: lines + Array("\(name): \(value)\r\n".utf8))
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
      nextField().map { (text($0), text($1)) }
    }

    /// The next field's name, and its line with the line feed.
    fileprivate mutating func nextLine() -> (name: String, line: ArraySlice<UInt8>)? {
      let start = rest
      guard let (name, _) = nextField() else { return nil }
      return (text(name), start[name.startIndex..<rest.startIndex])
    }

    private mutating func nextField() -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)? {
      while !rest.isEmpty {
        let start = rest.startIndex
        let (end, colon) = rest.withUnsafeBufferPointer { Self.ends(of: $0) }
        let line = rest[start..<(start + end)]
        rest = rest[(start + end)...].dropFirst()
        guard let colon, colon > 0 else { continue }
        return (line[..<(start + colon)], line[(start + colon + 1)...])
      }
      return nil
    }

    /// The positions of the first line's end and of its first colon.
    private static func ends(of bytes: UnsafeBufferPointer<UInt8>) -> (line: Int, colon: Int?) {
      let start = UnsafeRawPointer(bytes.baseAddress!)
      let line = memchr(start, 0x0A, bytes.count).map { UnsafeRawPointer($0) - start } ?? bytes.count
      return (line, memchr(start, 0x3A, line).map { UnsafeRawPointer($0) - start })
    }

    /// The next field, without the whitespace around name and value.
    fileprivate mutating func nextBytes() -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)? {
      nextField().map { (trimmed($0), trimmed($1)) }
    }

    /// The text without surrounding whitespace; invalid UTF-8 is repaired.
    private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: trimmed(bytes), as: UTF8.self) }

    private func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
      func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
      let text = bytes.drop(while: isSpace)
      guard let last = text.lastIndex(where: { !isSpace($0) }) else { return text.prefix(0) }
      return text[...last]
    }
  }

  public func makeIterator() -> Iterator { Iterator(rest: lines[...]) }
}

extension HTTPHeaders {
  /// Calls `body` with the value of each field named `name`, until it returns false.
  ///
  /// Reads the bytes in place: even for an unchanged response, a dozen fields are looked up, most of which the response
  /// doesn't have.
  private func forEachValue(of name: String, _ body: (UnsafeRawBufferPointer) -> Bool) {
    var name = name
    name.withUTF8 { name in
      lines.withUnsafeBytes { lines in
        guard let start = lines.baseAddress, let first = name.first else { return }
        var place = 0
        while place < lines.count {
          let end = memchr(start + place, 0x0A, lines.count - place).map { UnsafeRawPointer($0) - start } ?? lines.count
          let colon = place + name.count
          if colon < end, lines[colon] == 0x3A, (lines[place] ^ first) & 0xDF == 0,
            strncasecmp(start + place, name.baseAddress!, name.count) == 0,
            !body(UnsafeRawBufferPointer(rebasing: lines[(colon + 1)..<end]))
          {
            return
          }
          place = end + 1
        }
      }
    }
  }

  /// The text without surrounding whitespace; invalid UTF-8 is repaired.
  private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
    var (start, end) = (0, bytes.count)
    while start < end, isSpace(bytes[start]) { start += 1 }
    while start < end, isSpace(bytes[end - 1]) { end -= 1 }
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }
}

extension HTTPHeaders: Equatable {
  public static func == (lhs: HTTPHeaders, rhs: HTTPHeaders) -> Bool { lhs.elementsEqual(rhs) { $0 == $1 } }
}

extension HTTPHeaders: CustomStringConvertible {
  public var description: String { map { "\($0.name): \($0.value)" }.joined(separator: "\n") }
}
