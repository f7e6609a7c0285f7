import FeedStream
import Foundation

/// A client that keeps the head of the last answer for the poller, which the chain of a load has no use for.
final class PollWitness: HTTPClient {
  private let client: any HTTPClient
  private var head: HTTPResponse?
  /// True when the last request named validators.
  private(set) var wasConditional = false
  /// The address of the first request; others are those of the feed that a web page names.
  private var first: URL?
  /// An answer that has come already, for the chain of a load.
  private var held: Result<StreamingResponse, HTTPError>?
  /// The result of the save, once there is one.
  var replacement: FeedReplacement?

  init(client: any HTTPClient) { self.client = client }

  func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    note(request)
    return client.get(request)
      .handleEvents(receiveOutput: { [self] response in
        head = response
        head?.body = Data()
      })
      .eraseToAnyPublisher()
  }

  /// Sends a request and keeps its answer for the next that asks.
  ///
  /// Without operators: most polls take this way, and each operator takes several allocations.
  ///
  /// - Parameter answered: is given true when nothing has changed.
  func ask(_ request: HTTPRequest, _ answered: @escaping (Bool) -> Void) -> any Cancellable {
    note(request)
    return client.open(request).sink { [self] completion in
      guard case .failure(let error) = completion else { return }
      held = .failure(error)
      answered(false)
    } receiveValue: { [self] response in
      note(response)
      held = .success(response)
      answered(isUnchanged)
    }
  }

  func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> {
    if let held = held.take() { return held.publisher.eraseToAnyPublisher() }
    note(request)
    return client.open(request)
      .handleEvents(receiveOutput: { [self] in note($0) })
      .eraseToAnyPublisher()
  }

  private func note(_ response: StreamingResponse) {
    head = HTTPResponse(
      status: response.status, headers: response.headers, body: Data(), url: response.url,
      redirects: response.redirects)
  }

  private func note(_ request: HTTPRequest) {
    wasConditional = request.isConditional
    first = first ?? request.url
  }

  private static func changed(_ count: Int) -> String { "changed, \(count) \(count == 1 ? "image" : "images")" }

  /// True when the server said that nothing has changed.
  var isUnchanged: Bool { head?.status == 304 }

  /// The validators of the last response.
  var validators: FeedValidators { head.map { FeedValidators($0.headers) } ?? FeedValidators() }

  /// The result of a load, as far as it matters for the next one, and in words; without a result, nothing has changed.
  func facts(of result: FeedResult?, now: Date) -> (AnswerFacts, String) {
    var facts = head.map { AnswerFacts($0, now: now) } ?? AnswerFacts(.noAnswer(wasAsked: false))
    if head?.redirects.first?.from != first { facts.movedTo = nil }
    switch result {
    case nil: return (facts, "status 304, not changed")
    case .success(let feed):
      switch feed.source {
      case .remote: break
      case .cache(_, _, let reason), .part(let reason):
        facts.outcome = reason.outcome
        // A part is shown when nothing is saved.
        facts.isSaved = !feed.source.isPart
        return (facts, "\(reason)")
      }
      let isSame = replacement.map { $0 != .replaced } ?? isUnchanged
      facts.outcome = isSame ? .unchanged : .changed
      facts.hints = feed.images.polling
      let status = head.map { "status \($0.status), " } ?? ""
      return (facts, status + (isSame ? "not changed" : Self.changed(feed.images.count)))
    case .failure(let error):
      facts.outcome = error.remote.outcome
      facts.isSaved = !error.cache.isLoss
      return (facts, "\(error.remote)")
    }
  }
}

extension RemoteFeedError {
  fileprivate var outcome: AnswerFacts.Outcome {
    switch self {
    case .connectivity(let error): .noAnswer(wasAsked: error.kind.reachesServer)
    case .invalidData(.status(let status)): .refused(status)
    case .invalidData(.challenge(let status)): .challenged(status)
    // As when the connection had broken there.
    case .invalidData(.cutOff): .noAnswer(wasAsked: true)
    case .invalidData, .unchanged: .notAFeed
    case .notDue, .notAsked: .noAnswer(wasAsked: false)
    }
  }

  var isNotDue: Bool { if case .notDue = self { true } else { false } }
}

extension CacheMiss {
  /// True when nothing is saved any more.
  fileprivate var isLoss: Bool {
    switch self {
    case .empty, .expired(_, .deleted): true
    case .notAsked, .expired, .failed: false
    }
  }
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

extension HTTPRequest {
  fileprivate var isConditional: Bool {
    headers.contains { $0.name == "If-None-Match" || $0.name == "If-Modified-Since" }
  }
}
