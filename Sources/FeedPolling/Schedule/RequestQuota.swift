public import FeedHTTP
public import Foundation

/// The number of requests that a server still allows, according to the fields of its response.
public struct RequestQuota: Hashable, Sendable, Codable {
  /// The number of remaining requests.
  public var remaining: Double
  /// The number of seconds until the quota resets; `nil` when the server doesn't state it.
  public var resetsAfter: Double?
  /// The number of requests in a window.
  public var limit: Double?
  /// The length of that window, in seconds.
  public var window: Double?

  public init(remaining: Double, resetsAfter: Double?, limit: Double? = nil, window: Double? = nil) {
    self.remaining = remaining
    self.resetsAfter = resetsAfter
    self.limit = limit
    self.window = window
  }

  /// True when the server allows no more requests for now, and states for how long.
  public var isUsedUp: Bool { remaining < 1 && resetsAfter.map { $0 > 0 } ?? false }

  /// Clamps numbers, because stored values may be damaged.
  mutating func bound() {
    func number(_ number: Double?) -> Double? { number.map { $0.isFinite ? min(max($0, 0), Self.most) : 0 } }
    remaining = number(remaining) ?? 0
    (resetsAfter, limit, window) = (number(resetsAfter), number(limit), number(window))
  }

  /// The largest number that is read.
  fileprivate static let most = 1e15

  /// The number of seconds between two requests that makes the quota last until it resets. Zero while more than a
  /// tenth of the quota is left, so that users who subscribe to many feeds see them immediately.
  public var rest: Double {
    guard let resetsAfter else { return 0 }
    if isUsedUp { return resetsAfter }
    return remaining <= (limit ?? 0) / 10 ? resetsAfter / max(remaining, 1) : 0
  }
}

extension RequestQuota {
  /// Reads the fields of the IETF's draft (`RateLimit`, `RateLimit-Policy`, draft-ietf-httpapi-ratelimit-headers-10),
  /// or else those of its older versions (`RateLimit-Remaining`), or else `X-RateLimit-Remaining` and similar fields.
  /// If there are several quotas, the one with the longest ``rest`` is used; among equals, the one with the fewest
  /// remaining requests.
  ///
  /// A reset is a number of seconds. A number above 1,000,000,000 is a date in seconds since 1970, and a number above
  /// 1,000,000,000,000 is a date in milliseconds. Dates are relative to the response's `Date`.
  ///
  /// - Returns: `nil` if there are no such fields, or if their values are invalid.
  public init?(_ headers: HTTPHeaders, now: Date) {
    let quotas = Self.named(headers) ?? Self.numbered(headers, now: now)
    let tightest = quotas.min { ($1.rest, $0.remaining) < ($0.rest, $1.remaining) }
    guard let tightest else { return nil }
    self = tightest
  }

  /// Parses `RateLimit: "default";r=50;t=30`, and the older form, `RateLimit: limit=100, remaining=50, reset=30`.
  private static func named(_ headers: HTTPHeaders) -> [RequestQuota]? {
    let members = headers.values(of: "RateLimit").flatMap { QuotaMember.all(in: $0) }
    guard !members.isEmpty else { return nil }
    let policies = headers.values(of: "RateLimit-Policy").flatMap { QuotaMember.all(in: $0) }
    var quotas: [RequestQuota] = []
    for member in members {
      guard let remaining = member["r"] else { continue }
      let policy = policies.first { $0.name == member.name }
      // Bytes and connections aren't requests.
      guard policy?.countsRequests ?? true else { continue }
      quotas.append(
        RequestQuota(
          remaining: remaining, resetsAfter: member["t"] ?? policy?["w"], limit: policy?["q"], window: policy?["w"]))
    }
    func number(_ name: String) -> Double? { members.lazy.compactMap { $0[name] }.first }
    if quotas.isEmpty, let remaining = number("remaining") {
      quotas.append(RequestQuota(remaining: remaining, resetsAfter: number("reset"), limit: number("limit")))
    }
    return quotas
  }

  /// Parses `RateLimit-Remaining: 50`, with or without `X-` before it.
  private static func numbered(_ headers: HTTPHeaders, now: Date) -> [RequestQuota] {
    for prefix in ["RateLimit-", "X-RateLimit-", "X-Rate-Limit-"] {
      guard let text = headers[prefix + "Remaining"],
        let remaining = text.listMembers.compactMap({ QuotaMember.number($0) }).min()
      else { continue }
      let limits = headers.values(of: prefix + "Limit").flatMap { QuotaMember.all(in: $0) }
      let reset = headers[prefix + "Reset"].flatMap { seconds($0, headers, now: now) }
      let window = limits.lazy.compactMap { $0["w"] }.first
      return [
        RequestQuota(
          remaining: remaining, resetsAfter: reset ?? window,
          limit: limits.first.flatMap { QuotaMember.number($0.name[...]) }, window: window)
      ]
    }
    return []
  }

  private static func seconds(_ text: String, _ headers: HTTPHeaders, now: Date) -> Double? {
    let reference = headers["Date"].flatMap { HTTPDate.parse($0, now: now) } ?? now
    guard let number = QuotaMember.number(text[...]) else {
      return HTTPDate.parse(text, now: now).map { max(0, $0.timeIntervalSince(reference)) }
    }
    if number < 1e9 { return number }
    return max(0, (number < 1e12 ? number : number / 1000) - reference.timeIntervalSince1970)
  }
}

/// A member of a list with parameters (RFC 9651, section 3.1): `"default";r=50;t=30`.
private struct QuotaMember {
  var name: String
  private var parameters: [(name: String, value: String)]

  static func all(in line: String) -> [QuotaMember] { line.listMembers.compactMap { QuotaMember($0) } }

  init?(_ text: Substring) {
    var parts = text.split(separator: ";").map(\.trimmed)
    guard let first = parts.first else { return nil }
    name = first.filter { $0 != "\"" }
    // The older form is a dictionary: its members have a value and no name.
    if first.contains("=") { parts.insert("", at: 0) }
    parameters = parts.dropFirst().compactMap { part in
      guard let equals = part.firstIndex(of: "=") else { return nil }
      let value = part[part.index(after: equals)...].filter { $0 != "\"" }
      return (part[..<equals].lowercased(), value)
    }
  }

  subscript(_ name: String) -> Double? {
    parameters.first { $0.name == name }.flatMap { Self.number($0.value[...]) }
  }

  var countsRequests: Bool { parameters.first { $0.name == "qu" }.map { $0.value == "requests" } ?? true }

  /// Parses digits with at most one decimal point; the number is from zero to 10^15.
  static func number(_ text: Substring) -> Double? {
    let text = text.trimmed
    guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || $0 == 0x2E }) else { return nil }
    return Double(text).map { min($0, RequestQuota.most) }
  }
}
