import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import Synchronization
import Testing

@testable import HTTPTestSupport

/// The two worlds in which the specifications run.
enum WorldKind: String, CaseIterable, CustomTestStringConvertible {
  /// A loopback origin, libcurl, an event loop and a SQLite file.
  case real
  /// A scripted origin and a store in memory, under a scheduler that the test controls.
  case virtual

  var testDescription: String { rawValue }

  func make() -> any World {
    switch self {
    case .real: RealWorld()
    case .virtual: VirtualWorld()
    }
  }
}

/// A server that can be reached or not, a cache, and a wall clock that the test sets.
protocol World: AnyObject {
  var url: URL { get }
  var client: any HTTPClient { get }
  var scheduler: any LoopScheduler { get }
  var store: any StoreUnderTest { get }
  var clock: WallClock { get }
  /// The number of requests that the server has received.
  var requests: Int { get }

  func serve(_ answer: Answer)
  func disconnect()
  /// Runs all work that is due.
  func run()
}

struct Answer: Sendable {
  var status = 200
  var body: String

  static func feed(_ images: some Sequence<FeedImage>) -> Answer {
    Answer(body: String(decoding: FeedPayload.bytes(of: images), as: UTF8.self))
  }
}

/// A wall clock that is stopped until it is set.
final class WallClock: Sendable {
  private let date = Mutex(noon)

  var now: Date {
    get { date.withLock { $0 } }
    set { date.withLock { $0 = newValue } }
  }
}

extension World {
  var cache: FeedCache { FeedCache(store: store.store, on: scheduler, now: { [clock] in clock.now }) }
  var saved: LocalFeed { cache.feed(at: url) }

  func loader(_ change: (inout FeedLoader.Options) -> Void = { _ in }) -> FeedLoader {
    var options = FeedLoader.Options()
    change(&options)
    return FeedLoader(url, client: client, cache: cache, on: scheduler, options: options)
  }

  /// Subscribes, runs until nothing is left to do, and returns the outcome.
  func outcome<P: Publisher>(of publisher: P) -> Outcome<P.Output, P.Failure> {
    Outcome(of: publisher, run)
  }

  /// The feed that is currently saved for the URL.
  func savedFeed() throws -> CachedFeed? { try store.store.retrieve(for: url) }

  func save(_ feed: CachedFeed) throws { try store.store.replace(for: url, with: feed) }
}

struct Outcome<Value, Failure: Error> {
  let values: [Value]
  let completion: Subscribers.Completion<Failure>?

  /// Subscribes, and calls `run`, which does all work that is due.
  init(of publisher: some Publisher<Value, Failure>, _ run: () -> Void) {
    var (values, completion): ([Value], Subscribers.Completion<Failure>?) = ([], nil)
    let subscription = publisher.sink {
      completion = $0
    } receiveValue: {
      values.append($0)
    }
    run()
    subscription.cancel()
    (self.values, self.completion) = (values, completion)
  }

  var isFinished: Bool { if case .finished = completion { true } else { false } }
  var failure: Failure? { if case .failure(let error) = completion { error } else { nil } }
}

final class RealWorld: World {
  private final class Script: Sendable {
    let answer = Mutex(Answer(status: 503, body: ""))
    let requests = Mutex(0)
  }

  private let script = Script()
  private let origin: RawOrigin
  private let loop = EventLoop()
  let client: any HTTPClient
  let store: any StoreUnderTest = SQLiteUnderTest()
  let clock = WallClock()

  init() {
    client = CurlHTTPClient(on: loop)
    origin = RawOrigin { [script] connection in
      while true {
        try connection.readRequest()
        script.requests.withLock { $0 += 1 }
        let answer = script.answer.withLock { $0 }
        try connection.send(
          "HTTP/1.1 \(answer.status) Whatever\r\nContent-Length: \(answer.body.utf8.count)\r\n\r\n\(answer.body)")
      }
    }
  }

  deinit { origin.stop() }

  var url: URL { origin.url() }
  var scheduler: any LoopScheduler { loop }
  var requests: Int { script.requests.withLock { $0 } }

  func serve(_ answer: Answer) { script.answer.withLock { $0 = answer } }
  func disconnect() { origin.stop() }
  func run() { loop.run() }
}

final class VirtualWorld: World {
  private let time = VirtualTimeScheduler()
  private let network: VirtualNetwork
  let url = address
  let store: any StoreUnderTest
  let clock = WallClock()

  init() {
    network = VirtualNetwork(on: time)
    store = VirtualUnderTest(on: time)
    // Work on the thread pool takes time, so that its steps are separate.
    time.offloadLatency = .milliseconds(10)
    serve(Answer(status: 503, body: ""))
  }

  /// Lets ten milliseconds pass.
  func step() { time.advance(by: .milliseconds(10)) }

  var client: any HTTPClient { network }
  var scheduler: any LoopScheduler { time }
  var requests: Int { network.requests }

  func serve(_ answer: Answer) {
    network.serve("example.com") { _, _ in .answer(status: answer.status, Data(answer.body.utf8)) }
  }

  func disconnect() { network.disconnect() }
  func run() { time.run() }
}
