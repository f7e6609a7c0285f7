import FeedPolling
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import Synchronization
import TestSupport
import Testing

/// Events for subscribers to a store's changes, no matter which process saves.
@Suite(.settled) struct LiveStoreTests {
  // MARK: In virtual time

  private final class World {
    let time = VirtualTimeScheduler()
    let disk: VirtualDisk
    var changes: [FeedChange] = []
    private var subscriptions: [AnyCancellable] = []

    init() {
      disk = VirtualDisk(on: time)
      time.offloadLatency = .milliseconds(1)
    }

    func follow(_ store: some LiveFeedStore) {
      store.changes(of: address, on: time).sink { _ in
      } receiveValue: { [unowned self] in
        changes.append($0)
      }
      .store(in: &subscriptions)
      time.run()
    }

    func save(_ images: FeedImages, seconds: Double = 0) throws {
      let feed = CachedFeed(
        images: images, timestamp: noon + seconds,
        validators: FeedValidators(etag: "\(seconds)", digest: BodyDigest(value: UInt64(images.count))))
      _ = try disk.replace(for: address, with: feed, now: noon + seconds)
      time.run()
    }

    func stop() { subscriptions = [] }
  }

  private static let two = makeFeed(2).images
  private static let three = makeFeed(3).images

  @Test func `a subscriber receives the saved feed, then every change by other stores`() throws {
    let world = World()
    try world.save(Self.two)
    world.follow(world.disk)
    #expect(world.changes.map(\.added) == [[0, 1]])
    try world.save(Self.three, seconds: 1)
    #expect(world.changes.last?.feed?.images == Self.three)
    #expect(world.changes.last?.added == [2] && world.changes.last?.removed == [])
    try world.disk.delete(for: address)
    world.time.run()
    #expect(world.changes.count == 3 && world.changes.last?.feed == nil && world.changes.last?.removed.count == 3)
    world.stop()
    try world.save(Self.two, seconds: 2)
    #expect(world.changes.count == 3)
  }

  @Test func `neither a renewal, nor another feed, nor an identical save is a change`() throws {
    let world = World()
    world.follow(world.disk)
    #expect(world.changes.isEmpty)
    try world.save(Self.two)
    let saved = try #require(try world.disk.retrieve(for: address))
    let renewal = FeedRenewal(timestamp: noon + 5, since: saved.validators, validators: FeedValidators(etag: "new"))
    _ = try world.disk.renew(for: address, with: renewal, now: noon + 5)
    _ = try world.disk.replace(for: otherAddress, with: saved, now: noon)
    world.time.run()
    try world.save(Self.two, seconds: 9)
    #expect(world.changes.count == 1)
    world.stop()
  }

  @Test func `an image that is added to the same document is a change`() throws {
    let world = World()
    world.follow(world.disk)
    try world.save(Self.two)
    let saved = try #require(try world.disk.retrieve(for: address))
    let filled = CachedFeed(Self.three, timestamp: saved.timestamp, validators: saved.validators)
    _ = try world.disk.replace(for: address, with: filled, now: noon)
    world.time.run()
    #expect(world.changes.count == 2 && world.changes.last?.added == [2])
    world.stop()
  }

  @Test func `a later page that differs is a change, even if the first page has the same bytes`() throws {
    let world = World()
    world.follow(world.disk)
    func save(_ numbers: [Int], seconds: Double) throws {
      let validators = FeedValidators(digest: BodyDigest(value: 1), wholeAsked: noon + seconds)
      let feed = CachedFeed(
        images: numbers.map { makeImage($0) }, timestamp: noon + seconds, validators: validators)
      _ = try world.disk.replace(for: address, with: feed, now: noon + seconds)
      world.time.run()
    }
    try save([0, 1, 2], seconds: 0)
    try save([0, 1, 3], seconds: 1)
    #expect(world.changes.map(\.added) == [[0, 1, 2], [2]])
    #expect(world.changes.last?.removed.count == 1)
    world.stop()
  }

