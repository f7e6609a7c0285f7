import FeedStream
import Foundation
import ImageFeed

/// Records the relevant facts of one poll's requests and responses: whether the last request was conditional, and the
/// head of the last response.
final class PollExchange: FeedExchangeObserver {
  private var head: HTTPResponse?
  /// True if the last request had validators.
  private(set) var wasConditional = false
  /// The URL of the first request; later requests are for the feed that a web page links to.
  private var first: URL?
  private var requests = 0

  func requested(_ request: HTTPRequest) {
    requests += 1
    wasConditional = request.headers.contains { $0.name == "If-None-Match" || $0.name == "If-Modified-Since" }
    first = first ?? request.url
  }

  func responded(_ response: StreamingResponse) {
    head = HTTPResponse(
      status: response.status, headers: response.headers, body: Data(), url: response.url,
      redirects: response.redirects)
    head?.isPrivate = response.isPrivate
  }

  /// True if the last response came from a private network, and false if not; `nil` if that is unknown.
  var isFromPrivateNetwork: Bool? { head?.isPrivate }

  /// True when the server reported that nothing has changed.
  var isUnchanged: Bool { head?.status == 304 }

  /// True if the last response came from a host other than `host`.
  func isFromElsewhere(than host: String) -> Bool {
    guard let head, requests > 1 || !head.redirects.isEmpty else { return false }
    return head.url.pollingHost != host
  }

  /// True if the last response had a document and validators, false if it had none; `nil` without a document.
  var sentValidators: Bool? { head?.status == 200 ? !validators.isEmpty : nil }

  /// The validators of the last response.
  var validators: FeedValidators { head.map { FeedValidators($0.headers) } ?? FeedValidators() }

  /// The outcome of a poll, as facts for the next poll and as text. If `result` is `nil`, nothing has changed.
  ///
  /// - Parameter closed: the pause of a host to which a redirect or a link led, if that host got no request.
  func outcome(of result: FeedResult?, closed: HostPause?, now: Date) -> PollReport.Outcome {
    var facts = head.map { AnswerFacts($0, now: now) } ?? AnswerFacts(.noAnswer(wasAsked: false))
    if head?.redirects.first?.from != first { facts.movedTo = nil }
    switch result {
    case nil: return .known(facts, "status 304, not changed")
    case .success(let feed):
      switch feed.source {
      case .remote: break
      case .cache(_, _, let reason), .part(let reason):
        facts.outcome = reason.outcome
        facts.closed = reason.isOfClosedHost ? closed : nil
        // Part of a feed is shown only if nothing is saved.
        facts.isSaved = !feed.source.isPart
        return .known(facts, "\(reason)")
      }
      facts.hints = feed.images.polling
      facts.outcome = isUnchanged ? .unchanged : .changed
      return .feed(facts, status: head?.status, images: feed.images.count)
    case .failure(let error):
      facts.outcome = error.remote.outcome
      facts.closed = error.remote.isOfClosedHost ? closed : nil
      facts.isSaved = error.cache != .empty
      return .known(facts, "\(error.remote)")
    }
  }
}

extension RemoteFeedError {
  fileprivate var outcome: AnswerFacts.Outcome {
    switch self {
    case .connectivity(let error): .noAnswer(wasAsked: error.kind.reachesServer)
    case .invalidData(.status(let status)): .refused(status)
    case .invalidData(.challenge(let status)): .challenged(status)
    // Treated as if the connection had been lost in the middle of the document.
    case .invalidData(.cutOff): .noAnswer(wasAsked: true)
    case .invalidData, .unchanged: .notAFeed
    case .notDue, .notAsked: .noAnswer(wasAsked: false)
    }
  }

  /// True if the feed's host led to a host that can't be requested at the moment.
  fileprivate var isOfClosedHost: Bool {
    if case .connectivity(let error) = self { error.kind == .hostIsClosed } else { false }
  }

  var isNotDue: Bool { if case .notDue = self { true } else { false } }
}

extension HTTPError.Kind {
  /// True when the server may have seen the request.
  fileprivate var reachesServer: Bool {
    switch self {
    case .invalidRequest, .nameResolution, .connect, .tls, .resources, .closed, .privateNetwork: false
    case .timedOut(let phase): phase == .response || phase == .receive
    default: true
    }
  }
}
