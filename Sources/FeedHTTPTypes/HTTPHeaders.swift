public import FeedStream
import Foundation

/// The header fields of a message, in order. Names are case-insensitive.
///
/// Received fields are parsed when they are read, because most are never read.
public struct HTTPHeaders: Sendable {
  /// The fields as they were received: lines of "name:value", each of which ends with a line feed; no line is folded.
  @usableFromInline var received: Chunk?
  /// The fields of a message that this program created.
  @usableFromInline var own: [Element] = []

  /// Creates an empty collection of fields.
  public init() {}

  public init(_ fields: some Sequence<Element>) { own = Array(fields) }

  /// - Parameter lines: the lines as received; a line that isn't a header field is ignored.
  package init(lines: Chunk) { received = lines }

  @inlinable public var isEmpty: Bool { received == nil ? own.isEmpty : !contains { _ in true } }
  public var count: Int { received == nil ? own.count : reduce(0) { count, _ in count + 1 } }

  /// The value of the first field named `name`. Setting it replaces all fields with this name; `nil` removes them.
  public subscript(name: String) -> String? {
    get {
      guard let received else { return own.first { HTTPSyntax.isSame($0.name, name) }?.value }
      var found: String?
      Self.forEachValue(of: name, in: received) { value in
        found = Self.text(value)
        return false
      }
      return found
    }
    set {
      makeOwn()
      // Usually there is no such field, and nothing is moved.
      if own.contains(where: { HTTPSyntax.isSame($0.name, name) }) {
        own.removeAll { HTTPSyntax.isSame($0.name, name) }
      }
      if let newValue { own.append((name, newValue)) }
    }
  }

  /// The values of all fields named `name`, in order.
  public func values(of name: String) -> [String] {
    guard let received else { return own.compactMap { HTTPSyntax.isSame($0.name, name) ? $0.value : nil } }
    var values: [String] = []
    Self.forEachValue(of: name, in: received) { value in
      values.append(Self.text(value))
      return true
    }
    return values
  }

  /// Adds a field, and keeps any others with the same name.
  public mutating func add(_ name: String, _ value: String) {
    makeOwn()
    own.append((name, value))
  }

  private mutating func makeOwn() {
    guard received != nil else { return }
    own = Array(self)
    received = nil
  }

  /// Calls `body` with each field, until it returns false.
  ///
  /// - Returns: true if `body` never returned false.
  @inlinable package func allFields(_ body: (_ name: String, _ value: String) -> Bool) -> Bool {
    guard received == nil else { return allSatisfy { body($0.name, $0.value) } }
    return own.withUnsafeBufferPointer { own in
      for index in own.indices where !body(own[index].name, own[index].value) { return false }
      return true
    }
  }

}

// MARK: The fields as bytes

extension HTTPHeaders {
  /// The fields as they were received, or as they would be sent.
  package var lines: Chunk { received ?? Chunk(wireFormat) }

  /// The fields for which `isKept` is true, byte for byte.
  package func keeping(_ isKept: (_ name: String) -> Bool) -> HTTPHeaders {
    guard received != nil else { return HTTPHeaders(own.filter { isKept($0.name) }) }
    var fields = makeIterator()
    var kept: [UInt8] = []
    kept.reserveCapacity(fields.lines.count)
    while let (name, line) = fields.nextLine() {
      if isKept(name) { kept += line }
    }
    return HTTPHeaders(lines: Chunk(kept))
  }

  /// These fields, byte for byte, followed by one more.
  package func adding(_ name: String, _ value: String) -> HTTPHeaders {
    HTTPHeaders(lines: Chunk(joining: [lines, Chunk("\(name): \(value)\r\n")]))
  }

  /// The fields as they are sent: `name: value`, each line ending with CR and LF.
  package var wireFormat: [UInt8] {
    guard received != nil else { return own.flatMap { Array("\($0.name): \($0.value)\r\n".utf8) } }
    var fields = makeIterator()
    var bytes: [UInt8] = []
    bytes.reserveCapacity(fields.lines.count + 64)
    while let (name, value) = fields.nextBytes() { bytes += name + [0x3A, 0x20] + value + [0x0D, 0x0A] }
    return bytes
  }

