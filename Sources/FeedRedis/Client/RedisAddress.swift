import Foundation

/// Where a Redis server is, and how to log in: what an address such as `redis://user:secret@host:6379/0` says.
///
/// - `redis://[[user]:password@]host[:port][/database]`, port 6379 and database 0 unless said;
/// - `rediss://…`, the same over TLS;
/// - `unix:///path/of/the/socket[?db=1]`.
///
/// It never shows its password.
public struct RedisAddress: Hashable, Sendable {
  /// The way to the server.
  public enum Place: Hashable, Sendable {
    case internet(host: String, port: Int)
    case unix(path: String)
  }

  public var place: Place
  public var usesTLS = false
  /// `nil` for the default user.
  public var user: String?
  public var password: String?
  /// The number that is selected: 0 to 15 on a server as it is delivered.
  public var database = 0

  public init(_ place: Place) { self.place = place }

  /// - Throws: a sentence about what is wrong with it.
  public init(parsing text: String) throws(RedisAddressError) {
    guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased() else {
      throw RedisAddressError("it is not an address such as redis://host:6379")
    }
    switch scheme {
    case "redis", "rediss":
      guard let host = parts.host, !host.isEmpty else { throw RedisAddressError("it names no host") }
      place = .internet(host: host.trimmingCharacters(in: ["[", "]"]), port: parts.port ?? 6379)
      guard 1...65_535 ~= parts.port ?? 6379 else { throw RedisAddressError("a port is between 1 and 65535") }
      usesTLS = scheme == "rediss"
      let path = parts.path.drop { $0 == "/" }
      if !path.isEmpty { try select(String(path)) }
    case "unix", "redis+unix", "redis-socket":
      guard !parts.path.isEmpty else { throw RedisAddressError("it names no socket: unix:///path/of/the/socket") }
      place = .unix(path: parts.path)
    default: throw RedisAddressError("\(scheme): is not redis:, rediss: or unix:")
    }
    if let number = parts.queryItems?.first(where: { $0.name == "db" })?.value { try select(number) }
    user = parts.user.flatMap { $0.isEmpty ? nil : $0 }
    password = parts.password
    if password == nil, let only = user {
      // `redis://secret@host` means the password to some clients and the user to others.
      throw RedisAddressError("write redis://:PASSWORD@host, or redis://\(only):PASSWORD@host for a user")
    }
  }

  private mutating func select(_ text: String) throws(RedisAddressError) {
    guard let number = Int(text), 0...1_000_000 ~= number else {
      throw RedisAddressError("the database is a number, such as redis://host/1")
    }
    database = number
  }

  /// True for text that this can be made of: it begins with one of the schemes.
  public static func isAddress(_ text: String) -> Bool {
    let scheme = text.prefix { $0 != ":" }.lowercased()
    return ["redis", "rediss", "unix", "redis+unix", "redis-socket"].contains(scheme) && text.contains(":/")
  }
}

extension RedisAddress: CustomStringConvertible {
  /// The address without user and password.
  public var description: String {
    let tail = database == 0 ? "" : "/\(database)"
    switch place {
    case .internet(let host, let port):
      return "\(usesTLS ? "rediss" : "redis")://\(host.contains(":") ? "[\(host)]" : host):\(port)\(tail)"
    case .unix(let path): return "unix://\(path)\(database == 0 ? "" : "?db=\(database)")"
    }
  }
}

/// The reason why text is no ``RedisAddress``, to follow a colon.
public struct RedisAddressError: Error, Hashable, Sendable, CustomStringConvertible {
  public let description: String
  init(_ description: String) { self.description = description }
}
