import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@Suite(.settled) struct StreamRulesTests {
  @Test func `an operator whose values are objects keeps the rules`() {
    final class Box {}
    let summary = StreamRules.verify(traits: .passesStrays) { $0.map { _ in Box() } }
    #expect(summary.broken == nil)
  }

  @Test func `an operator that keeps the rules passes`() {
    let summary = StreamRules.verify { $0.removeDuplicates() }
    #expect(summary.broken == nil)
    #expect(summary.scripts > 500)
  }

  @Test(arguments: Fault.thatCanBeRun)
  func `each fault is reported as the rule that it breaks`(_ fault: Fault) {
    var summary: StreamRules.Summary?
    let failures = failures {
      summary = StreamRules.verify("faulty()") { Faulty(upstream: $0, fault: fault, time: $1) }
    }
    #expect(failures.map(\.line) == [#line - 2])
    #expect(summary?.broken == fault.rule)
    #expect(failures.first?.message.hasPrefix("faulty() breaks rule \(fault.rule.number), ") ?? false)
    if fault == .holdsSubscriber {
      #expect(
        failures.first?.message.contains("(docs/Troubleshooting.md#a-subscriber-is-still-retained)") ?? false,
        "\(failures)")
    }
  }

  @Test func `an operator that never completes passes with the trait .isEndless`() {
    let summary = StreamRules.verify(traits: .isEndless) { Faulty(upstream: $0, fault: .forgetsCompletion, time: $1) }
    #expect(summary.broken == nil)
  }

  @Test func `delivered values are compared with the expected ones`() {
    var summary: StreamRules.Summary?
    let failures = failures {
      summary = StreamRules.verify("distinct", expects: stated) { $0.filter { $0 != 2 }.distinct() }
    }
    #expect(summary?.broken == .nothingLostInSilence)
    #expect(
      failures.first?.message.hasPrefix(
        "distinct breaks rule 8, nothing is dropped silently: the stream completed after [0, 1], but [0, 1, 2] was due."
      )
        ?? false)
    #expect(StreamRules.verify("distinct", expects: stated) { $0.distinct() }.broken == nil)
  }

  private struct Job { let run: () -> Void }

  @Test func `a delivered value that only looks like the expected one is explained`() {
    let failures = failures {
      StreamRules.verify("map", traits: .passesStrays, expects: jobs) { $0.map { _ in Job {} } }
      StreamRules.verify("map", joining: 1, expects: joinedJobs) { $0[0].map { _ in Job {} } }
    }
    #expect(failures.count == 2)
    #expect(failures.allSatisfy { $0.message.contains(".\nValues that look the same contain different objects or") })
  }

  private func jobs(_ given: Given) -> Due<Job> { .values(given.values.map { _ in Job {} }) }
  private func joinedJobs(_ history: [JoinEvent]) -> (values: [Job], ending: Given.Ending?) {
    (history.compactMap(\.value).map { _ in Job {} }, history.ending(finishedWhen: history.hasEnded(0)))
  }

  @Test func `interleaved values are compared lane by lane`() {
    #expect(StreamRules.verify("merge", expects: lanes) { $0.merge(with: $0) }.broken == nil)
    let failures = failures {
      _ = StreamRules.verify("merge", expects: reversedLanes) { $0.merge(with: $0) }
    }
    #expect(failures.count == 1)
  }

  private func stated(_ given: Given) -> Due<Int> { .values(given.values) }
  private func lanes(_ given: Given) -> Due<Int> { .interleaved([given.values(of: 1), given.values]) }
  private func reversedLanes(_ given: Given) -> Due<Int> { .interleaved([given.values, given.values.reversed()]) }

  @Test func `the shortest script that breaks a rule is reported`() {
    let failures = failures {
      StreamRules.verify("faulty()") { Faulty(upstream: $0, fault: .repeatsValues, time: $1) }
    }
    #expect(
      failures.first?.message == """
        faulty() breaks rule 4, never more than requested: the value 0 was delivered without demand; \
        requested 1, received 2.
        The shortest failing script: a synchronous source, 1 value, then it finishes; demand: 1, \
        then unlimited at the end; \
        never cancelled.
                  0s
        received  (00|)
        downstream: requested 1, received 2
        upstream:   subscribed at 0s, requested 1 at 0s, received 1, ended at 0s
        """)
  }

  @Test func `excess values are found even when an operator filters most values`() {
    let failures = failures {
      // Two of four values remain, so that only a demand of one is exceeded.
      _ = StreamRules.verify("even") { Greedy(upstream: $0.filter { $0 % 2 == 0 }) }
    }
    #expect(failures.first?.message.hasPrefix("even breaks rule 4, ") ?? false, "\(failures)")
    #expect(failures.first?.message.contains("requested unlimited at 0s, returned demand for 1 more") ?? true)
  }

  @Test(.timeLimit(.minutes(5))) func `an operator that works endlessly at one instant fails, on the test's line`() {
    func again(_ time: VirtualTimeScheduler) { time.schedule { again(time) } }
    let failures = failures {
      _ = StreamRules.verify("busy") { upstream, time in upstream.handleEvents(receiveOutput: { _ in again(time) }) }
    }
    #expect(failures.map(\.line) == [#line - 2])
    #expect(failures[0].message.contains("a later event never arrives: 5000 pieces of work ran at 0s"))
    #expect(failures[0].message.contains("StreamRulesTests.swift:\(#line - 6)"))
    #expect(failures[0].message.contains(":\(#line - 7).\nThe shortest failing script"))
    #expect(!failures[0].message.contains("workLimit"))
  }

  @Test func `a failure that overtakes values is explained, with the trait to use`() {
    let failures = failures { _ = StreamRules.verify("flatMap") { $0.flatMap { Just($0) } } }
    #expect(failures.first?.message.contains("the failure came before values that waited for demand") ?? false)
    #expect(failures.first?.message.hasSuffix("traits: .failsAtOnce") ?? false)
    #expect(StreamRules.verify(traits: .failsAtOnce) { $0.flatMap { Just($0) } }.broken == nil)
  }

  @Test func `faults that occur in only one order of work are found`() {
    var summary: StreamRules.Summary?
    let failures = failures {
      summary = StreamRules.verify("bunching()") { Bunching(upstream: $0, time: $1) }
    }
    #expect(summary?.broken == .oneEnding)
    #expect(failures.first?.message.contains("a scheduled source, 1 value") ?? false)
    #expect(failures.first?.message.contains("; order: .seeded(") ?? false)
  }

  @Test func `an operator that passes stray events is explained, with the trait to use`() {
    let failures = failures { StreamRules.verify { $0.map { $0 } } }
    #expect(failures.first?.message.contains("use traits: .passesStrays") ?? false)
    #expect(StreamRules.verify(traits: .passesStrays) { $0.map { $0 } }.broken == nil)
  }

  @Test func `sharing upstream excuses only an upstream that continues after a cancellation or an early completion`() {
    func broken(_ fault: Fault, limit: Int = .max) -> StreamRule? {
      var summary: StreamRules.Summary?
      _ = failures {
        summary = StreamRules.verify(traits: .sharesUpstream) {
          Faulty(upstream: $0, fault: fault, time: $1).prefix(limit)
        }
      }
      return summary?.broken
    }
    #expect(broken(.asksForNone) == .demandAddsUp)
    #expect(broken(.holdsUpstream) == .everythingReleased)
    #expect(broken(.forgetsToCancelUpstream) == nil)
    #expect(broken(.forgetsToCancelUpstream, limit: 1) == nil)
  }

  @Test func `the table of rules names every rule`() {
    let lines = StreamRule.table.split(separator: "\n")
    #expect(lines.count == StreamRule.allCases.count + 2)
    #expect(lines[2].hasPrefix("| 1 | A stream lives on one thread |"))
  }
}

