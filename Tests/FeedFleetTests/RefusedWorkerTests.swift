import FeedFleet
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeedTesting
import TestSupport
import Testing

/// A worker that an engine refuses says so, and polls again as soon as it may.
@Suite(.settled, .timeLimit(.minutes(5))) struct RefusedWorkerTests {
  private struct Refusal: Error, CustomStringConvertible {
    let description: String
  }

  /// Hands every call to a fleet in memory, except those that it refuses.
  private final class RefusingQueue: WorkQueue {
    let fleet: MemoryFleet
    var refusal: FleetError?
    /// A damaged key that each grant reports.
    var problem: FleetError?

    init(_ fleet: MemoryFleet) { self.fleet = fleet }

    private func unlessRefused<Value>(_ call: AnyPublisher<Value, FleetError>) -> AnyPublisher<Value, FleetError> {
      if let refusal { Fail(error: refusal).eraseToAnyPublisher() } else { call }
    }

    func claim(_ wish: WorkClaim) -> AnyPublisher<WorkGrant, FleetError> {
      unlessRefused(fleet.claim(wish)).map { [problem] grant in
        var grant = grant
        if let problem { grant.problems.append(problem) }
        return grant
      }
      .eraseToAnyPublisher()
    }
    func extend(_ lease: WorkLease, by duration: Duration) -> AnyPublisher<Bool, FleetError> {
      fleet.extend(lease, by: duration)
    }
    func complete(_ completion: WorkCompletion) -> AnyPublisher<WorkVerdict, FleetError> { fleet.complete(completion) }
    func visit(
      _ host: String, with lease: WorkLease, by worker: String, for duration: Duration
    ) -> AnyPublisher<WorkVisit, FleetError> { fleet.visit(host, with: lease, by: worker, for: duration) }
    func endVisit(
      of host: String, with lease: WorkLease, gap: Duration, pause: HostPause?
    ) -> AnyPublisher<Void, FleetError> { fleet.endVisit(of: host, with: lease, gap: gap, pause: pause) }
    func add(_ feeds: [NewFeed]) -> AnyPublisher<Int, FleetError> { fleet.add(feeds) }
    func remove(_ address: URL) -> AnyPublisher<Bool, FleetError> { fleet.remove(address) }
    func pause(_ host: String, for duration: Duration?, because reason: String) -> AnyPublisher<Void, FleetError> {
      fleet.pause(host, for: duration, because: reason)
    }
    func resume(_ host: String) -> AnyPublisher<Bool, FleetError> { fleet.resume(host) }
  }

  private let time = VirtualTimeScheduler()
  private let refusal = FleetError.engine(Refusal(description: "NOPERM"), isTemporary: false)

  /// Runs a worker for one feed, which is due every five minutes.
  private func withWorker(
    _ options: FleetWorker.Options = FleetWorker.Options(),
    _ body: (_ queue: RefusingQueue, _ polls: () -> Int, _ reported: () -> [FleetError?]) -> Void
  ) {
    let network = VirtualNetwork(on: time)
    network.serve("a.example") { request, _ in .feed([FeedImage(id: UUID(), url: request.request.url)], after: .zero) }
    let queue = RefusingQueue(
      MemoryFleet(on: time) { Date(timeIntervalSince1970: 1_800_000_000 + Double(time.now.nanoseconds) / 1e9) })
    var (polls, reported) = (0, [FleetError?]())
    var options = options
    (options.interval, options.seed) = (.seconds(300), 1)
    options.report = { reported.append($0) }
    let adding = queue.add([NewFeed(URL(feed: 1))]).sink { _ in
    } receiveValue: { _ in
    }
    let worker = FleetWorker(queue, client: network, on: time, options: options).sink { _ in polls += 1 }
    time.advance(by: .seconds(2))
    body(queue, { polls }, { reported })
    adding.cancel()
    worker.cancel()
    time.advance(by: .seconds(60))
  }

  @Test func `a worker reports refused claims, tries again, and reports that it polls again`() {
    withWorker { queue, polls, reported in
      #expect(polls() == 1)
      #expect(reported() == [nil], "it works")
      queue.refusal = refusal
      time.advance(by: .seconds(600))
      #expect(polls() == 1)
      let refused = reported().dropFirst()
      #expect(refused.count > 50, "at least every ten seconds")
      #expect(refused.allSatisfy { $0 == refusal })
      queue.refusal = nil
      time.advance(by: .seconds(20))
      #expect(polls() == 2)
      #expect(reported().last == .some(nil), "it works again")
    }
  }

  @Test func `a worker reports a refused heartbeat, though its claims are granted`() {
    var beats = 0
    var options = FleetWorker.Options()
    options.beat = { [refusal] _ in
      beats += 1
      return beats > 1 ? Fail(error: refusal).eraseToAnyPublisher() : Empty().eraseToAnyPublisher()
    }
    withWorker(options) { _, polls, reported in
      time.advance(by: .seconds(600))
      #expect(polls() >= 2, "it polls all the same")
      #expect(beats >= 100, "every five seconds")
      #expect(reported().filter { $0 == refusal }.count == beats - 1)
    }
  }

  /// The closures of the options that may cancel a worker.
  enum Closure: CaseIterable { case report, trace, beat }

  @Test(arguments: Closure.allCases)
  func `a worker that a closure of its options cancels sends nothing more`(_ closure: Closure) {
    let network = VirtualNetwork(on: time)
    network.serve("a.example") { request, _ in .feed([FeedImage(id: UUID(), url: request.request.url)], after: .zero) }
    let queue = RefusingQueue(
      MemoryFleet(on: time) { Date(timeIntervalSince1970: 1_800_000_000 + Double(time.now.nanoseconds) / 1e9) })
    let adding = queue.add([NewFeed(URL(feed: 1))]).sink { _ in
    } receiveValue: { _ in
    }
    // The subscription outlives its cancellation.
    var subscription: (any Subscription)?
    var (beats, ended) = (0, [FleetWorker.Report?]())
    var options = FleetWorker.Options()
    switch closure {
    case .report:
      queue.problem = refusal
      options.report = { if $0 != nil { subscription?.cancel() } }
    case .trace:
      options.trace = { _ in
        subscription?.cancel()
        return PollTrace(end: { ended.append($0) })
      }
    case .beat:
      options.beat = { _ in
        beats += 1
        subscription?.cancel()
        return Empty().eraseToAnyPublisher()
      }
    }
    FleetWorker(queue, client: network, on: time, options: options).subscribe(
      AnySubscriber(
        receiveSubscription: {
          subscription = $0
          $0.request(.unlimited)
        },
        receiveValue: { _ in .none }, receiveCompletion: { _ in }))
    time.advance(by: .seconds(60))
    #expect(network.requests == 0)
    #expect(beats == (closure == .beat ? 1 : 0))
    #expect(ended == (closure == .trace ? [nil] : []))
    adding.cancel()
    subscription = nil
  }

  @Test func `a worker whose name isn't one word traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let time = VirtualTimeScheduler()
      var options = FleetWorker.Options()
      options.name = "my worker"
      _ = FleetWorker(MemoryFleet(on: time) { Date() }, client: VirtualNetwork(on: time), on: time, options: options)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("\"my worker\" isn't one word"))
  }

  @Test func `a worker leaves heartbeats that fail for a moment to its claims to report`() {
    let moment = FleetError.engine(Refusal(description: "LOADING"), isTemporary: true)
    var options = FleetWorker.Options()
    options.beat = { _ in Fail(error: moment).eraseToAnyPublisher() }
    withWorker(options) { _, _, reported in
      time.advance(by: .seconds(60))
      #expect(reported() == [nil])
    }
  }
}