  /// Calls `body` with the value of each field named `name`, until it returns false.
  ///
  /// Reads the bytes in place: even for an unchanged response, a dozen fields are looked up, most of which the response
  /// doesn't have.
  private static func forEachValue(of name: String, in lines: Chunk, _ body: (UnsafeRawBufferPointer) -> Bool) {
    var name = name
    name.withUTF8 { name in
      lines.withUnsafeBytes { lines in
        guard let start = lines.baseAddress, let first = name.first else { return }
        var place = 0
        while place < lines.count {
          let end = memchr(start + place, 0x0A, lines.count - place).map { UnsafeRawPointer($0) - start } ?? lines.count
          let nameEnd = place + name.count
          // Some servers put whitespace between the name and the colon.
          if nameEnd < end, lines[nameEnd] == 0x3A || lines[nameEnd] <= 0x20, (lines[place] ^ first) & 0xDF == 0,
            strncasecmp(start + place, name.baseAddress!, name.count) == 0,
            let colon = lines[nameEnd..<end].firstIndex(where: { $0 != 0x20 && $0 != 0x09 }), lines[colon] == 0x3A,
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
    String(decoding: bytes[trimmed(bytes)], as: UTF8.self)
  }

  /// The range of the bytes without surrounding whitespace.
  private static func trimmed(_ bytes: UnsafeRawBufferPointer) -> Range<Int> {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
    var (start, end) = (0, bytes.count)
    while start < end, isSpace(bytes[start]) { start += 1 }
    while start < end, isSpace(bytes[end - 1]) { end -= 1 }
    return start..<end
  }
}

extension HTTPHeaders: Sequence {
  public typealias Element = (name: String, value: String)

  /// Reads one field after another.
  public struct Iterator: IteratorProtocol {
    fileprivate let lines: Chunk
    /// The place in `lines` at which the next line begins.
    fileprivate var place = 0
    fileprivate var own: ArraySlice<Element>

    public mutating func next() -> Element? {
      own.popFirst() ?? nextField().map { (text($0.name), text($0.value)) }
    }

    /// The next received field's name, and its line with the line feed.
    fileprivate mutating func nextLine() -> (name: String, line: Chunk)? {
      nextField().map { (text($0.name), lines[$0.start..<place]) }
    }

    /// The next received field, without the whitespace around name and value.
    fileprivate mutating func nextBytes() -> (name: Chunk, value: Chunk)? {
      nextField().map { (trimmed($0.name), trimmed($0.value)) }
    }

    /// The next received field, and the place at which its line begins.
    private mutating func nextField() -> (start: Int, name: Chunk, value: Chunk)? {
      while place < lines.count {
        let start = place
        let (end, colon) = lines.withUnsafeBytes { Self.ends(of: UnsafeRawBufferPointer(rebasing: $0[start...])) }
        place = Swift.min(start + end + 1, lines.count)
        guard let colon, colon > 0 else { continue }
        return (start, lines[start..<(start + colon)], lines[(start + colon + 1)..<(start + end)])
      }
      return nil
    }

    /// The positions of the first line's end and of its first colon.
    private static func ends(of bytes: UnsafeRawBufferPointer) -> (line: Int, colon: Int?) {
      let start = bytes.baseAddress!
      let line = memchr(start, 0x0A, bytes.count).map { UnsafeRawPointer($0) - start } ?? bytes.count
      return (line, memchr(start, 0x3A, line).map { UnsafeRawPointer($0) - start })
    }

    private func text(_ bytes: Chunk) -> String { bytes.withUnsafeBytes(HTTPHeaders.text) }
    private func trimmed(_ bytes: Chunk) -> Chunk { bytes[bytes.withUnsafeBytes(HTTPHeaders.trimmed)] }
  }

  public func makeIterator() -> Iterator { Iterator(lines: received ?? Chunk(), own: own[...]) }
}

extension HTTPHeaders: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
  public init(arrayLiteral fields: Element...) { own = fields }
  public init(dictionaryLiteral fields: (String, String)...) { own = fields.map { ($0, $1) } }
}

extension HTTPHeaders: Equatable, CustomStringConvertible {
  public static func == (a: HTTPHeaders, b: HTTPHeaders) -> Bool { a.elementsEqual(b) { $0 == $1 } }

  public var description: String { map { "\($0.name): \($0.value)" }.joined(separator: "\n") }
}