  @Test func `of many feeds, only the changed ones are read`() throws {
    let world = World()
    let addresses = (0..<100).map { URL(string: "https://example.com/\($0)")! }
    func save(_ number: Int, _ count: Int, at seconds: Double) throws {
      let feed = CachedFeed(
        images: makeFeed(count).images, timestamp: noon + seconds,
        validators: FeedValidators(digest: BodyDigest(value: UInt64(count))))
      _ = try world.disk.replace(for: addresses[number], with: feed, now: noon + seconds)
    }
    for number in 0..<50 { try save(number, 1, at: 0) }
    var told: [(URL, Int?)] = []
    let subscription = world.disk.changes(of: addresses, on: world.time)
      .sink { _ in
      } receiveValue: {
        told.append(($0.address, try? $0.change.get().added.count))
      }
    world.time.run()
    #expect(Set(told.map(\.0)) == Set(addresses[..<50]) && told.allSatisfy { $0.1 == 1 })
    told = []
    let before = world.disk.log.count
    try save(7, 3, at: 1)
    try save(70, 2, at: 1)
    world.time.run()
    #expect(Set(told.map(\.0)) == [addresses[7], addresses[70]] && Set(told.map(\.1)) == [2])
    let calls = world.disk.log.count - before
    #expect(calls < 12, "\(calls) calls of the store for two saves")
    subscription.cancel()
  }

  @Test func `saves without demand are merged into one change, which is read once`() throws {
    let world = World()
    let recorder = world.disk.changes(of: address, on: world.time).record(on: world.time, demand: .max(1))
    world.time.run()
    for count in 1...5 { try world.save(makeFeed(count).images, seconds: Double(count)) }
    let reads = world.disk.log.count { if case .retrieve = $0.call { true } else { false } }
    #expect(recorder.values.map(\.added.count) == [1] && reads == 1)
    recorder.request(.max(1))
    world.time.run()
    #expect(recorder.values.map(\.added.count) == [1, 4])
    recorder.cancel()
  }

  @Test func `a process receives feeds polled by another process, without making requests`() {
    let world = World()
    world.follow(world.disk)
    let network = VirtualNetwork(on: world.time)
    network.serve("example.com") { request, _ in .feed(makeFeed(request.number + 1).images) }
    let cache = FeedCache(
      store: world.disk, on: world.time, now: { [time = world.time] in noon + Double(time.now.nanoseconds) / 1e9 })
    let poller = FeedPoller(
      [PolledAddress(address, every: .seconds(60))], client: network, cache: cache, store: world.disk, on: world.time
    ).sink { _ in }
    world.time.advance(by: .seconds(200))
    #expect(network.log.count == 3 || network.log.count == 4)
    #expect(world.changes.map(\.added.count) == Array(repeating: 1, count: network.log.count))
    poller.cancel()
    world.stop()
  }

  @Test func `an unreadable store fails the stream of changes`() throws {
    let world = World()
    try world.save(Self.two)
    world.disk.setFaults { step, _ in step == .read ? .fail(.notPermitted) : nil }
    let recorder = world.disk.changes(of: address, on: world.time).record(on: world.time)
    world.time.run()
    #expect(recorder.failure?.cause == .notPermitted)
  }

  @Test(arguments: [[address], [address, otherAddress]])
  func `a store that can't be read for a while doesn't end the stream of several feeds' changes`(
    addresses: [URL]
  ) throws {
    let world = World()
    try world.save(Self.two)
    var (told, errors, isOver) = ([Int](), 0, false)
    let subscription = world.disk.changes(of: addresses, on: world.time)
      .sink { _ in
        isOver = true
      } receiveValue: {
        do { told.append(try $0.change.get().added.count) } catch { errors += 1 }
      }
    world.time.run()
    world.disk.setFaults { step, _ in step == .read ? .fail(.busy) : nil }
    // The save fails, too, but the watch is notified of it.
    let feed = CachedFeed(images: Self.three, timestamp: noon + 1)
    _ = try? world.disk.replace(for: address, with: feed, now: noon + 1)
    world.time.advance(by: .seconds(5))
    #expect(told == [2] && errors == addresses.count && !isOver)
    world.disk.setFaults { _, _ in nil }
    _ = try world.disk.replace(for: address, with: feed, now: noon + 1)
    world.time.advance(by: .seconds(2))
    #expect(told == [2, 1] && errors == addresses.count && !isOver)
    subscription.cancel()
  }

