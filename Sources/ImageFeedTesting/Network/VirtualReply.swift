public import FeedStream
public import FeedStreamTesting
public import Foundation
public import ImageFeed

/// An origin's reply to a request, and its timing.
public struct VirtualReply: Sendable {
  /// The completion of a request, as the origin intends it.
  public enum Ending: Sendable {
    /// The complete response has arrived. Like a real server, the origin sends no body in response to HEAD, or with
    /// status 204 or 304. The body of a redirect that the client follows is dropped.
    case answer(status: Int, headers: HTTPHeaders, body: Data)
    /// The connection is lost.
    case drop(HTTPError.Kind)
    /// No reply ever arrives; the request fails at its deadline.
    case silence
  }

  /// The time from the arrival of the request, with its whole body, to the request's completion or, if the response's
  /// body arrives in pieces, to the response's head.
  public var latency: StreamInstant.Stride
  public var ending: Ending
  /// The pace at which the body arrives.
  public var pace = Pace()

  /// A body that arrives in pieces, one after another.
  public struct Pace: Sendable, Hashable {
    /// The number of bytes per piece; 16 KiB by default.
    public var bytes = 16 << 10
    /// The time from one piece to the next; the first arrives with the head. Zero by default.
    public var interval: StreamInstant.Stride = 0

    public init() {}
  }

  /// - Precondition: `latency` is zero or more.
  public init(after latency: StreamInstant.Stride, _ ending: Ending) {
    precondition(
      latency.nanoseconds >= 0,
      "VirtualReply: the latency \(latency) is negative; use zero or more")
    self.latency = latency
    self.ending = ending
  }

  /// A complete response, with status 200 by default.
  public static func answer(
    status: Int = 200, headers: HTTPHeaders = [], _ body: Data, after latency: StreamInstant.Stride = .milliseconds(80)
  ) -> VirtualReply {
    VirtualReply(after: latency, .answer(status: status, headers: headers, body: body))
  }

  /// A response with `images` in Essential Feed JSON.
  public static func feed(
    _ images: some Sequence<FeedImage>, after latency: StreamInstant.Stride = .milliseconds(80)
  ) -> VirtualReply {
    .answer(FeedPayload.bytes(of: images), after: latency)
  }

  /// The same response, with a body that arrives in pieces of `bytes`, the first with the head, the others `interval`
  /// apart.
  ///
  /// - Precondition: `bytes` is more than zero, and `interval` is zero or more.
  public func arriving(in bytes: Int, every interval: StreamInstant.Stride = 0) -> VirtualReply {
    precondition(
      bytes > 0 && interval.nanoseconds >= 0,
      "arriving(in: \(bytes), every: \(interval)): a piece needs at least 1 byte, and the interval can't be negative")
    var reply = self
    (reply.pace.bytes, reply.pace.interval) = (bytes, interval)
    return reply
  }

  /// A connection that is cut off before the response is complete.
  public static func drop(
    _ kind: HTTPError.Kind = .receive, after latency: StreamInstant.Stride = .milliseconds(80)
  ) -> VirtualReply {
    VirtualReply(after: latency, .drop(kind))
  }

  /// No response, ever.
  public static let silence = VirtualReply(after: 0, .silence)
}

/// A request, as a ``VirtualOrigin`` receives it.
public struct VirtualRequest: Sendable {
  public var request: HTTPRequest
  /// The number of earlier requests to this origin.
  public var number: Int
  /// The time at which the request, with its whole body, has arrived. ``VirtualExchange/sent`` is the time at which it
  /// was sent.
  public var time: StreamInstant
  /// The request's body, as it arrived.
  public var body = Chunk()
}

/// The behavior of one server: called once for each request that reaches it, when its whole body has arrived.
///
/// The generator is the network's own, so that the same seed and the same requests give the same responses.
public typealias VirtualOrigin = (_ request: VirtualRequest, _ random: inout SeededGenerator) -> VirtualReply

/// A period during which an origin, or every origin, cannot be reached.
///
/// Requests sent during the outage fail after ``VirtualNetwork/failureLatency``; requests in progress are cut off when
/// the outage begins.
public struct Outage: Hashable, Sendable {
  /// The period from the lower bound up to, but not including, the upper bound.
  public var times: Range<StreamInstant>
  /// The host that cannot be reached, with any scheme and port; `nil` for every host.
  public var host: String?
  /// The failure of requests sent during the outage.
  public var failure: HTTPError.Kind

  public init(_ times: Range<StreamInstant>, of host: String? = nil, failure: HTTPError.Kind = .connect) {
    self.times = times
    self.host = host
    self.failure = failure
  }

  /// - Parameter host: see `comparableHost`.
  func concerns(_ host: String) -> Bool { self.host.map { $0.comparableHost == host } ?? true }
}

extension String {
  /// The host as hosts are compared: in lower case, and without the brackets of an IPv6 address.
  var comparableHost: String {
    let host = lowercased()
    return host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
  }
}
