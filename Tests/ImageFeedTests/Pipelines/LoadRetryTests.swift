import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

/// The failures of a load after which another request is made.
@Suite(.settled) struct LoadRetryTests {
  /// Loads with up to three retries, after pauses of 1, 2 and 4 s.
  ///
  /// - Returns: the outcome, and the time of each request.
  private func load(
    _ replies: [VirtualReply], _ change: (inout FeedLoader.Options) -> Void = { _ in }
  ) -> (Outcome<Feed, FeedError>, sent: [Duration]) {
    let time = VirtualTimeScheduler()
    let network = VirtualNetwork(on: time)
    network.serve("example.com") { request, _ in replies[min(request.number, replies.count - 1)] }
    var options = FeedLoader.Options()
    options.retry = .exponential(from: .seconds(1), limit: 3)
    change(&options)
    let cache = FeedCache(store: InMemoryFeedStore(), on: time, now: { noon })
    let loader = FeedLoader(address, client: network, cache: cache, on: time, options: options)
    return (Outcome(of: loader.load()) { time.run() }, network.log.map { .nanoseconds($0.sent.nanoseconds) })
  }

  private let feed = VirtualReply.answer(FeedPayload.bytes(of: makeFeed(2).images))
  private let lost = VirtualReply(after: .milliseconds(20), .drop(.receive))

  @Test func `a lost connection is retried after pauses, until the feed arrives`() {
    let (outcome, sent) = load([lost, lost, feed])
    #expect(outcome.values.map(\.source) == [.remote])
    #expect(outcome.isFinished)
    // Each request takes 20 ms to fail.
    #expect(sent == [.zero, .milliseconds(1_020), .milliseconds(3_040)])
  }

  @Test func `retries end at their limit with the last failure`() {
    let (outcome, sent) = load([lost])
    guard case .connectivity(let error)? = outcome.failure?.remote else {
      Issue.record("\(outcome)")
      return
    }
    #expect(error.kind == .receive)
    #expect(sent.count == 4)
  }

  @Test(arguments: [200, 404, 500, 503]) func `a response that isn't a feed isn't retried`(status: Int) {
    let (outcome, sent) = load([.answer(status: status, Data("no feed".utf8)), feed])
    #expect(outcome.values == [] && outcome.failure != nil)
    #expect(sent.count == 1)
  }

  @Test(arguments: [HTTPError.Kind.tls, .tooLarge(limit: 1), .redirectRefused, .notHTTP, .encoding])
  func `an error that would occur again isn't retried`(kind: HTTPError.Kind) {
    let (_, sent) = load([VirtualReply(after: .milliseconds(20), .drop(kind)), feed])
    #expect(sent.count == 1)
  }

  @Test func `without a retry policy, a failed load isn't retried`() {
    let (outcome, sent) = load([lost, feed]) { $0.retry = FeedLoader.Options().retry }
    #expect(outcome.failure != nil)
    #expect(sent.count == 1)
  }
}