/// A defect, and the rule that it breaks.
enum Fault: CaseIterable {
  case repeatsValues, completesTwice, forgetsToCancelUpstream, deliversAfterCancel, swallowsEveryThird, asksForNone
  case passesSecondSubscription, holdsUpstream, holdsSubscriber, recurses, swapsUnderDemand, keepsScheduling,
    leavesATimer, forgetsFailure, forgetsCompletion, onlyCancelsUpstream, neverSubscribes

  /// Under the address sanitizer, stack frames are several times as large, and a deliberate recursion overflows the
  /// stack before the kit detects it.
  static var thatCanBeRun: [Fault] {
    Sanitizer.current == .address
      ? allCases.filter { $0 != .recurses } : Array(allCases)
  }

  var rule: StreamRule {
    switch self {
    case .repeatsValues: .neverMoreThanAsked
    case .completesTwice: .oneEnding
    case .forgetsToCancelUpstream, .deliversAfterCancel: .cancelIsFinal
    case .swallowsEveryThird, .forgetsFailure, .forgetsCompletion, .onlyCancelsUpstream, .neverSubscribes:
      .nothingLostInSilence
    case .asksForNone: .demandAddsUp
    case .passesSecondSubscription: .oneSubscription
    case .holdsUpstream, .holdsSubscriber, .keepsScheduling, .leavesATimer: .everythingReleased
    case .recurses: .flatStack
    case .swapsUnderDemand: .orderIsKept
    }
  }
}

