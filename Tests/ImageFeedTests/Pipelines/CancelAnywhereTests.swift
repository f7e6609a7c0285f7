import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeedTesting
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport
@testable import ImageFeed

/// A load that is cancelled at each of its points, one after another.
@Suite(.settled) struct CancelAnywhereTests {
  /// The situations that the load meets.
  enum Path: String, CaseIterable, Sendable {
    case newFeed, sameFeed, noFeed, cutOff, expired, diskFull
  }

  private static let old = makeFeed(3)
  private static let new = makeFeed(5, from: 100)

  @Test(arguments: Path.allCases, 0..<5 as Range<UInt64>)
  func `a load cancelled at any step delivers nothing, leaks nothing and keeps the cache intact`(
    path: Path, seed: UInt64
  ) {
    var count = 0
    while cancels(path, at: count, seed) { count += 1 }
    // Every step of a load, of decoding, and of a save or a retrieval.
    #expect(count > 12)
  }

  /// - Returns: true if there is such a point.
  private func cancels(_ path: Path, at number: Int, _ seed: UInt64) -> Bool {
    withVirtualTime(order: seed == 0 ? .scheduled : .seeded(seed)) { time in
      time.offloadLatency = .milliseconds(3)
      let points = Points(number)
      weak var cache: FeedCache?
      weak var network: VirtualNetwork?
      do {
        let world = world(time, path, points)
        (cache, network) = (world.cache, world.network)
        var events = 0
        let subscription = world.loader.load().sink { _ in
          events += 1
          points.pass()
        } receiveValue: { _ in
          events += 1
          points.pass()
        }
        var eventsBefore: Int?
        points.onReach = {
          subscription.cancel()
          eventsBefore = events
        }
        repeat { points.pass() } while time.advanceToNextWork()
        time.run()
        if let eventsBefore { #expect(events == eventsBefore, "cancelled at \(number)") }
        #expect(time.pending.isEmpty)
        #expect(world.network.log.allSatisfy { $0.ending != nil })
        let saved = world.disk.committed(for: address)
        switch path {
        case .newFeed where events > 0: #expect(saved?.images == Self.new.images, "cancelled at \(number)")
        case .newFeed: #expect(saved?.images == Self.old.images || saved?.images == Self.new.images)
        case .expired: #expect(saved == Self.old)
        case .sameFeed, .noFeed, .cutOff, .diskFull: #expect(saved?.images == Self.old.images)
        }
        points.onReach = nil
      }
      #expect(cache == nil && network == nil, "kept after it was cancelled at \(number)")
      return points.isReached
    }
  }

  private struct VirtualLoad {
    let loader: FeedLoader
    let cache: FeedCache
    let network: VirtualNetwork
    let disk: VirtualDisk
  }

  private func world(_ time: VirtualTimeScheduler, _ path: Path, _ points: Points) -> VirtualLoad {
    let disk = VirtualDisk(on: time)
    try! disk.replace(for: address, with: Self.old)
    // Count each step of every call to the disk.
    disk.setFaults { _, _ in
      points.pass()
      return nil
    }
    disk.setObserver { _ in points.pass() }
    if path == .diskFull { disk.capacity = disk.size }
    let network = VirtualNetwork(on: time)
    network.observer = { _ in points.pass() }
    network.serve("example.com") { _, _ in
      switch path {
      case .newFeed, .diskFull: .feed(Self.new.images)
      case .sameFeed: .feed(Self.old.images)
      case .noFeed: .answer(Data("nothing of the kind".utf8))
      case .cutOff, .expired: .drop()
      }
    }
    let age = path == .expired ? 8.0 * 86_400 : 60
    let steps = SteppedScheduler(time) { points.pass() }
    let cache = FeedCache(store: disk, on: steps, now: { noon.addingTimeInterval(age) })
    return VirtualLoad(
      loader: FeedLoader(address, client: network, cache: cache, on: steps), cache: cache, network: network, disk: disk)
  }
}

/// Counts the points that a run passes, and reports when it reaches a chosen one.
// @unchecked: in virtual time, everything runs on the thread that advances time, including work for the thread pool.
private final class Points: @unchecked Sendable {
  var onReach: (() -> Void)?
  private(set) var isReached = false
  private var left: Int

  init(_ number: Int) { left = number }

