import FeedFleet
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import TestSupport
import Testing

/// A gateway receives each change of a fleet, with the change's own id.
@Suite(.settled, .timeLimit(.minutes(5))) struct FollowerTests {
  private let a = URL(feed: 1)
  private let b = URL(feed: 2)

  /// A gateway that requests events one by one, unless it is stopped.
  private final class Reader {
    var events: [FleetFollower.Event] = []
    var isStopped = false { didSet { if !isStopped { subscription?.request(.max(1)) } } }
    /// Returns true for an event on which the gateway cancels.
    var isLast: (FleetFollower.Event) -> Bool = { _ in false }
    private var subscription: (any Subscription)?
    var isCancelled: Bool { subscription == nil }

    func follow(_ follower: FleetFollower) {
      follower.subscribe(
        AnySubscriber(
          receiveSubscription: { [unowned self] in
            subscription = $0
            $0.request(.max(1))
          },
          receiveValue: { [unowned self] event in
            events.append(event)
            if isLast(event) { cancel() }
            return isStopped ? .none : .max(1)
          }, receiveCompletion: { _ in }))
    }

    func cancel() { subscription.take()?.cancel() }

    /// The announced versions in seconds, each with the version of the feed that came with it, or `-` without one.
    var updates: [String] {
      events.compactMap {
        guard case .update(let feed, let logged) = $0 else { return nil }
        let shown = feed?.version.map { "\($0.microseconds / 1_000_000)" } ?? "-"
        return "\(logged.update.version.microseconds / 1_000_000):\(shown)"
      }
    }
    var lists: [FleetList] { events.compactMap { if case .list(let list) = $0 { list } else { nil } } }
    var passed: [UpdateCursor] { events.compactMap { if case .passed(let cursor) = $0 { cursor } else { nil } } }
    var aways: Int { events.filter { if case .away = $0 { true } else { false } }.count }
    var backs: Int { events.filter { if case .back = $0 { true } else { false } }.count }
    var resets: Int { events.filter { if case .snapshot(let one) = $0 { one.isReset } else { false } }.count }
  }

  /// An engine that replies at once, and whose feeds all have the version of second 2.
  private final class PromptEngine: UpdateLog, FeedLibrary {
    private var entries: [LoggedUpdate] = []
    /// The failure of reading feeds after the snapshot.
    var refusal: FleetError?
    /// The failure of reading the list after it has changed.
    var listRefusal: FleetError? { didSet { list += 1 } }
    private var list = 1
    private(set) var reads = 0

    init(_ updates: [(address: URL, seconds: Int64)]) {
      for update in updates { log(update.address, at: update.seconds) }
    }

    /// Readers find the entry when they begin again.
    func log(_ address: URL, at seconds: Int64) {
      let update = FeedUpdate(address: address, version: FeedVersion(microseconds: seconds * 1_000_000))
      entries.append(LoggedUpdate(cursor: UpdateCursor("\(entries.count + 1)"), update: update))
    }

    private func reply<Value>(_ value: Value) -> AnyPublisher<Value, FleetError> {
      Just(value).setFailureType(to: FleetError.self).eraseToAnyPublisher()
    }

    func append(_: FeedUpdate) -> AnyPublisher<UpdateCursor, FleetError> { end() }
    func end() -> AnyPublisher<UpdateCursor, FleetError> { reply(UpdateCursor("0")) }
    func latest(_: Int) -> AnyPublisher<[LoggedUpdate], FleetError> { reply([]) }
    func holds(_: UpdateCursor) -> AnyPublisher<Bool, FleetError> { reply(true) }
    func addresses() -> AnyPublisher<[URL], FleetError> { reply([]) }
    func edition() -> AnyPublisher<String, FleetError> { reply("\(list)") }

    func updates(after cursor: UpdateCursor) -> AnyPublisher<LoggedUpdate, FleetError> {
      entries.dropFirst(Int(cursor.description) ?? 0).publisher.setFailureType(to: FleetError.self)
        .append(Empty<LoggedUpdate, FleetError>(completeImmediately: false)).eraseToAnyPublisher()
    }

    func feeds(_ addresses: [URL], withImages: Bool) -> AnyPublisher<[FleetFeed?], FleetError> {
      if let listRefusal, !withImages { return Fail(error: listRefusal).eraseToAnyPublisher() }
      reads += 1
      if let refusal, reads > 1 { return Fail(error: refusal).eraseToAnyPublisher() }
      return reply(
        addresses.map {
          FleetFeed(
            address: $0, record: FeedRecord(health: FeedHealth(address: $0)),
            version: FeedVersion(microseconds: 2_000_000), document: nil)
        })
    }
  }

  private func withReader(
    _ addresses: [URL]? = nil, most: Int = 1000,
    _ body: (VirtualTimeScheduler, MemoryFleet, Reader, (Double, URL) -> Void) throws -> Void
  ) rethrows {
    let time = VirtualTimeScheduler()
    let engine = MemoryFleet(on: time, latency: .milliseconds(2)) {
      Date(timeIntervalSince1970: 1_800_000_000 + Double(time.now.nanoseconds) / 1e9)
    }
    func wait<Value>(_ call: AnyPublisher<Value, FleetError>) -> Value? {
      var value: Value?
      let running = call.sink { _ in
      } receiveValue: {
        value = $0
      }
      time.advance(by: .milliseconds(10))
      running.cancel()
      return value
    }
    #expect(wait(engine.add([NewFeed(a), NewFeed(b)])) == 2)
    let reader = Reader()
    reader.follow(FleetFollower(addresses, in: engine, most: most, on: time))
    time.advance(by: .milliseconds(100))
    try body(time, engine, reader) { seconds, address in
      // Both feeds are on one host.
      while let lease = wait(engine.claim(WorkClaim(worker: "w", count: 1, lease: .seconds(60))))?.leases.first {
        let isWanted = lease.address == address
        let due = Date(timeIntervalSince1970: isWanted ? 0 : 1)
        let completion = lease.completion(isWanted ? "\(seconds)" : nil, at: seconds, due: due)
        _ = wait(engine.complete(completion))
        if isWanted { break }
        // The other one comes first next time.
        _ = wait(engine.remove(lease.address))
        _ = wait(engine.add([NewFeed(lease.address, after: .seconds(1))]))
      }
    }
    reader.cancel()
    time.advance(by: .seconds(60))
  }

  @Test func `a gateway that was paused announces each missed entry, with its own id`() {
    withReader([a]) { time, engine, reader, save in
      save(1, a)
      reader.isStopped = true
      time.advance(by: .milliseconds(50))
      for seconds in [2.0, 3, 4] { save(seconds, a) }
      reader.isStopped = false
      time.advance(by: .seconds(1))
      // The feed is shown in its current state, and every entry is announced, for clients that have received the one
      // before it.
      #expect(reader.updates.map { $0.split(separator: ":")[0] } == ["1", "2", "3", "4"])
      #expect(reader.updates.last?.hasSuffix("-") == true || reader.updates.last == "4:4")
      #expect(reader.resets == 0)
    }
  }

  @Test func `an entry contained in a snapshot is announced too`() {
    withReader([a]) { time, engine, reader, save in
      save(1, a)
      let young = Reader()
      young.follow(FleetFollower([a], in: engine, on: time))
      // The log has been read, but the feeds haven't: an update that is written now is in the snapshot, and follows its
      // position, too.
      time.advance(by: .milliseconds(7))
      save(2, a)
      time.advance(by: .seconds(1))
      guard case .snapshot(let snapshot)? = young.events.first else {
        Issue.record("no snapshot")
        return
      }
      let told = snapshot.history.map { $0.update.version.microseconds / 1_000_000 }
      #expect(told + young.updates.compactMap { Int64($0.prefix { $0 != ":" }) } == [1, 2])
      young.cancel()
    }
  }

  @Test func `an entry of a feed that was removed meanwhile is announced, as by other gateways`() {
    withReader { time, engine, reader, save in
      save(1, a)
      time.advance(by: .seconds(1))
      reader.isStopped = true
      time.advance(by: .milliseconds(50))
      for seconds in [2.0, 3] { save(seconds, a) }
      let removal = engine.remove(a).sink { _ in
      } receiveValue: { _ in
      }
      time.advance(by: .milliseconds(50))
      removal.cancel()
      reader.isStopped = false
      time.advance(by: .seconds(1))
      #expect(reader.updates.map { $0.split(separator: ":")[0] } == ["1", "2", "3"])
      #expect(reader.resets == 0)
    }
  }

  @Test func `adding and removing feeds changes the follower's list`() {
    withReader(most: 2) { time, engine, reader, save in
      save(5, a)
      let more = engine.add([NewFeed(URL(feed: 3)), NewFeed(URL(feed: 0))]).sink { _ in
      } receiveValue: { _ in
      }
      time.advance(by: .seconds(12))
      more.cancel()
      #expect(reader.lists.last?.addresses == [URL(feed: 0), a] && reader.lists.last?.isCut == true)
      let removal = engine.remove(a).sink { _ in
      } receiveValue: { _ in
      }
      time.advance(by: .seconds(12))
      removal.cancel()
      #expect(reader.lists.last?.addresses == [URL(feed: 0), b] && reader.lists.last?.forgotten == [a])
      #expect(reader.lists.count == 2 && reader.resets == 0)
    }
  }

  @Test func `a feed followed by URL is forgotten when it is removed, and known again when it returns`() {
    withReader([a]) { time, engine, reader, save in
      save(1, a)
      let removal = engine.remove(a).sink { _ in
      } receiveValue: { _ in
      }
      time.advance(by: .seconds(12))
      removal.cancel()
      #expect(reader.lists.last?.forgotten == [a] && reader.lists.last?.addresses == [a])
      let back = engine.add([NewFeed(a)]).sink { _ in
      } receiveValue: { _ in
      }
      time.advance(by: .seconds(12))
      back.cancel()
      save(9, a)
      time.advance(by: .seconds(1))
      #expect(reader.updates.last == "9:9")
    }
  }

  @Test func `an entry about a feed that isn't followed delivers its position`() {
    withReader([a]) { time, engine, reader, save in
      save(1, a)
      save(2, b)
      time.advance(by: .seconds(1))
      #expect(reader.updates == ["1:1"] && reader.passed.map(\.description) == ["\(engine.state.last)"])
      // A new gateway learns the same position.
      let young = Reader()
      young.follow(FleetFollower([a], in: engine, on: time))
      time.advance(by: .seconds(1))
      guard case .snapshot(let snapshot)? = young.events.first else {
        Issue.record("no snapshot")
        return
      }
      #expect(snapshot.history.map(\.update.address) == [a, b])
      #expect(snapshot.cursor.description == "\(engine.state.last)")
      young.cancel()
    }
  }

  @Test func `a feed whose URL is passed twice is followed once`() {
    withReader([a, b, a]) { _, _, reader, _ in
      guard case .snapshot(let snapshot)? = reader.events.first else {
        Issue.record("no snapshot")
        return
      }
      #expect(snapshot.feeds.map(\.address) == [a, b])
    }
  }

  @Test func `a follower continues after an engine that replies at once`() {
    let time = VirtualTimeScheduler()
    let engine = PromptEngine([(a, 1), (b, 1), (a, 2)])
    let reader = Reader()
    reader.follow(FleetFollower([a], in: engine, on: time))
    time.advance(by: .seconds(1))
    #expect(reader.updates == ["1:-", "2:-"])
    reader.cancel()
  }

  @Test func `a follower whose engine refuses one step reports it once, and retries less and less often`() {
    struct Refused: Error {}
    let time = VirtualTimeScheduler()
    let engine = PromptEngine([(a, 1)])
    engine.refusal = .engine(Refused(), isTemporary: false)
    let reader = Reader()
    reader.follow(FleetFollower([a], in: engine, on: time))
    time.advance(by: .seconds(60))
    #expect(reader.aways == 1 && reader.backs == 0 && (25..<80).contains(engine.reads), "\(engine.reads)")
    engine.refusal = nil
    time.advance(by: .seconds(3))
    #expect(reader.aways == 1 && reader.backs == 1 && reader.updates == ["1:-"])
    reader.cancel()
  }

  @Test func `updates don't end the report of a list that can't be read`() {
    struct Refused: Error {}
    let time = VirtualTimeScheduler()
    let engine = PromptEngine([])
    let reader = Reader()
    reader.follow(FleetFollower([a], in: engine, on: time))
    engine.listRefusal = .engine(Refused(), isTemporary: false)
    time.advance(by: .seconds(6))
    engine.log(a, at: 1)
    time.advance(by: .seconds(60))
    #expect(reader.aways == 1 && reader.backs == 0 && reader.updates == ["1:-"])
    engine.listRefusal = nil
    time.advance(by: .seconds(20))
    #expect(reader.aways == 1 && reader.backs == 1)
    reader.cancel()
  }

  @Test(arguments: [false, true])
  func `a follower that is cancelled by an event sets no timer`(isBack: Bool) {
    struct Refused: Error {}
    let time = VirtualTimeScheduler()
    let engine = PromptEngine([])
    let reader = Reader()
    reader.isLast = { event in
      switch event {
      case .away:
        engine.listRefusal = nil
        return !isBack
      case .back: return true
      default: return false
      }
    }
    reader.follow(FleetFollower([a], in: engine, on: time))
    engine.listRefusal = .engine(Refused(), isTemporary: false)
    while !reader.isCancelled, time.advanceToNextWork() {}
    #expect(reader.aways == 1 && reader.backs == (isBack ? 1 : 0) && time.pending.isEmpty)
  }

  @Test func `a follower resets when its engine is emptied`() {
    let empty = MemoryFleet(on: VirtualTimeScheduler()) { Date() }.state
    withReader { time, engine, reader, save in
      save(1, a)
      time.advance(by: .seconds(1))
      engine.state = empty
      time.advance(by: .seconds(20))
      #expect(reader.resets == 1)
    }
  }

  @Test func `a follower resets when the log was trimmed while nothing was requested`() throws {
    try withFleet(.redis, adding: [a]) { fleet in
      let redis = try #require(fleet.queue as? RedisFleet)
      let updates = (1...3).map { FeedUpdate(address: a, version: FeedVersion(microseconds: $0)) }
      let isReset = FleetFollower([a], in: redis, on: fleet.loop).setFailureType(to: FleetError.self)
        .flatMap(maxPublishers: .max(1)) { event -> AnyPublisher<Bool, FleetError> in
          guard case .snapshot(let snapshot) = event, !snapshot.isReset else {
            let isReset = if case .snapshot = event { true } else { false }
            return Just(isReset).setFailureType(to: FleetError.self).eraseToAnyPublisher()
          }
          // The next entry is requested after this.
          return updates.publisher.setFailureType(to: FleetError.self)
            .flatMap(maxPublishers: .max(1)) { redis.append($0) }
            .collect()
            .tryMap { _ in try fleet.trim(to: 1) }
            .mapError { FleetError.engine($0, isTemporary: false) }
            .flatMap { _ in Empty<Bool, FleetError>() }
            .eraseToAnyPublisher()
        }
      #expect(try fleet.wait(isReset.first().eraseToAnyPublisher()))
    }
  }
}