  @Test(arguments: [[address], [address, otherAddress]])
  func `feeds that can't be read for a while are read again without another save`(addresses: [URL]) throws {
    let world = World()
    try world.save(Self.two)
    world.disk.setFaults { step, _ in step == .read ? .fail(.busy) : nil }
    var (told, errors) = ([Int](), 0)
    let subscription = world.disk.changes(of: addresses, on: world.time)
      .sink { _ in
      } receiveValue: {
        do { told.append(try $0.change.get().added.count) } catch { errors += 1 }
      }
    world.time.advance(by: .seconds(5))
    #expect(told == [] && errors == addresses.count)
    world.disk.setFaults { _, _ in nil }
    world.time.advance(by: .seconds(2))
    #expect(told == [2] && errors == addresses.count)
    let calls = world.disk.log.count
    world.time.advance(by: .seconds(60))
    #expect(world.disk.log.count == calls)
    subscription.cancel()
  }

  @Test func `a store that can't be read isn't read more than once a second, however often it seems to change`() throws
  {
    let world = World()
    try world.save(Self.two)
    let reads = Atomic(0)
    world.disk.setFaults { step, _ in
      if step == .read { reads.add(1, ordering: .relaxed) }
      return .fail(.busy)
    }
    let subscription = world.disk.changes(of: [address, otherAddress], on: world.time)
      .sink { _ in
      } receiveValue: { _ in
      }
    var count = 0
    for _ in 0..<100 {
      // This fails, too, but the watch is notified of it.
      _ = try? world.disk.replace(for: address, with: CachedFeed(images: [], timestamp: noon), now: noon)
      reads.store(0, ordering: .relaxed)
      world.time.advance(by: .milliseconds(50))
      count += reads.load(ordering: .relaxed)
    }
    #expect((1...6).contains(count))
    subscription.cancel()
  }

  @Test func `a damaged feed is reported once, however often other feeds are saved`() throws {
    let world = World()
    try world.save(Self.two)
    world.disk.corrupt(address)
    var (told, errors) = ([URL](), [URL]())
    let subscription = world.disk.changes(of: [address, otherAddress], on: world.time)
      .sink { _ in
      } receiveValue: {
        if case .success = $0.change { told.append($0.address) } else { errors.append($0.address) }
      }
    for number in 1...3 {
      let feed = CachedFeed(images: makeFeed(number).images, timestamp: noon + Double(number))
      _ = try world.disk.replace(for: otherAddress, with: feed, now: noon + Double(number))
      world.time.advance(by: .seconds(5))
    }
    #expect(told == [otherAddress, otherAddress, otherAddress] && errors == [address])
    subscription.cancel()
  }

  @Test(arguments: [true, false])
  func `a watch that fails while the store is being read loses no change`(failsImmediately: Bool) throws {
    let world = World()
    try world.save(Self.two)
    let store = StoreWithFailingWatch(disk: world.disk, failsImmediately: failsImmediately)
    var (told, errors) = ([Int](), 0)
    let subscription = store.changes(of: [address, otherAddress], on: world.time)
      .sink { _ in
      } receiveValue: {
        do { told.append(try $0.change.get().added.count) } catch { errors += 1 }
      }
    world.time.advance(by: .seconds(5))
    #expect(told == [2] && errors == 2)
    try world.save(Self.three, seconds: 1)
    #expect(told == [2, 1] && errors == 2)
    subscription.cancel()
  }

  /// Its first two watches fail right after they have begun, while the store is being read.
  private final class StoreWithFailingWatch: LiveFeedStore {
    private let disk: VirtualDisk
    private let failsImmediately: Bool
    private let watches = Mutex(0)

    init(disk: VirtualDisk, failsImmediately: Bool) {
      self.disk = disk
      self.failsImmediately = failsImmediately
    }

    func watch(
      on scheduler: any LoopScheduler, _ changed: @escaping (Result<Void, FeedStoreError>) -> Void
    ) -> any Cancellable {
      let number = watches.withLock { watches in
        watches += 1
        return watches
      }
      guard number <= 2 else { return disk.watch(on: scheduler, changed) }
      changed(.success(()))
      let failure = FeedStoreError.retrieval(.inputOutput("no watch is left"), place: "here")
      guard !failsImmediately else {
        changed(.failure(failure))
        return AnyCancellable {}
      }
      return scheduler.once(after: Duration.zero) { changed(.failure(failure)) }
    }