  func pass() {
    left -= 1
    guard left == -1 else { return }
    isReached = true
    onReach?()
  }
}

// MARK: - The same over sockets and a file, in a separate process

extension CancelAnywhereTests {
  @Test(.timeLimit(.minutes(5)), arguments: [Path.newFeed, .noFeed, .cutOff, .expired])
  func `a load cancelled after any turn of a real loop closes its socket and keeps the cache intact`(path: Path) async {
    await #expect(processExitsWith: .success) { [path = path.rawValue as String] in
      let path = Path(rawValue: path)!
      // The first load opens descriptors that stay open as long as the process runs.
      _ = RealLoad(path).isCancelled(after: 1)
      let before = openDescriptors()
      // A load takes hundreds of turns, most of which are idle; only the long form tests all of them.
      let isLong = ProcessInfo.processInfo.environment["FEEDSTREAM_LONG"] != nil
      var (turns, points) = (0, 0)
      while RealLoad(path).isCancelled(after: turns) {
        turns += isLong ? 1 : 1 + turns / 8
        points += 1
      }
      precondition(points > 5, "\(points) points are too few to have seen anything")
      // A lookup's thread closes its last descriptor when it ends.
      for _ in 0..<100 where openDescriptors() > before { usleep(50_000) }
      precondition(openDescriptors() == before, "\(before) descriptors were open, and now \(openDescriptors())")
    }
  }
}

/// One load from a slow origin.
private final class RealLoad {
  private let path: CancelAnywhereTests.Path
  private let folder = TemporaryFolder()
  private let loop = EventLoop()
  private let hungUp = DispatchSemaphore(value: 0)
  private let origin: RawOrigin
  private let old = makeFeed(3)
  private let new = makeFeed(5, from: 100)

  init(_ path: CancelAnywhereTests.Path) {
    self.path = path
    origin = RawOrigin { [hungUp, new] connection in
      defer { hungUp.signal() }
      try connection.readRequest()
      let whole = path == .noFeed ? Data("nothing of the kind".utf8) : FeedPayload.bytes(of: new.images)
      let isCut = path == .cutOff || path == .expired
      let pieces = [Data("HTTP/1.1 200 OK\r\n".utf8), Data("Content-Length: \(whole.count)\r\n\r\n".utf8)]
      for piece in pieces + [whole.prefix(whole.count / 2)] + (isCut ? [] : [whole.suffix(from: whole.count / 2)]) {
        try connection.send(piece)
        usleep(1000)
      }
      if !isCut { connection.waitForClose() }
    }
  }

  /// - Returns: true if the load was cancelled; false if it had ended before.
  func isCancelled(after turns: Int) -> Bool {
    let store = SQLiteFeedStore(path: folder.file())
    try! store.replace(for: address, with: old)
    // The feed is saved under the origin's URL.
    let url = origin.url("/feed")
    try! store.replace(for: url, with: old)
    var configuration = CurlHTTPClient.Configuration()
    configuration.usesProxies = false
    let client = CurlHTTPClient(on: loop, configuration)
    let watched = WatchedClient(client: client)
    let age = path == .expired ? 8.0 * 86_400 : 60
    let cache = FeedCache(store: store, on: loop, now: { noon.addingTimeInterval(age) })
    let loader = FeedLoader(url, client: watched, cache: cache, on: loop)
    var (values, isOver) = (0, false)
    let subscription = loader.load().sink { _ in
      isOver = true
    } receiveValue: { _ in
      values += 1
    }
    for _ in 0..<turns where !isOver { loop.run(.oneTurn) }
    let (wasOver, before) = (isOver, values)
    subscription.cancel()
    if !watched.ending.isEnded, origin.accepted > 0 {
      // The connection must be closed although the loop isn't running.
      precondition(hungUp.wait(timeout: .now() + 20) == .success, "the connection is open after \(turns) turns")
    }
    loop.run()
    precondition(wasOver == isOver && values == before, "something was delivered after \(turns) turns and cancel()")
    client.close()
    origin.stop()
    let saved = try! store.retrieve(for: url)
    switch path {
    case .newFeed where values > 0: precondition(saved?.images == new.images, "the save was lost after \(turns) turns")
    case .newFeed: precondition(saved?.images == new.images || saved == old, "\(saved as Any) after \(turns) turns")
    default: precondition(saved == old, "\(saved as Any) after \(turns) turns")
    }
    precondition(try! store.retrieve(for: address) == old, "another feed was touched")
    store.close()
    loop.close()
    precondition(try! folder.contents == ["feeds.sqlite"], "something is left beside the file")
    return !wasOver
  }
}

/// A client that records whether its request completed by itself.
private struct WatchedClient: HTTPClient {
  final class Ending { var isEnded = false }

  let client: any HTTPClient
  let ending = Ending()

  func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    client.get(request)
      .handleEvents(
        receiveOutput: { [ending] _ in ending.isEnded = true },
        receiveCompletion: { [ending] _ in ending.isEnded = true }
      )
      .eraseToAnyPublisher()
  }
}
