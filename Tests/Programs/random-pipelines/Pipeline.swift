import Dispatch
import FeedStream
import Foundation

struct Pipeline {
  typealias Stream = AnyPublisher<Int, Never>

  var names: [String] = []
  var stream = Empty<Int, Never>().eraseToAnyPublisher()
  var expected: [Int] = []
  /// True if the values arrive in the order of `expected`.
  var isOrdered = true
  /// True if a second subscription delivers the same values.
  var isCold = true
  /// True if it may be subscribed anywhere: a share lives on its loop.
  var isAnywhere = true

  init(_ dice: inout Dice, _ place: Place, _ token: Token) {
    begin(&dice, place)
    stream = stream.handleEvents(receiveOutput: { [token] _ in _ = token }).eraseToAnyPublisher()
    for _ in 0..<dice.roll(6) { grow(&dice, place) }
  }

  mutating func begin(_ dice: inout Dice, _ place: Place) {
    let count = dice.pick([0, 1, 3, 20, 100, 300, 1_000])
    expected = Array(0..<count)
    let range = 0..<count
    switch dice.roll(place == .loop || place == .group ? 6 : 7) {
    case 0, 1: become("sequence(\(count))", range.publisher)
    case 2:
      expected = [7]
      become("future", Future<Int, Never> { $0(.success(7)) })
    case 3:
      expected = [8]
      become("futureQ", Future<Int, Never> { promise in DispatchQueue.global().async { promise(.success(8)) } })
    case 4:
      expected = [9]
      become("futureA", Future<Int, Never> { () async -> Int in 9 })
    case 5: become("tasks(\(count))", range.publisher.mapAsync(limit: 3) { $0 })
    default: become("numbers(\(count))", Numbers(range: range))
    }
  }

  mutating func become<P: Publisher>(_ name: String, _ stream: P) where P.Output == Int, P.Failure == Never {
    names.append(name)
    self.stream = stream.eraseToAnyPublisher()
  }

