public import FeedStream

/// A command with its arguments, as it is sent.
///
///     RedisCommand("SET", "greeting", "hello", "EX", 60)
public struct RedisCommand: Hashable, Sendable {
  /// The bytes that are sent: an array of strings, in either version of the protocol.
  public private(set) var encoded: [UInt8]
  let effect: Effect

  /// The effect of a command on those that follow it on the connection.
  enum Effect: Hashable, Sendable {
    case none
    /// Changes how replies follow commands, the login or the database. This client doesn't send it.
    case refused
    case beginsTransaction
    case endsTransaction
  }

  /// - Parameter name: the first word, such as `GET`.
  public init(_ name: String, _ arguments: RedisArgument...) { self.init(name, arguments) }

  /// - Parameter name: the first word, such as `GET`.
  public init(_ name: String, _ arguments: [RedisArgument]) {
    effect = Self.effect(of: name, arguments)
    // A header takes at most a letter, twenty digits and a line ending; another line ending follows each string.
    let most = arguments.reduce(2 * 25 + name.utf8.count) { $0 + $1.mostBytes + 25 }
    encoded = [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
      var writer = Writer(place: buffer.baseAddress!)
      writer.header(UInt8(ascii: "*"), arguments.count + 1)
      writer.string(name)
      for argument in arguments {
        switch argument.kind {
        case .text(let text): writer.string(text)
        case .bytes(let bytes): bytes.withUnsafeBytes { writer.string($0) }
        case .integer(let number): writer.number(number)
        }
      }
      count = writer.place - buffer.baseAddress!
    }
  }

  /// The first word, such as `GET`.
  public var name: String { word(0) }

  /// The name of a command that isn't sent, with its second word if that is the reason.
  var refusedName: String { ["client", "script"].contains(name.lowercased()) ? "\(name) \(word(1))" : name }

  private func word(_ index: Int) -> String {
    // "*<count>\r\n$<length>\r\n<name>\r\n…"; a name has no line ending.
    let place = 2 * index + 2
    let parts = encoded.split(separator: 0x0A, maxSplits: place + 1, omittingEmptySubsequences: false)
    return parts.count > place ? String(decoding: parts[place].dropLast(), as: UTF8.self) : ""
  }

  private static func effect(of name: String, _ arguments: [RedisArgument]) -> Effect {
    // The last letter and the length rule out most commands.
    switch (name.utf8.last.map { $0 | 0x20 } ?? 0, name.utf8.count) {
    case (UInt8(ascii: "e"), 9...): return name.lowercased().hasSuffix("subscribe") ? .refused : .none
    case (UInt8(ascii: "t"), 6): return refuses(name.lowercased(), arguments) ? .refused : .none
    case (UInt8(ascii: "c"), 4...5), (UInt8(ascii: "d"), 7), (UInt8(ascii: "f"), 8), (UInt8(ascii: "h"), 4),
      (UInt8(ascii: "i"), 5), (UInt8(ascii: "o"), 5), (UInt8(ascii: "r"), 7), (UInt8(ascii: "t"), 5):
      switch name.lowercased() {
      case "auth", "hello", "monitor", "psync", "replconf", "reset", "sync": return .refused
      case "multi": return .beginsTransaction
      case "discard", "exec": return .endsTransaction
      default: return .none
      }
    default: return .none
    }
  }

  private static func refuses(_ name: String, _ arguments: [RedisArgument]) -> Bool {
    if name == "select" { return true }
    guard let changing = ["client": "reply", "script": "debug"][name] else { return false }
    switch arguments.first?.kind {
    case .text(let word)?: return word.lowercased() == changing
    case .bytes(let word)?: return word.count == 5 && word.text.lowercased() == changing
    default: return false
    }
  }

  /// Writes the bytes to memory that is large enough.
  private struct Writer {
    var place: UnsafeMutablePointer<UInt8>

    mutating func header(_ kind: UInt8, _ count: Int) {
      put(kind)
      digits(UInt(count))
      end()
    }

    mutating func string(_ text: String) {
      let isWritten: Void? = text.utf8.withContiguousStorageIfAvailable { string(UnsafeRawBufferPointer($0)) }
      if isWritten == nil { Array(text.utf8).withUnsafeBytes { string($0) } }
    }

    mutating func string(_ bytes: UnsafeRawBufferPointer) {
      header(UInt8(ascii: "$"), bytes.count)
      if let source = bytes.baseAddress {
        UnsafeMutableRawPointer(place).copyMemory(from: source, byteCount: bytes.count)
        place += bytes.count
      }
      end()
    }

    mutating func number(_ number: Int) {
      let size = number.magnitude
      header(UInt8(ascii: "$"), Self.digitCount(size) + (number < 0 ? 1 : 0))
      if number < 0 { put(UInt8(ascii: "-")) }
      digits(size)
      end()
    }

    private static func digitCount(_ number: UInt) -> Int {
      var (rest, count) = (number, 1)
      while rest > 9 { (rest, count) = (rest / 10, count + 1) }
      return count
    }

    private mutating func digits(_ number: UInt) {
      let count = Self.digitCount(number)
      var rest = number
      for index in (0..<count).reversed() {
        place[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
      place += count
    }

    private mutating func put(_ byte: UInt8) {
      place.pointee = byte
      place += 1
    }

    private mutating func end() {
      put(0x0D)
      put(0x0A)
    }
  }
}

/// An argument of a ``RedisCommand``: text, bytes or a number.
public struct RedisArgument: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case text(String)
    case bytes(Chunk)
    case integer(Int)
  }

  let kind: Kind

  /// `text` in UTF-8.
  public init(_ text: String) { kind = .text(text) }
  public init(_ bytes: Chunk) { kind = .bytes(bytes) }
  /// The decimal digits of `number`.
  public init(_ number: Int) { kind = .integer(number) }

  /// An upper bound on the argument's length in bytes.
  var mostBytes: Int {
    switch kind {
    case .text(let text): text.utf8.count
    case .bytes(let bytes): bytes.count
    case .integer: 20
    }
  }
}

extension RedisArgument: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  public init(stringLiteral text: String) { self.init(text) }
  public init(integerLiteral number: Int) { self.init(number) }
}
