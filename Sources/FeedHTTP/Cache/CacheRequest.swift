internal import CZlib
import FeedStream
import Foundation

/// A request's demands on a cache (RFC 9111, section 5.2.1), and the request's key in the cache.
struct CacheRequest: Sendable {
  let request: HTTPRequest
  private let control: CacheControl
  /// The caller's time limit; after a redirect, less time is left in the request's own `timeout`.
  private let limit: StreamInstant.Stride

  init(_ request: HTTPRequest, limit: StreamInstant.Stride? = nil) {
    self.request = request
    self.limit = limit ?? request.timeout
    let lines = request.values(of: "Cache-Control")
    let pragma = CacheControl(request.values(of: "Pragma"))
    // Pragma counts only if there is no Cache-Control (section 5.4).
    control = CacheControl(lines.isEmpty && pragma.has("no-cache") ? ["no-cache"] : lines)
  }

  /// Identifies stored responses. Credentials are among the selectors instead.
  var key: String { request.url.normalized }

  /// Identifies requests that one response can serve: those with the same URL, fields, limits and proxy, whose origins
  /// give them the same access to private networks.
  var sharingKey: String {
    let fields = request.headers.map { "\($0.name.lowercased()):\($0.value)" }.sorted()
    let origin = "\(request.origin?.lowercasedHost ?? "") \(request.originIsPrivate.map { "\($0)" } ?? "")"
    let limits =
      "\(limit) \(request.connectTimeout) \(request.maxBodyBytes) \(request.decodesContent) "
      + "\(request.skipsRedirectBodies) " + (isChosenByOthers ? origin : "own")
    let proxy = request.proxy.map { "\($0)" } ?? ""
    return ([key, request.url.user ?? "", request.url.password ?? "", limits, proxy] + fields).joined(separator: "\n")
  }

  /// True if the response must not be stored, because the request forbids that or requests a part.
  var isBypassing: Bool { mayNotStore || request.has("Range") || request.has("If-Range") }

  var mayNotStore: Bool { control.has("no-store") }

  /// True if the request contains the caller's own conditions; the caller then interprets the response itself.
  var isConditional: Bool {
    request.has("If-None-Match") || request.has("If-Modified-Since") || isForOriginAlone
  }

  /// True when the request contains conditions that no cache may evaluate (section 4.3.2).
  var isForOriginAlone: Bool { request.has("If-Match") || request.has("If-Unmodified-Since") }

  var isOnlyIfCached: Bool { control.has("only-if-cached") }

  /// True if this request can wait for an identical one in flight: it has no conditions and doesn't require a newer
  /// response.
  var maySharePending: Bool { !isConditional && !asksForNewer }

  private var asksForNewer: Bool { control.has("no-cache") || control.has("max-age") || control.has("min-fresh") }

  // MARK: Choosing

  enum Use: Equatable {
    /// Use the response without a request.
    case fresh
    /// Use the response even though it is stale, because the request allows that.
    case stale
    /// Use the response even though it is stale, while it is revalidated.
    case staleWhileRevalidating
    /// Don't use the response without validation.
    case validate
  }

  /// The permitted use of a stored response (sections 4, 4.2.4 and 5.2).
  func use(of head: HTTPStoredResponse.Head, at now: Date) -> Use {
    let freshness = CacheFreshness(head)
    guard freshness.needsNoValidation, !control.has("no-cache") else { return .validate }
    let age = freshness.age(at: now)
    let staleness = age - freshness.lifetime
    switch control.seconds("max-age") {
    case .value(let most) where age > most: return .validate
    case .invalid: return .validate
    default: break
    }
    switch control.seconds("min-fresh") {
    case .value(let least) where -staleness < least: return .validate
    case .invalid: return .validate
    default: break
    }
    if staleness < 0 { return .fresh }
    guard freshness.mayBeStale else { return .validate }
    if allowsStale(by: staleness) { return .stale }
    if !asksForNewer, staleness < freshness.staleWhileRevalidate { return .staleWhileRevalidating }
    return .validate
  }

