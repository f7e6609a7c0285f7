public import FeedStream
public import FeedStreamTesting
public import Foundation
public import ImageFeed

/// What an origin does with a request: when, and what.
public struct VirtualReply: Sendable {
  /// How a request ends, as the origin would have it.
  public enum Ending: Sendable {
    /// The whole answer has arrived.
    case answer(status: Int, headers: HTTPHeaders, body: Data)
    /// The connection is lost.
    case drop(HTTPError.Kind)
    /// Nothing ever comes; the request's deadline ends it.
    case silence
  }

  /// How long after the request was sent it ends.
  public var latency: StreamInstant.Stride
  public var ending: Ending

  /// - Precondition: `latency` is zero or more.
  public init(after latency: StreamInstant.Stride, _ ending: Ending) {
    precondition(
      latency.nanoseconds >= 0,
      "VirtualReply: an origin cannot answer \(latency) after the request, which is before it; use zero or more")
    self.latency = latency
    self.ending = ending
  }

  /// An answer; 200 unless said otherwise.
  public static func answer(
    status: Int = 200, headers: HTTPHeaders = [], _ body: Data, after latency: StreamInstant.Stride = .milliseconds(80)
  ) -> VirtualReply {
    VirtualReply(after: latency, .answer(status: status, headers: headers, body: body))
  }

  /// An answer of `images`, in the feed's own format.
  public static func feed(
    _ images: some Sequence<FeedImage>, after latency: StreamInstant.Stride = .milliseconds(80)
  ) -> VirtualReply {
    .answer(FeedPayload.bytes(of: images), after: latency)
  }

  /// A connection that is cut before the answer is complete.
  public static func drop(
    _ kind: HTTPError.Kind = .receive, after latency: StreamInstant.Stride = .milliseconds(80)
  ) -> VirtualReply {
    VirtualReply(after: latency, .drop(kind))
  }

  /// No answer, ever.
  public static let silence = VirtualReply(after: 0, .silence)
}

/// What a script decides by.
public struct VirtualRequest: Sendable {
  public var request: HTTPRequest
  /// How many requests this origin was sent before.
  public var number: Int
  /// When it was sent.
  public var time: StreamInstant
}

/// What one server does: asked once for each request that reaches it, at the moment it is sent.
///
/// The generator is the network's own, so that the same seed and the same requests give the same answers.
public typealias VirtualOrigin = (_ request: VirtualRequest, _ random: inout SeededGenerator) -> VirtualReply

/// A time in which an origin, or every origin, cannot be reached.
///
/// Requests sent in it fail immediately; those under way when it begins are cut then.
public struct Outage: Hashable, Sendable {
  /// From the first instant up to, and without, the second.
  public var times: Range<StreamInstant>
  /// The host that is away; every one when `nil`.
  public var host: String?
  /// What a request sent meanwhile fails with.
  public var failure: HTTPError.Kind

  public init(_ times: Range<StreamInstant>, of host: String? = nil, failure: HTTPError.Kind = .connect) {
    self.times = times
    self.host = host
    self.failure = failure
  }

  func concerns(_ host: String) -> Bool { self.host.map { $0 == host } ?? true }
}
