import CSimdJSON

/// A JSON document as simdjson parsed it: a tape of words, one or two for each value (simdjson's `doc/tape.md`), and
/// the strings they point to. It is valid while `JSONTape.parse` runs.
struct JSONTape {
  private let parser: OpaquePointer
  fileprivate let tape: UnsafePointer<UInt64>
  fileprivate let strings: UnsafePointer<UInt8>

  /// The maximum nesting depth for simdjson; `JSONDecoder` reads deeper documents.
  private static let depth = 500

  /// The number of bytes past the end of a document that simdjson reads.
  static let padding = Int(CSIMDJSON_PADDING)

  /// Calls `body` with the tape of `bytes`, which are UTF-8; `nil` when they are not JSON.
  static func parse<Result, Failure: Error>(
    _ bytes: [UInt8], _ body: (JSONTape) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    // simdjson reads bytes past the end of the document, without effect. An array with room for them isn't copied.
    var padded = bytes
    if bytes.capacity - bytes.count < padding {
      padded.reserveCapacity(bytes.count + padding)
    }
    guard let parser = csimdjson_parser_create(max(64, bytes.count), depth) else { return nil }
    defer { csimdjson_parser_destroy(parser) }
    var document = csimdjson_document()
    let isParsed = padded.withUnsafeBufferPointer { padded in
      csimdjson_parse(parser, padded.baseAddress, padded.count, &document)
    }
    guard isParsed else { return nil }
    return try body(JSONTape(parser: parser, tape: document.tape, strings: document.strings))
  }

  /// The memory of the strings, which then outlives the tape. Call this once.
  func takeStrings() -> TextBuffer { TextBuffer(taking: csimdjson_take_strings(parser)) }

  /// The number of words, which is at least the number of values.
  var words: Int { Int(tape[0] & 0xFFFF_FFFF) }

  var root: JSONValue { JSONValue(tape: self, index: 1) }
}

/// A value of the tape.
struct JSONValue {
  fileprivate let tape: JSONTape
  fileprivate let index: Int

  /// The byte that marks a word of the tape. The type isn't an enumeration, because finding a case would require a
  /// search.
  struct Kind: Equatable {
    let byte: UInt8

    @inline(__always) static var object: Kind { Kind(byte: UInt8(ascii: "{")) }
    @inline(__always) static var array: Kind { Kind(byte: UInt8(ascii: "[")) }
    @inline(__always) static var string: Kind { Kind(byte: UInt8(ascii: "\"")) }
    @inline(__always) static var int: Kind { Kind(byte: UInt8(ascii: "l")) }
    @inline(__always) static var uint: Kind { Kind(byte: UInt8(ascii: "u")) }
    @inline(__always) static var double: Kind { Kind(byte: UInt8(ascii: "d")) }
    @inline(__always) static var null: Kind { Kind(byte: UInt8(ascii: "n")) }
    /// The value `false`.
    @inline(__always) static var no: Kind { Kind(byte: UInt8(ascii: "f")) }
  }

  fileprivate var word: UInt64 { tape.tape[index] }

  @inline(__always)
  var kind: Kind { Kind(byte: UInt8(truncatingIfNeeded: word >> 56)) }

  /// The index of the value after this one.
  @inline(__always)
  fileprivate var next: Int {
    switch kind {
    case .object, .array: Int(word & 0xFFFF_FFFF)
    case .int, .uint, .double: index + 2
    default: index + 1
    }
  }

  /// The text of a string.
  @inline(__always)
  var bytes: Bytes? {
    guard kind == .string else { return nil }
    let start = tape.strings + Int(word & 0x00FF_FFFF_FFFF_FFFF)
    let length = UnsafeRawPointer(start).loadUnaligned(as: UInt32.self)
    return Bytes(start: start + 4, count: Int(length))
  }

  var string: String? { bytes?.checkedString }

  var integer: Int? {
    switch kind {
    case .int: Int(Int64(bitPattern: tape.tape[index + 1]))
    case .uint: Int(exactly: tape.tape[index + 1])
    case .double: Int(exactly: Double(bitPattern: tape.tape[index + 1]).rounded())
    default: nil
    }
  }

  /// The text of a string, or a number as text.
  var stringOrNumber: String? {
    switch kind {
    case .string: return string
    case .int: return integer.map(String.init)
    case .uint: return "\(tape.tape[index + 1])"
    case .double: return "\(Double(bitPattern: tape.tape[index + 1]))"
    default: return nil
    }
  }

  /// The number of values in an array, or of pairs in an object; 16,777,215 means that number or more.
  var count: Int { kind == .array || kind == .object ? Int(word >> 32 & 0xFF_FFFF) : 0 }

  /// The values of an array; `nil` for any other kind of value.
  var elements: Elements? {
    kind == .array ? Elements(tape: tape, index: index + 1, end: next - 1) : nil
  }

  /// The keys and values of an object; `nil` for any other kind of value.
  var members: Members? {
    kind == .object ? Members(tape: tape, index: index + 1, end: next - 1) : nil
  }

  /// The value of a key; for a repeated key, the first one, as in `JSONDecoder`.
  subscript(key: StaticString) -> JSONValue? {
    guard var members else { return nil }
    while let (name, value) = members.next() {
      if name.equals(key) { return value }
    }
    return nil
  }

  struct Elements: Sequence, IteratorProtocol {
    fileprivate let tape: JSONTape
    fileprivate var index: Int
    fileprivate let end: Int

    @inline(__always)
    mutating func next() -> JSONValue? {
      guard index < end else { return nil }
      let value = JSONValue(tape: tape, index: index)
      index = value.next
      return value
    }
  }

  struct Members: IteratorProtocol {
    fileprivate let tape: JSONTape
    fileprivate var index: Int
    fileprivate let end: Int

    @inline(__always)
    mutating func next() -> (name: Bytes, value: JSONValue)? {
      guard index < end else { return nil }
      let name = JSONValue(tape: tape, index: index).bytes!
      let value = JSONValue(tape: tape, index: index + 1)
      index = value.next
      return (name, value)
    }
  }
}

extension UnsafeBufferPointer where Element == UInt8 {
  /// A string of bytes that are known to be UTF-8.
  @inline(__always)
  var checkedString: String {
    guard #available(macOS 26, *) else { return String(decoding: self, as: UTF8.self) }
    return String(copying: UTF8Span(unchecked: span))
  }
}
