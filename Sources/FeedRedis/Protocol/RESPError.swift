import PlainText

/// The reasons why bytes are not a valid Redis reply.
public enum RESPError: Error, Hashable, Sendable {
  /// The bytes don't follow the Redis protocol: a different kind of server probably sent them.
  case malformed
  /// A line or a string is longer than `limit` bytes.
  case tooLong(limit: Int)
  /// A reply has more than `limit` values.
  case tooMany(limit: Int)
  /// Arrays are nested deeper than `limit`.
  case tooDeep(limit: Int)
  /// The connection ended in the middle of a reply.
  case cutOff
}

extension RESPError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .malformed: "the server doesn't speak the Redis protocol"
    case .tooLong(let limit): "a reply has a line or a string of more than \(limit.byteSize)"
    case .tooMany(let limit): "a reply has more than \(limit) values"
    case .tooDeep(let limit): "a reply is nested more than \(limit) levels deep"
    case .cutOff: "the connection ended in the middle of a reply"
    }
  }
}
