public import FeedStream

/// A Redis server's reply: the types of its protocol, versions 2 and 3.
public enum RedisValue: Hashable, Sendable {
  /// Nothing: a missing key or field.
  case null
  /// A word of the protocol, such as `OK`.
  case status(String)
  /// Bytes, which the server does not interpret. They may be part of a larger block of memory: see `Chunk.compacted()`.
  case string(Chunk)
  case integer(Int64)
  case double(Double)
  case boolean(Bool)
  /// An integer that needs more than 64 bits, in decimal digits.
  case bigNumber(String)
  case array([RedisValue])
  /// Alternating keys and values.
  case map([RedisValue])
  case set([RedisValue])
  /// A message that the server sends without a request.
  case push([RedisValue])
  /// A refusal. As the reply to a command, it is a failure; inside an array, it is a value.
  indirect case error(RedisRefusal)
}

extension RedisValue {
  /// The text of a string or a status, or the digits of an integer; invalid UTF-8 is replaced by U+FFFD. `nil` for
  /// other values.
  public var text: String? {
    switch self {
    case .string(let bytes): bytes.text
    case .status(let text), .bigNumber(let text): text
    case .integer(let number): "\(number)"
    default: nil
    }
  }

  /// The bytes of a string.
  public var bytes: Chunk? { if case .string(let bytes) = self { bytes } else { nil } }

  /// The value as an integer, even if it is a string of digits. A double is rounded.
  public var integer: Int64? {
    switch self {
    case .integer(let number): number
    case .double(let number): Int64(exactly: number.rounded())
    default: text.flatMap { Int64($0) ?? Double($0).flatMap { Int64(exactly: $0.rounded()) } }
    }
  }

  /// The elements of an array, a set or a push; the keys and values of a map, alternating.
  public var elements: [RedisValue]? {
    switch self {
    case .array(let values), .map(let values), .set(let values), .push(let values): values
    default: nil
    }
  }

  /// The value of a key in a map, or in an array of alternating keys and values, as in version 2 of the protocol.
  public subscript(key: String) -> RedisValue? {
    guard let elements else { return nil }
    // Keys are bytes: as `String`s, different keys may be equal.
    for index in stride(from: 0, to: elements.count - 1, by: 2)
    where elements[index].text?.utf8.elementsEqual(key.utf8) == true {
      return elements[index + 1]
    }
    return nil
  }
}
