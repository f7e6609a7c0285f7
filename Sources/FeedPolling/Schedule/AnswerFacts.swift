public import FeedFormats
public import FeedHTTP
public import Foundation
public import ImageFeed

/// The parts of a request's outcome that matter for the feed's next request. They are a value, so that a ``Schedule``
/// can be tested without a server.
public struct AnswerFacts: Hashable, Sendable {
  /// The result of the request.
  public enum Outcome: Hashable, Sendable {
    /// A feed that differs from the saved one.
    case changed
    /// Status 304, or the same feed again.
    case unchanged
    /// A different status.
    case refused(Int)
    /// A challenge against bots instead of a feed, with this status.
    case challenged(Int)
    /// A response that isn't a feed.
    case notAFeed
    /// No response arrived; `wasAsked` is true if the server may have received the request.
    case noAnswer(wasAsked: Bool)

    /// True if the result is a feed.
    public var isSuccess: Bool { self == .changed || self == .unchanged }
  }

  public var outcome: Outcome
  /// The response's freshness lifetime according to its header, minus its age; `nil` if the header doesn't specify one.
  public var freshness: ResponseFreshness?
  /// The pause that the server requests with `Retry-After`; `nil` if it requests none.
  public var retryAfter: Duration?
  /// The number of requests that the server still allows; `nil` if it doesn't state this.
  public var quota: RequestQuota?
  /// The hub that the response names, if any.
  public var hub: HubLink?
  /// The document's hints; `nil` when no document was read.
  public var hints: PollingHints?
  /// The target of the redirects, if all of them were permanent.
  public var movedTo: URL?
  /// True if the response came from a private network, and false if not; `nil` if that is unknown.
  var isFromPrivateNetwork: Bool?
  /// The pause of a host to which a redirect or a link led, if that host got no request.
  var closed: HostPause?
  /// False if the feed is no longer saved, so that only an unconditional request is possible.
  public var isSaved = true

  public init(
    _ outcome: Outcome, freshness: ResponseFreshness? = nil, retryAfter: Duration? = nil, hints: PollingHints? = nil,
    movedTo: URL? = nil
  ) {
    self.outcome = outcome
    self.freshness = freshness
    self.retryAfter = retryAfter
    self.hints = hints
    self.movedTo = movedTo
  }
}

extension AnswerFacts {
  /// The pause that `Retry-After` requests, in seconds or as a date in any of HTTP's three forms (RFC 9110, section
  /// 10.2.3). A date is relative to the response's own `Date`. `nil` if `Retry-After` is missing or unreadable. A date
  /// in the past counts as zero.
  public static func retryAfter(_ headers: HTTPHeaders, now: Date) -> Duration? {
    guard let text = headers["Retry-After"] else { return nil }
    if let seconds = CacheControl.seconds(text) { return .seconds(seconds) }
    guard let date = HTTPDate.parse(text, now: now) else { return nil }
    let reference = headers["Date"].flatMap { HTTPDate.parse($0, now: now) } ?? now
    // Not rounded: a pause that ends a second before the date would be too short.
    return .seconds(max(0, min(date.timeIntervalSince(reference), 1e9)))
  }

  /// Reads the status and the headers of a response whose body isn't examined.
  init(status: Int, _ headers: HTTPHeaders, now: Date) {
    self.init(status < 400 ? .unchanged : .refused(status), retryAfter: Self.retryAfter(headers, now: now))
    quota = RequestQuota(headers, now: now)
  }

  /// Reads the head of a response. The outcome depends on the status; the body is examined elsewhere.
  public init(_ response: HTTPResponse, now: Date) {
    self.init(
      .unchanged, freshness: ResponseFreshness(response.headers, now: now),
      retryAfter: Self.retryAfter(response.headers, now: now), movedTo: response.permanentTarget)
    quota = RequestQuota(response.headers, now: now)
    hub = HubLink(response.headers, at: response.url)
    isFromPrivateNetwork = response.isPrivate
  }
}

extension HTTPResponse {
  /// The target of the redirects, if all of them were permanent.
  fileprivate var permanentTarget: URL? {
    guard !redirects.isEmpty, redirects.allSatisfy(\.isPermanent) else { return nil }
    return url
  }
}