  private func allowsStale(by staleness: TimeInterval) -> Bool {
    if control.hasWithoutArgument("max-stale") { return true }
    if case .value(let most) = control.seconds("max-stale") { return staleness <= most }
    return false
  }

  /// True when a stale response may be used after its server has failed (RFC 9111, section 4.2.4; RFC 5861, section 4).
  ///
  /// - Parameter isDisconnected: true when no response arrived, and a stored response may replace it. In that case,
  ///   even a response without `stale-if-error` may be used.
  func mayUseAfterFailure(_ head: HTTPStoredResponse.Head, at now: Date, isDisconnected: Bool) -> Bool {
    let freshness = CacheFreshness(head)
    guard freshness.mayBeStale, !asksForNewer else { return false }
    let staleness = freshness.age(at: now) - freshness.lifetime
    if case .value(let most) = control.seconds("stale-if-error"), staleness < most { return true }
    guard let most = freshness.staleIfError else { return isDisconnected }
    return staleness < most
  }

  // MARK: Selecting

  /// The selector that marks a response from a private network; no field has such a name.
  static let privateNetwork = "private network"
  /// The selector that marks a redirect whose body wasn't read; no field has such a name.
  static let redirectBody = "redirect body"

  /// True if the document or redirect that led to this request isn't known to come from a private network. In that
  /// case, this request must not lead to a private network, and only the connection shows whether it does.
  var isChosenByOthers: Bool { request.origin != nil && request.originIsPrivate != true }

  /// The values of the request's fields that `Vary` names; `nil` for `Vary: *`, which no request matches.
  func selectors(for headers: HTTPHeaders) -> [String: String?]? {
    let names = headers.values(of: "Vary").flatMap(\.listMembers).map { $0.lowercased() }
    guard !names.contains("*") else { return nil }
    var selectors: [String: String?] = [:]
    for name in names { selectors[name] = .some(selector(name)) }
    // One user's responses are not shown to another, although the rules allow a private cache to do so (section 3.5).
    if !CacheControl(headers.values(of: "Cache-Control")).has("public") {
      selectors["authorization"] = .some(selector("authorization"))
    }
    return selectors
  }

  /// True for stored responses that this request selects (section 4.1).
  var selection: @Sendable (HTTPStoredResponse.Head) -> Bool {
    // Captures only values, because a store may call it on another thread.
    { [self] head in
      head.selectors.allSatisfy { selector($0.key) == $0.value }
        && (head.isDecoded == request.decodesContent || head.headers["Content-Encoding"] == nil)
    }
  }

  /// The value of a field as it is compared: lines joined, without space around commas, in lower case
  /// if case doesn't matter. Secrets are compared as hashes that are too short to reveal them.
  func selector(_ name: String) -> String? {
    if name == Self.privateNetwork { return isChosenByOthers ? nil : "own" }
    if name == Self.redirectBody { return request.skipsRedirectBodies ? "skipped" : nil }
    var lines = request.values(of: name)
    if name == "authorization", lines.isEmpty, let user = request.url.user {
      lines = ["\(user):\(request.url.password ?? "")"]
    }
    guard !lines.isEmpty else { return nil }
    if ["authorization", "cookie", "proxy-authorization"].contains(name) {
      return "#\(lines.joined(separator: ",").fingerprint)"
    }
    let value = lines.flatMap(\.listMembers).joined(separator: ",")
    return ["accept", "accept-charset", "accept-encoding", "accept-language"].contains(name)
      ? value.lowercased() : value
  }
}

extension String {
  /// A 32-bit checksum that is the same on every machine.
  fileprivate var fingerprint: UInt {
    var text = self
    return text.withUTF8 { crc32(0, $0.baseAddress, UInt32($0.count)) }
  }
}
