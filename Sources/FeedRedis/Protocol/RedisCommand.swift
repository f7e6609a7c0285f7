public import FeedStream

/// A command with its arguments, as it is sent.
///
///     RedisCommand("SET", "greeting", "hello", "EX", 60)
public struct RedisCommand: Hashable, Sendable {
  /// The bytes that are sent: an array of strings, in either version of the protocol.
  public private(set) var encoded: [UInt8]

  /// - Parameter name: the first word, such as `GET`.
  public init(_ name: String, _ arguments: RedisArgument...) { self.init(name, arguments) }

  /// - Parameter name: the first word, such as `GET`.
  public init(_ name: String, _ arguments: [RedisArgument]) {
    encoded = []
    encoded.reserveCapacity(arguments.reduce(32 + name.utf8.count) { $0 + $1.underestimatedBytes + 16 })
    header(UInt8(ascii: "*"), arguments.count + 1)
    append(utf8: name)
    for argument in arguments {
      switch argument.kind {
      case .text(let text): append(utf8: text)
      case .bytes(let bytes):
        header(UInt8(ascii: "$"), bytes.count)
        bytes.withUnsafeBytes { encoded.append(contentsOf: $0) }
        end()
      case .integer(let number): append(utf8: String(number))
      }
    }
  }

  private mutating func append(utf8 text: String) {
    header(UInt8(ascii: "$"), text.utf8.count)
    encoded.append(contentsOf: text.utf8)
    end()
  }

  private mutating func header(_ kind: UInt8, _ count: Int) {
    encoded.append(kind)
    if count < 10 {
      encoded.append(UInt8(ascii: "0") + UInt8(count))
    } else {
      encoded.append(contentsOf: String(count).utf8)
    }
    end()
  }

  private mutating func end() {
    encoded.append(0x0D)
    encoded.append(0x0A)
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

  /// The UTF-8 of `text`.
  public init(_ text: String) { kind = .text(text) }
  public init(_ bytes: Chunk) { kind = .bytes(bytes) }
  /// The decimal digits of `number`.
  public init(_ number: Int) { kind = .integer(number) }

  var underestimatedBytes: Int {
    switch kind {
    case .text(let text): text.utf8.count
    case .bytes(let bytes): bytes.count
    case .integer: 4
    }
  }
}

extension RedisArgument: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  public init(stringLiteral text: String) { self.init(text) }
  public init(integerLiteral number: Int) { self.init(number) }
}
