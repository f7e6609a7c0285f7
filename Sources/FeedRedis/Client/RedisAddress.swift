import Foundation
import PlainText

/// The address of a Redis server, with the login credentials, as in `redis://user:secret@host:6379/0`.
///
/// - `redis://[[user]:password@]host[:port][/database]`, port 6379 and database 0 by default;
/// - `rediss://…`, the same over TLS;
/// - `unix://[[user]:password@]/path/of/the/socket[?db=1]`;
/// - `redis+sentinel://[[user]:password@]host[:port][,host[:port]…]/name[/database]`: the primary that these Sentinels
///   (port 26379 by default) monitor under that name. The user and the password are those for the primary.
///
/// `?db=`, `?username=` and `?password=` are alternatives to these parts. The description contains neither the user nor
/// the password.
public struct RedisAddress: Hashable, Sendable {
  /// The route to the server.
  public enum Place: Hashable, Sendable {
    case internet(host: String, port: Int)
    case unix(path: String)
    /// The primary called `name`: each connection first looks up its address at one of these hosts.
    case sentinel(hosts: [SentinelHost], name: String)
  }

  /// One of the Sentinels that monitor a primary.
  public struct SentinelHost: Hashable, Sendable {
    public var host: String
    public var port: Int

    public init(host: String, port: Int = 26379) {
      self.host = host
      self.port = port
    }
  }

  public var place: Place
  public var usesTLS = false
  /// The name of the user; `nil` for the default user.
  public var user: String?
  public var password: String?
  /// The number of the database: 0 to 15 on a server with its default settings.
  public var database = 0

  public init(_ place: Place) { self.place = place }

  /// - Throws: a readable error, without any part of the text that may be secret.
  public init(parsing text: String) throws(RedisAddressError) {
    if text.lowercased().hasPrefix("redis+sentinel:") {
      self = try RedisAddress(sentinels: text)
      return
    }
    guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased() else {
      throw RedisAddressError("it is not a URL such as redis://host:6379; write a slash in a password as %2F")
    }
    // An unescaped # in a password would hide the host in the fragment.
    guard parts.fragment == nil else { throw RedisAddressError("write # in a password as %23") }
    switch scheme {
    case "redis", "rediss":
      guard let host = parts.host, !host.isEmpty else { throw RedisAddressError("it has no host") }
      place = .internet(host: host.trimmingCharacters(in: ["[", "]"]), port: parts.port ?? 6379)
      guard 1...65_535 ~= parts.port ?? 6379 else { throw RedisAddressError("the port must be from 1 to 65535") }
      usesTLS = scheme == "rediss"
      let path = parts.path.drop { $0 == "/" }
      if !path.isEmpty { try select(String(path)) }
    case "unix", "redis+unix", "redis-socket":
      guard !parts.path.isEmpty else { throw RedisAddressError("it has no socket path; write unix:///path/to/socket") }
      guard parts.host?.isEmpty ?? true else {
        throw RedisAddressError("a socket's URL has three slashes: unix:///path/to/socket")
      }
      place = .unix(path: parts.path)
    default: throw RedisAddressError("the scheme must be redis:, rediss:, unix: or redis+sentinel:, not \(scheme):")
    }
    user = parts.user.flatMap { $0.isEmpty ? nil : $0 }
    password = parts.password
    try read(parts.queryItems ?? [], hasDatabase: place.isInternet && parts.path.contains { $0 != "/" })
    if password == nil, user != nil {
      // In `redis://secret@host`, `secret` is the password for some clients and the user for others, so the error
      // doesn't repeat it.
      throw RedisAddressError("write redis://:PASSWORD@host, or redis://USER:PASSWORD@host")
    }
  }