/// A publisher that passes everything on, with one defect.
private struct Faulty<Upstream: Publisher>: Publisher where Upstream.Output == Int {
  typealias Output = Int
  typealias Failure = Upstream.Failure
  let upstream: Upstream
  let fault: Fault
  let time: VirtualTimeScheduler

  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Failure {
    let stage = Stage(fault, time, subscriber)
    if fault == .neverSubscribes { subscriber.receive(subscription: stage) } else { upstream.subscribe(stage) }
  }

  final class Stage<Down: Subscriber>: Subscriber, Subscription where Down.Input == Int, Down.Failure == Failure {
    typealias Input = Int
    typealias Failure = Down.Failure
    let fault: Fault
    let time: VirtualTimeScheduler
    var down: Down?
    var up: (any Subscription)?
    var held: AnyObject?
    var count = 0
    var isSubscribed = false
    var timer: (any Cancellable)?

    init(_ fault: Fault, _ time: VirtualTimeScheduler, _ down: Down) {
      self.fault = fault
      self.time = time
      self.down = down
    }

    func receive(subscription: any Subscription) {
      guard !isSubscribed || fault == .passesSecondSubscription else { return subscription.cancel() }
      isSubscribed = true
      up = subscription
      down?.receive(subscription: self)
    }

    func receive(_ input: Int) -> Subscribers.Demand {
      guard up != nil, let down else { return .none }
      count += 1
      switch fault {
      case .repeatsValues:
        let demand = down.receive(input)
        return up == nil ? .none : demand + down.receive(input)
      case .swallowsEveryThird where count.isMultiple(of: 3):
        return .none
      case .recurses:
        queue.append(input)
        pull(.none)
        return .none
      case .onlyCancelsUpstream where count == 2:
        // As `prefix(2)`, but without its completion.
        _ = down.receive(input)
        up?.cancel()
        up = nil
        return .none
      default:
        return down.receive(fault == .swapsUnderDemand && asked != .unlimited ? -input : input)
      }
    }

    func receive(completion: Subscribers.Completion<Failure>) {
      guard up != nil, let down else { return }
      if fault == .forgetsCompletion { return }
      if fault == .forgetsFailure, case .failure = completion { return }
      if fault == .recurses {
        ending = completion
        return pull(.none)
      }
      if fault == .holdsUpstream { held = up as AnyObject }
      if fault == .holdsUpstream { Keeper.keep(self, until: time) }
      up = nil
      self.down = fault == .holdsSubscriber ? down : nil
      if fault == .holdsSubscriber { held = self }
      if fault == .keepsScheduling { repeatForever() }
      if fault == .leavesATimer { time.schedule(after: time.now.advanced(by: 1)) {} }
      if fault == .deliversAfterCancel {
        return time.schedule { down.receive(completion: completion) }
      }
      down.receive(completion: completion)
      if fault == .completesTwice { down.receive(completion: completion) }
    }

    var queue: [Int] = []
    var credit = Subscribers.Demand.none
    var ending: Subscribers.Completion<Failure>?

