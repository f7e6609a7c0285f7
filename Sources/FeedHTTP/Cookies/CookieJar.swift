public import Foundation

/// The cookies of a client, according to RFC 6265bis for programs that are not browsers: the rules for pages and frames
/// (`SameSite`) have no effect.
///
///     let jar = CookieJar()
///     let client = CurlHTTPClient(on: loop).withCookies(in: jar)
///
/// Like a stream, it must be used on one thread. It keeps cookies in memory; to persist them, store and restore
/// ``cookies``.
public final class CookieJar {
  /// The maximum number of cookies per domain and in total; 50 and 3,000 by default. Beyond those limits, cookies that
  /// may be sent over http are dropped first, then the least recently used.
  public var mostPerDomain = 50
  public var most = 3_000
  /// The maximum lifetime of a cookie.
  static let longest: TimeInterval = 400 * 86_400

  private struct Key: Hashable {
    let domain, path, name: String
    let isHostOnly: Bool
  }

  /// Each cookie, with the number of its last use, and its place in the order in which cookies were first set.
  private var stored: [Key: (cookie: Cookie, used: Int, order: Int)] = [:]
  private var uses = 0
  private let suffixes: PublicSuffixes
  private let now: () -> Date

  /// - Parameters:
  ///   - suffixes: the domains that can't have cookies.
  ///   - now: the wall clock.
  public init(suffixes: PublicSuffixes = .system, now: @escaping () -> Date = { Date() }) {
    self.suffixes = suffixes
    self.now = now
  }

  /// The cookies that have not expired, in the order in which they were set.
  public var cookies: [Cookie] {
    get {
      dropExpired(at: now())
      return stored.values.sorted { $0.order < $1.order }.map(\.cookie)
    }
    set {
      stored = [:]
      let time = now()
      for cookie in newValue { keep(cookie, at: time) }
      dropExcess(in: Set(newValue.map(\.domain)))
    }
  }

  /// Stores the cookies that a response from `url` sets.
  public func store(_ headers: HTTPHeaders, from url: URL) {
    let fields = headers.values(of: "Set-Cookie")
    guard !fields.isEmpty else { return }
    let time = now()
    dropExpired(at: time)
    var domains: Set<String> = []
    for field in fields {
      guard let cookie = self.cookie(field, url, at: time), mayKeep(cookie, from: url) else { continue }
      keep(cookie, at: time)
      domains.insert(cookie.domain)
    }
    // Once per response, because a response may set a thousand cookies.
    dropExcess(in: domains)
  }

  /// The value of `Cookie` for a request to `url`; `nil` when there are no cookies for it.
  public func field(for url: URL) -> String? {
    guard !stored.isEmpty, let host = Self.host(url) else { return nil }
    dropExpired(at: now())
    let path = Self.path(url)
    uses += 1
    let found = stored.filter { Self.isFor($0.value.cookie, host, path, isSecure: Self.isSecure(url)) }
    guard !found.isEmpty else { return nil }
    for key in found.keys { stored[key]!.used = uses }
    // Longer paths first, then older cookies.
    return found.values
      .sorted { a, b in
        let (x, y) = (a.cookie.path.utf8.count, b.cookie.path.utf8.count)
        return x != y ? x > y : a.order < b.order
      }
      .map(\.cookie)
      .map { $0.name.isEmpty ? $0.value : "\($0.name)=\($0.value)" }.joined(separator: "; ")
  }

  // MARK: Storing

  /// The cookie that a field sets; `nil` if the response may not set it (section 5.7).
  private func cookie(_ field: String, _ url: URL, at time: Date) -> Cookie? {
    guard let set = SetCookie(field), let host = Self.host(url) else { return nil }
    var domain = set.domain.map { PublicSuffixes.host($0[...]) } ?? ""
    if !domain.isEmpty, suffixes.contains(domain) || domain.hasSuffix(".") {
      guard domain == host else { return nil }
      domain = ""
    }
    guard domain.isEmpty || Self.matches(host, domain: domain) else { return nil }
    let isSecure = Self.isSecure(url)
    guard !set.isSecure || isSecure else { return nil }
    let path = set.path ?? Self.defaultPath(url)
    switch CookiePrefix(set.name) {
    case .secure where !set.isSecure: return nil
    case .host where !set.isSecure || !domain.isEmpty || set.path != "/": return nil
    default: break
    }
    var expires = set.maxAge.map { $0 <= 0 ? .distantPast : time + min(Double($0), Self.longest) } ?? set.expires
    if let date = expires { expires = min(date, time + Self.longest) }
    return Cookie(
      name: set.name, value: set.value, domain: domain.isEmpty ? host : domain, isHostOnly: domain.isEmpty, path: path,
      expires: expires, isSecure: set.isSecure, isHTTPOnly: set.isHTTPOnly, created: time)
  }

