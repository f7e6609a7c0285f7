internal import FeedStream

extension HTTPServer {
  /// Header fields, in order; names are case-insensitive.
  ///
  /// The fields of a request are parsed only when they are read.
  public struct Headers: Sendable {
    private struct Received: Sendable {
      let bytes: Chunk
      let fields: ContiguousArray<FieldPlace>
    }

    private var received: Received?
    private var own: [(name: String, value: String)] = []

    public init() {}

    init(_ head: RequestHead) { received = Received(bytes: head.bytes, fields: head.fields) }

    public var isEmpty: Bool { received?.fields.isEmpty ?? own.isEmpty }
    public var count: Int { received?.fields.count ?? own.count }

    /// The value of the first field named `name`. Setting it replaces all fields with this name; `nil` removes them.
    public subscript(name: String) -> String? {
      get {
        guard let received else { return own.first { Self.isSame($0.name, name) }?.value }
        return received.bytes.withUnsafeBytes { bytes in
          received.fields.first { Self.isSame(bytes, $0.name, name) }.map { Self.text(bytes, $0.value) }
        }
      }
      set {
        makeOwn()
        // Usually there is no such field, and nothing is moved.
        if own.contains(where: { Self.isSame($0.name, name) }) { own.removeAll { Self.isSame($0.name, name) } }
        if let newValue { own.append((name, newValue)) }
      }
    }

    /// The values of all fields named `name`.
    public func values(_ name: String) -> [String] { compactMap { Self.isSame($0.name, name) ? $0.value : nil } }

    /// The fields for plain text and for a page, created once.
    static let plainText: Headers = ["Content-Type": "text/plain; charset=utf-8"]
    static let page: Headers = ["Content-Type": "text/html; charset=utf-8"]

    /// True if there may be a field that affects the body or the connection.
    var decideAboutBody: Bool {
      guard received == nil else { return true }
      for field in own {
        switch field.name.utf8.count {
        case 4 where Self.isSame(field.name, "etag"), 10 where Self.isSame(field.name, "connection"),
          13 where Self.isSame(field.name, "last-modified"):
          return true
        default: continue
        }
      }
      return false
    }

    /// Calls `body` with each field, until it returns false.
    ///
    /// - Returns: true if `body` never returned false.
    func allFields(_ body: (_ name: String, _ value: String) -> Bool) -> Bool {
      guard received == nil else { return allSatisfy { body($0.name, $0.value) } }
      return own.withUnsafeBufferPointer { own in
        for index in own.indices where !body(own[index].name, own[index].value) { return false }
        return true
      }
    }

    /// Adds a field, keeping any others with the same name.
    public mutating func add(_ name: String, _ value: String) {
      makeOwn()
      own.append((name, value))
    }

    private mutating func makeOwn() {
      guard received != nil else { return }
      own = Array(self)
      received = nil
    }

    static func isSame(_ a: String, _ b: String) -> Bool {
      guard a.utf8.count == b.utf8.count else { return false }
      var others = b.utf8.makeIterator()
      for byte in a.utf8 {
        guard let other = others.next(), ByteClass.lowercased(byte) == ByteClass.lowercased(other) else { return false }
      }
      return true
    }

    private static func isSame(_ bytes: UnsafeRawBufferPointer, _ place: Place, _ name: String) -> Bool {
      place.count == name.utf8.count
        && zip(bytes[place.range], name.utf8).allSatisfy { ByteClass.lowercased($0) == ByteClass.lowercased($1) }
    }

    private static func text(_ bytes: UnsafeRawBufferPointer, _ place: Place) -> String {
      String(decoding: bytes[place.range], as: UTF8.self)
    }
  }
}

extension HTTPServer.Headers: Sequence {
  /// Reads one field after another.
  public struct Iterator: IteratorProtocol {
    fileprivate let headers: HTTPServer.Headers
    fileprivate var index = 0

    public mutating func next() -> (name: String, value: String)? {
      guard index < headers.count else { return nil }
      defer { index += 1 }
      return headers.field(index)
    }
  }

  public func makeIterator() -> Iterator { Iterator(headers: self) }
  public var underestimatedCount: Int { count }

  private func field(_ index: Int) -> (name: String, value: String) {
    guard let received else { return own[index] }
    let field = received.fields[index]
    return received.bytes.withUnsafeBytes { (Self.text($0, field.name), Self.text($0, field.value)) }
  }
}

extension HTTPServer.Headers: ExpressibleByDictionaryLiteral, CustomStringConvertible, Equatable {
  public init(dictionaryLiteral fields: (String, String)...) {
    for (name, value) in fields { add(name, value) }
  }

  public var description: String { map { "\($0.name): \($0.value)" }.joined(separator: "\n") }

  public static func == (a: Self, b: Self) -> Bool { a.elementsEqual(b) { $0 == $1 } }
}