    func pull(_ demand: Subscribers.Demand) {
      credit += demand
      while credit > .none, up != nil, !queue.isEmpty {
        credit -= 1
        pull(down?.receive(queue.removeFirst()) ?? .none)
      }
      guard queue.isEmpty, up != nil, let ending else { return }
      up = nil
      let down = self.down
      self.down = nil
      down?.receive(completion: ending)
    }

    func repeatForever() { time.schedule(after: time.now.advanced(by: 1)) { self.repeatForever() } }

    var asked = Subscribers.Demand.none

    func request(_ demand: Subscribers.Demand) {
      if fault == .recurses {
        if asked == .none { up?.request(.unlimited) }
        asked = .unlimited
        return pull(demand)
      }
      asked += demand
      up?.request(demand)
      if fault == .asksForNone { up?.request(.none) }
    }

    func cancel() {
      let up = self.up
      self.up = nil
      if fault != .holdsSubscriber { down = nil }
      if fault != .forgetsToCancelUpstream { up?.cancel() }
    }
  }
}

/// Keeps an object alive as long as a scheduler.
private enum Keeper {
  static func keep(_ object: AnyObject, until time: VirtualTimeScheduler) {
    time.schedule(after: StreamInstant(nanoseconds: .max)) { withExtendedLifetime(object) {} }
  }
}

/// Delivers everything at the next hundredth of a second, and relies on work for the same instant running in the order
/// in which it was scheduled.
private struct Bunching<Upstream: Publisher>: Publisher {
  typealias Output = Upstream.Output
  typealias Failure = Upstream.Failure
  let upstream: Upstream
  let time: VirtualTimeScheduler

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    upstream.subscribe(Stage(subscriber, time))
  }

  final class Stage<Down: Subscriber>: Subscriber, Subscription {
    typealias Input = Down.Input
    typealias Failure = Down.Failure
    private var down: Down?
    private var up: (any Subscription)?
    private var isSubscribed = false
    private var hasEnded = false
    private let time: VirtualTimeScheduler
    private var works: [any Cancellable] = []

    init(_ down: Down, _ time: VirtualTimeScheduler) {
      self.down = down
      self.time = time
    }

    private func later(_ action: @escaping (Down) -> Void) {
      let hundredth: Int64 = 10_000_000
      let instant = StreamInstant(nanoseconds: (time.now.nanoseconds / hundredth + 1) * hundredth)
      let work = time.scheduleOnce(after: instant) { [self] in if let down { action(down) } }
      if let work { works.append(work) }
    }

    func receive(subscription: any Subscription) {
      guard !isSubscribed else { return subscription.cancel() }
      isSubscribed = true
      up = subscription
      down?.receive(subscription: self)
    }

    func receive(_ input: Input) -> Subscribers.Demand {
      later { [self] down in
        let more = down.receive(input)
        if more > .none { up?.request(more) }
      }
      return .none
    }

    func receive(completion: Subscribers.Completion<Failure>) {
      up = nil
      later { [self] down in
        hasEnded = true
        down.receive(completion: completion)
      }
    }

    func request(_ demand: Subscribers.Demand) { up?.request(demand) }

    func cancel() {
      guard !hasEnded else { return }
      down = nil
      for work in works { work.cancel() }
      let up = self.up
      self.up = nil
      up?.cancel()
    }
  }
}

/// Requests everything from upstream, regardless of demand.
private struct Greedy<Upstream: Publisher>: Publisher {
  typealias Output = Upstream.Output
  typealias Failure = Upstream.Failure
  let upstream: Upstream

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    upstream.subscribe(
      AnySubscriber(
        receiveSubscription: { subscriber.receive(subscription: Greed(upstream: $0)) },
        receiveValue: { subscriber.receive($0) }, receiveCompletion: { subscriber.receive(completion: $0) }))
  }

  private final class Greed: Subscription {
    private var upstream: (any Subscription)?
    init(upstream: any Subscription) { self.upstream = upstream }
    func request(_ demand: Subscribers.Demand) { upstream?.request(.unlimited) }
    func cancel() {
      upstream?.cancel()
      upstream = nil
    }
  }
}