  /// False for a cookie set over http that would replace or shadow a secure one.
  private func mayKeep(_ cookie: Cookie, from url: URL) -> Bool {
    Self.isSecure(url)
      || !stored.values.contains { other in
        let other = other.cookie
        return other.isSecure && other.name == cookie.name && Self.matches(cookie.path, path: other.path)
          && (Self.matches(other.domain, domain: cookie.domain) || Self.matches(cookie.domain, domain: other.domain))
      }
  }

  /// Stores a cookie, or removes it if it has expired.
  private func keep(_ cookie: Cookie, at time: Date) {
    let key = Key(domain: cookie.domain, path: cookie.path, name: cookie.name, isHostOnly: cookie.isHostOnly)
    guard !cookie.isExpired(at: time) else {
      stored[key] = nil
      return
    }
    var cookie = cookie
    uses += 1
    var order = uses
    if let old = stored[key] { (cookie.created, order) = (old.cookie.created, old.order) }
    stored[key] = (cookie, uses, order)
  }

  private func dropExpired(at time: Date) {
    let gone = stored.filter { $0.value.cookie.isExpired(at: time) }.map(\.key)
    for key in gone { stored[key] = nil }
  }

  /// Drops the cookies beyond the limits, in total and in the domains whose cookies have changed.
  private func dropExcess(in domains: Set<String>) {
    let changed = Dictionary(grouping: stored.keys.filter { domains.contains($0.domain) }, by: \.domain)
    for keys in changed.values { drop(keys, beyond: mostPerDomain) }
    drop(Array(stored.keys), beyond: most)
  }

  /// Drops the cookies that may be sent over http first, then the least recently used.
  private func drop(_ keys: [Key], beyond most: Int) {
    guard keys.count > most else { return }
    let order = keys.sorted { a, b in
      let (a, b) = (stored[a]!, stored[b]!)
      return a.cookie.isSecure != b.cookie.isSecure ? !a.cookie.isSecure : a.used < b.used
    }
    for key in order.prefix(keys.count - most) { stored[key] = nil }
  }

  // MARK: Matching

  private static func isFor(_ cookie: Cookie, _ host: String, _ path: String, isSecure: Bool) -> Bool {
    (cookie.isHostOnly ? cookie.domain == host : matches(host, domain: cookie.domain))
      && matches(path, path: cookie.path) && (isSecure || !cookie.isSecure)
  }

  /// Domain matching (section 5.1.3).
  private static func matches(_ host: String, domain: String) -> Bool {
    host == domain || host.hasSuffix("." + domain) && NetworkAddress(host) == nil
  }

  /// Path matching (section 5.1.4).
  private static func matches(_ path: String, path cookie: String) -> Bool {
    path == cookie || path.hasPrefix(cookie) && (cookie.hasSuffix("/") || path.dropFirst(cookie.count).first == "/")
  }

  private static func host(_ url: URL) -> String? {
    url.host(percentEncoded: false)?.lowercased().trimmingCharacters(in: ["[", "]"])
  }

  private static func path(_ url: URL) -> String {
    let path = url.path(percentEncoded: true)
    return path.isEmpty ? "/" : path
  }

  private static func defaultPath(_ url: URL) -> String {
    let path = path(url)
    guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  private static func isSecure(_ url: URL) -> Bool { url.scheme?.lowercased() == "https" }
}

extension Cookie {
  fileprivate func isExpired(at time: Date) -> Bool { expires.map { $0 <= time } ?? false }
}