  mutating func grow(_ dice: inout Dice, _ place: Place) {
    let stream = stream
    let queue = DispatchQueue(label: "queue")
    let global = DispatchQueue.global()
    switch dice.roll(47) {
    case 0, 1, 2: become("receiveQ", stream.receive(on: queue))
    case 3: become("receiveG", stream.receive(on: global))
    case 4: become("receiveO", stream.receive(on: OperationQueue()))
    case 5: become("delayQ", stream.delay(for: .milliseconds(1), scheduler: queue))
    case 6 where isAnywhere: become("subscribeQ", stream.subscribe(on: queue))
    case 7 where isAnywhere:
      become("delaySubscriptionQ", stream.delaySubscription(for: .milliseconds(1), scheduler: queue))
    case 8:
      expected = expected.map { $0 + 1 }
      become("map", stream.map { $0 + 1 })
    case 9:
      expected = expected.filter { $0 % 3 > 0 }
      become("filter", stream.filter { $0 % 3 > 0 })
    case 10 where isOrdered:
      let count = dice.pick([1, 2, 30, 500])
      expected = Array(expected.prefix(count))
      become("prefix(\(count))", stream.prefix(count))
    case 11 where isOrdered:
      var sum = 0
      expected = expected.map {
        sum = (sum + $0) % 1_000
        return sum
      }
      become("scan", stream.scan(0) { ($0 + $1) % 1_000 })
    case 12:
      become("buffer", stream.buffer(size: .max, prefetch: dice.pick([.keepFull, .byRequest]), whenFull: .dropNewest))
    case 13: become("collect", stream.collect(7).flatMap(maxPublishers: .max(1)) { $0.publisher })
    case 14: become("tasks3", stream.mapAsync(limit: 3) { $0 })
    case 15: become("tasks300", stream.mapAsync(limit: 300) { $0 })
    case 16 where place == .loop:
      (isCold, isAnywhere) = (false, false)
      // A shared sequence drops what its subscriber hasn't requested.
      become("share", stream.share().buffer(size: .max, prefetch: .keepFull, whenFull: .dropNewest))
    case 17:
      expected += 0..<5
      become("append", stream.append(0..<5))
    case 18:
      expected += 0..<5
      become("appendQ", stream.append((0..<5).publisher.receive(on: queue)))
    case 19:
      expected = Array(0..<5) + expected
      become("prepend", stream.prepend(Array(0..<5)))
    case 20:
      expected = Array(0..<5) + expected
      become("prependQ", stream.prepend((0..<5).publisher.receive(on: queue)))
    case 21:
      (expected, isOrdered) = (expected + Array(0..<20), false)
      become("mergeQ", stream.merge(with: (0..<20).publisher.receive(on: queue)))
    case 22 where expected.count <= 300:
      (expected, isOrdered) = (expected.flatMap { [$0, $0 + 1] }, false)
      become("flatMapG", stream.flatMap { [$0, $0 + 1].publisher.receive(on: global) })
    case 23 where expected.count <= 1_000:
      (expected, isOrdered) = (expected.flatMap { [$0, $0 + 1] }, false)
      become("flatMapQ", stream.flatMap(maxPublishers: .max(4)) { [$0, $0 + 1].publisher.receive(on: queue) })
    case 24 where expected.count <= 300:
      expected = expected.flatMap { [$0, $0 + 1] }
      become("concatMapQ", stream.concatMap { [$0, $0 + 1].publisher.receive(on: queue) })
    case 25 where expected.count <= 300:
      expected = expected.flatMap { [$0, $0] }
      become("concatMapTasks", stream.concatMap { [$0, $0].publisher.mapAsync(limit: 2) { $0 } })
    case 26: become("switch", Just(stream).switchToLatest())
    case 27 where isAnywhere: become("switchQ", Just(stream).receive(on: queue).switchToLatest())
    case 28 where isOrdered:
      expected = Array(expected.prefix(200))
      become("zipQ", stream.zip((0..<200).publisher.receive(on: queue)) { value, _ in value })
    case 29: become("combineLatest", Just(0).combineLatest(stream) { $1 })
    case 30 where isCold:
      let attempts = Guarded(0)
      let failing = stream.tryMap { value -> Int in
        if attempts.withLock({
          $0 += 1
          return $0
        }) < 3 {
          throw Refused()
        }
        return value
      }
      // The attempts of a stream with fewer values than attempts continue in the next one.
      if dice.roll(2) == 0 {
        become("retry", failing.retry(3).replaceError(with: -1))
      } else {
        become(
          "retryQ",
          failing.retry(.constant(.milliseconds(1), limit: 3), scheduler: queue, using: SystemRandomNumberGenerator())
            .replaceError(with: -1))
      }
    case 31 where isCold:
      let attempts = Guarded(0)
      become(
        "catch",
        stream.tryMap { value -> Int in
          if attempts.withLock({
            $0 += 1
            return $0
          }) == 1 {
            throw Refused()
          }
          return value
        }
        .catch { _ in stream })
    case 32 where expected.count <= 100:
      isOrdered = false
      expected = expected.flatMap { $0 < 500_000 ? [$0, $0 * 2 + 1_000_000] : [$0] }
      become(
        "expandQ",
        stream.expand { ($0 < 500_000 ? [$0 * 2 + 1_000_000] : []).publisher.receive(on: queue) })
    case 33:
      expected = expected.isEmpty ? [-2] : expected
      become("switchIfEmpty", stream.switchIfEmpty(Just(-2).receive(on: queue)))
    case 34: become("race", stream.race(with: Empty(completeImmediately: false)))
    case 35 where expected.count <= 300:
      isOrdered = false
      become("groupBy", stream.groupBy { $0 % 3 }.flatMap { $0.receive(on: queue) })
    case 36: become("windows", stream.window(5).concatMap { $0 })
    case 37: become("timeoutQ", stream.timeout(.seconds(60), scheduler: queue))
    case 38: become("collectQ", stream.collect(.byTimeOrCount(queue, .milliseconds(1), 9)).concatMap { $0.publisher })
    case 39: become("parallel", stream.parallelMap(on: Workers.group) { $0 })
    case 40:
      isOrdered = false
      become("tasksUnordered", stream.mapAsync(limit: 4, order: .asCompleted) { $0 })
    case 41: become("materialize", stream.materialize().dematerialize())
    case 42: become("latestFrom", stream.withLatestFrom(Just(0)) { value, _ in value })
    case 43: become("receiveL", stream.receive(on: Workers.group.next()))
    case 44 where expected.count <= 300:
      (expected, isOrdered) = (expected.flatMap { [$0, $0 + 1] }, false)
      become("flatMapL", stream.flatMap { [$0, $0 + 1].publisher.receive(on: Workers.group.next()) })
    case 45 where expected.count <= 300:
      isOrdered = false
      become("groupsQ", stream.groupBy { $0 % 3 }.receive(on: queue).flatMap { $0 })
    case 46: become("windowsQ", stream.window(5).receive(on: queue).concatMap { $0 })
    default: return
    }
  }
}

struct Refused: Error {}

/// Held by the source of a pipeline, to see when the source is released.
final class Token: Sendable {}

/// The loops on which pipelines map values in parallel.
enum Workers { static let group = try! EventLoopGroup(count: 2) }