    func retrieve(for address: URL) throws(FeedStoreError) -> CachedFeed? { try disk.retrieve(for: address) }

    func replace(for address: URL, with feed: CachedFeed, now: Date) throws(FeedStoreError) -> FeedReplacement {
      try disk.replace(for: address, with: feed, now: now)
    }

    func summary(for address: URL) throws(FeedStoreError) -> CachedFeedSummary? { try disk.summary(for: address) }

    func renew(for address: URL, with renewal: FeedRenewal, now: Date) throws(FeedStoreError) -> FeedReplacement? {
      try disk.renew(for: address, with: renewal, now: now)
    }

    func delete(for address: URL, if condition: FeedDeletionCondition) throws(FeedStoreError) -> Bool {
      try disk.delete(for: address, if: condition)
    }

    func summaries() throws(FeedStoreError) -> [CachedFeedSummary] { try disk.summaries() }

    func deleteAll() throws(FeedStoreError) { try disk.deleteAll() }
  }

  @Test func `the in-memory store notifies its subscribers too`() throws {
    let world = World()
    let store = InMemoryFeedStore()
    world.follow(store)
    _ = try store.replace(for: address, with: CachedFeed(images: Self.two, timestamp: noon), now: noon)
    world.time.run()
    #expect(world.changes.map(\.added) == [[0, 1]])
    world.stop()
  }

  // MARK: On a real file

  /// Two stores on one file, in a folder that doesn't exist yet.
  private final class FileOfTwo {
    let folder = TemporaryFolder()
    let loop = EventLoop()
    let reader, writer: SQLiteFeedStore
    private let worker: SerialWorker

    init() {
      let path = folder.file("new/cache.db")
      (reader, writer) = (SQLiteFeedStore(path: path), SQLiteFeedStore(path: path))
      worker = SerialWorker(on: loop)
    }

    func save(_ images: FeedImages, _ seconds: Double) {
      worker.perform { [writer] in
        try? writer.replace(
          for: address, with: CachedFeed(images: images, timestamp: noon + seconds), now: noon + seconds)
      } completion: { _ in
      }
    }

    func close() {
      loop.run()
      reader.close()
      writer.close()
      loop.close()
    }
  }

  @Test(.timeLimit(.minutes(5))) func `two stores on one file notify each other, from the first save on`() throws {
    let file = FileOfTwo()
    let loop = file.loop
    defer { file.close() }
    var changes: [FeedChange] = []
    let subscription = file.reader.changes(of: address, on: loop).sink { _ in
      loop.stop()
    } receiveValue: { change in
      changes.append(change)
      if changes.count == 1 { file.save(Self.three, 1) } else { loop.stop() }
    }
    // Save after the watch has begun; before that, the folder is missing.
    loop.schedule(after: loop.now.advanced(by: .milliseconds(200))) { file.save(Self.two, 0) }
    loop.run()
    #expect(changes.map(\.added) == [[0, 1], [2]])
    subscription.cancel()
  }

  @Test(.timeLimit(.minutes(5))) func `many feeds' changes continue after the store's folder was deleted`() throws {
    let file = FileOfTwo()
    let loop = file.loop
    defer { file.close() }
    var counts: [Int] = []
    let subscription = file.reader.changes(of: [address, otherAddress], on: loop).sink { _ in
      loop.stop()
    } receiveValue: { address, change in
      guard let count = try? change.get().feed?.images.count else {
        // The folder was deleted.
        if case .failure = change { file.save(Self.three, 1) }
        return
      }
      counts.append(count)
      if count == 3 { loop.stop() } else { try? FileManager.default.removeItem(atPath: file.folder.file("new")) }
    }
    loop.schedule(after: loop.now.advanced(by: .milliseconds(200))) { file.save(Self.two, 0) }
    loop.run()
    #expect(counts == [2, 3])
    subscription.cancel()
  }
}