  private init(sentinels text: String) throws(RedisAddressError) {
    let wrong = RedisAddressError("write redis+sentinel://host[:port][,host[:port]…]/NAME[/database]")
    let rest = text.dropFirst("redis+sentinel:".count)
    guard rest.hasPrefix("//"), !rest.contains("#") else { throw wrong }
    let whole = rest.dropFirst(2)
    let end = whole.firstIndex { $0 == "/" || $0 == "?" } ?? whole.endIndex
    let authority = whole[..<end]
    let split = authority.lastIndex(of: "@")
    let hosts = split.map { authority[authority.index(after: $0)...] } ?? authority
    let login = split.map { authority[...$0] } ?? ""
    // A placeholder replaces the hosts, so that the rest can be parsed like any other URL.
    let tail = whole[end...]
    let query = tail.firstIndex(of: "?").map { tail[$0...] } ?? ""
    let names = tail.prefix { $0 != "?" }.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
    guard (1...2).contains(names.count) else { throw wrong }
    let database = names.count == 2 ? "/\(names[1])" : ""
    try self.init(parsing: "redis://\(login)sentinel\(database)\(query)")
    var sentinels: [SentinelHost] = []
    for host in hosts.split(separator: ",", omittingEmptySubsequences: false) {
      guard case .internet(let name, let port) = try RedisAddress(parsing: "redis://\(host)").place else { throw wrong }
      let hasPort = host.contains(":") && host.last != "]"
      sentinels.append(SentinelHost(host: name, port: hasPort ? port : 26379))
    }
    place = .sentinel(hosts: sentinels, name: names[0])
  }

  /// Reads a URL's query, in which parameters have the names that other clients use.
  private mutating func read(_ items: [URLQueryItem], hasDatabase: Bool) throws(RedisAddressError) {
    for item in items {
      let value = item.value ?? ""
      switch item.name {
      case "db", "database":
        let before = database
        try select(value)
        guard !hasDatabase || database == before else { throw RedisAddressError("it has two databases") }
      case "username", "user":
        guard user == nil || user == value else { throw RedisAddressError("it has two users") }
        user = value.isEmpty ? nil : value
      case "password":
        guard password == nil || password == value else { throw RedisAddressError("it has two passwords") }
        password = value
      default: throw RedisAddressError("only db, username and password are allowed after ?")
      }
    }
  }

  private mutating func select(_ text: String) throws(RedisAddressError) {
    guard let number = Int(text), 0...1_000_000 ~= number else {
      throw RedisAddressError("the database must be a number from 0 to 1000000, as in redis://host/1")
    }
    database = number
  }

  /// True for text that begins with one of the schemes.
  public static func isAddress(_ text: String) -> Bool {
    let scheme = text.prefix { $0 != ":" }.lowercased()
    return ["redis", "rediss", "unix", "redis+unix", "redis-socket", "redis+sentinel"].contains(scheme)
      && text.contains(":/")
  }
}

extension RedisAddress {
  /// True if the server's address is looked up from Sentinels.
  var isSentinel: Bool { if case .sentinel = place { true } else { false } }
}

extension RedisAddress.Place {
  fileprivate var isInternet: Bool { if case .internet = self { true } else { false } }
}

extension RedisAddress: CustomStringConvertible {
  /// The address without the user and the password. Its text is safe to print, even if a server sent it.
  public var description: String { url.printable }

  private var url: String {
    let tail = database == 0 ? "" : "/\(database)"
    switch place {
    case .internet(let host, let port):
      return "\(usesTLS ? "rediss" : "redis")://\(host.contains(":") ? "[\(host)]" : host):\(port)\(tail)"
    case .unix(let path): return "unix://\(path)\(database == 0 ? "" : "?db=\(database)")"
    case .sentinel(let hosts, let name):
      let list = hosts.map { "\($0.host.contains(":") ? "[\($0.host)]" : $0.host):\($0.port)" }.joined(separator: ",")
      return "redis+sentinel://\(list)/\(name)\(tail)"
    }
  }

  /// An example of the URL, with a password or a different database in the right place.
  func example(password: Bool = false, database: Int? = nil) -> String {
    var example = self
    if let database { example.database = database }
    guard password else { return "\(example)" }
    return "\(example)".replacingOccurrences(of: "://", with: "://:PASSWORD@")
  }
}

/// The reason why text isn't a ``RedisAddress``, worded to follow a colon.
public struct RedisAddressError: Error, Hashable, Sendable, CustomStringConvertible {
  public let description: String
  init(_ description: String) { self.description = description }
}
