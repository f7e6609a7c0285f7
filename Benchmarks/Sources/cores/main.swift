// Compares several loops with one loop, and with handwritten threads: the speed-up, and the cost of crossing threads.
//
//     cores [--short]
//
// Wall time: other programs on the machine lower every speed-up. Prints a model of more cores at the end.
import FeedStream
import Foundation
import Harness
import Synchronization

let isShort = CommandLine.arguments.contains("--short")
let rounds = isShort ? 3 : 7
let cores = EventLoopGroup.availableProcessors
let group = try EventLoopGroup(count: max(2, cores))

/// Arithmetic whose duration depends on `steps`, and that can't be optimized away.
@inline(never) func work(_ value: Int, _ steps: Int) -> Int {
  var state = UInt64(truncatingIfNeeded: value) &+ 0x9E37_79B9_7F4A_7C15
  for _ in 0..<steps {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
  }
  return Int(truncatingIfNeeded: state)
}

/// The number of steps that take a microsecond on this machine.
let stepsPerMicrosecond: Double = {
  let steps = 2_000_000
  let times = (0..<5).map { _ in Clock.wall.time { blackHole(work(1, steps)) }.nanoseconds }
  return Double(steps) / (times.min()! / 1000)
}()

nonisolated(unsafe) var sink = 0
@inline(never) func blackHole(_ value: Int) { sink = sink &+ value }

func onOneLoop(_ count: Int, _ steps: Int) -> Double {
  let loop = EventLoop()
  return Clock.wall.time {
    let subscription = (0..<count).publisher.map { work($0, steps) }.sink { blackHole($0) }
    loop.run()
    subscription.cancel()
  }.nanoseconds
}

func parallel(_ count: Int, _ steps: Int, _ ordering: AsyncOrder) -> Double {
  let loop = EventLoop()
  return Clock.wall.time {
    let subscription = (0..<count).publisher.parallelMap(on: group, ordering: ordering) { work($0, steps) }
      .sink { blackHole($0) }
    loop.run()
    subscription.cancel()
  }.nanoseconds
}

/// As many threads as the group has; each takes 64 numbers at a time, and writes the results to their positions.
func byHand(_ count: Int, _ steps: Int) -> Double {
  final class Shared: Sendable {
    let next = Atomic(0)
    let results: UnsafeSendable<UnsafeMutablePointer<Int>>
    init(_ count: Int) { results = UnsafeSendable(.allocate(capacity: count)) }
  }
  struct UnsafeSendable<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }
  return Clock.wall.time {
    let shared = Shared(count)
    let done = DispatchGroup()
    for _ in 0..<group.count {
      done.enter()
      Thread {
        while true {
          let first = shared.next.wrappingAdd(64, ordering: .relaxed).oldValue
          guard first < count else { break }
          for index in first..<min(count, first + 64) { shared.results.value[index] = work(index, steps) }
        }
        done.leave()
      }.start()
    }
    done.wait()
    for index in 0..<count { blackHole(shared.results.value[index]) }
    shared.results.value.deallocate()
  }.nanoseconds
}

show("\(cores) processors, \(group.count) loops\n")
show("| work per value | one loop | parallelMap, in order | as completed | threads by hand |\n|---|---|---|---|---|")
for microseconds in [1, 10, 100] {
  let steps = Int(stepsPerMicrosecond * Double(microseconds))
  let count = (isShort ? 100_000 : 400_000) / microseconds
  let times = try interleaved(
    rounds: rounds,
    [
      { onOneLoop(count, steps) }, { parallel(count, steps, .preserved) }, { parallel(count, steps, .asCompleted) },
      { byHand(count, steps) },
    ])
  let speedUps = times.dropFirst().map { ratio(times[0], to: $0) }
  show(
    "| \(microseconds) µs | \(number(times[0].median / Double(count))) ns | "
      + speedUps.map { "\(number($0))×" }.joined(separator: " | ") + " |")
}

// Crossing: a continuous flow of numbers, and round trips of one number at a time.
let count = isShort ? 300_000 : 2_000_000
let home = EventLoop()
func cross() -> Double {
  Clock.wall.time {
    let subscription = (0..<count).publisher.receive(on: group.loops[0]).sink { blackHole($0) }
    home.run()
    withExtendedLifetime(subscription) {}
  }.nanoseconds / Double(count)
}
func stay() -> Double {
  Clock.wall.time {
    let subscription = (0..<count).publisher.sink { blackHole($0) }
    home.run()
    withExtendedLifetime(subscription) {}
  }.nanoseconds / Double(count)
}
func processor() -> Double {
  Clock.processor.time {
    let subscription = (0..<count).publisher.parallelMap(on: group) { $0 }.sink { blackHole($0) }
    home.run()
    withExtendedLifetime(subscription) {}
  }.nanoseconds / Double(count)
}
/// Makes the same round trips with two system threads and without the library: the cost of waking a thread on this
/// machine.
func roundTripsByHand(_ trips: Int) -> Double {
  let (there, back) = (Pipe(), Pipe())
  let thread = Thread {
    var count: UInt64 = 0
    for _ in 0..<trips {
      _ = read(there.fileHandleForReading.fileDescriptor, &count, 8)
      count = 1
      _ = write(back.fileHandleForWriting.fileDescriptor, &count, 8)
    }
  }
  thread.start()
  return Clock.wall.time {
    var count: UInt64 = 1
    for _ in 0..<trips {
      count = 1
      _ = write(there.fileHandleForWriting.fileDescriptor, &count, 8)
      _ = read(back.fileHandleForReading.fileDescriptor, &count, 8)
    }
  }.nanoseconds / Double(trips)
}
func roundTrips(_ trips: Int) -> Double {
  let subject = PassthroughSubject<Int, Never>()
  var left = trips
  let sender = subject.sender(on: home)
  var subscription: AnyCancellable?
  let time = Clock.wall.time {
    subscription = subject.handleEvents(receiveOutput: { _ in left -= 1 }).receive(on: group.loops[0]).sink { value in
      if value > 1 { sender.send(value - 1) } else { sender.send(completion: .finished) }
    }
    subject.send(trips)
    home.run()
  }.nanoseconds
  subscription?.cancel()
  return time / Double(trips)
}
let crossing = (0..<rounds).map { _ in cross() }.min()!
let staying = (0..<rounds).map { _ in stay() }.min()!
let cost = (0..<rounds).map { _ in processor() }.min()!
let trip = (0..<rounds).map { _ in roundTrips(isShort ? 2_000 : 20_000) }.min()!
let tripByHand = (0..<rounds).map { _ in roundTripsByHand(isShort ? 2_000 : 20_000) }.min()!
show(
  """

  | crossing | per value |
  |---|---|
  | `receive(on:)` another loop, full flow | \(number(crossing)) ns (without: \(number(staying)) ns) |
  | there and back, one value at a time | \(number(trip / 1000)) µs (two threads with pipes: \(number(tripByHand / 1000)) µs) |
  | `parallelMap` of no work, processor time on all cores | \(number(cost)) ns |

  Amdahl's law with that cost: of \(number(cost)) ns per value, \(number(staying)) ns stay on one core.

  | work per value | 4 cores | 16 cores | 64 cores |
  |---|---|---|---|
  """)
for microseconds in [1.0, 10, 100] {
  let whole = microseconds * 1000 + staying
  let row = [4.0, 16, 64].map { cores in
    let parallel = (microseconds * 1000 + cost) / cores
    // The stream's own loop passes every value on and receives its result.
    return "\(number(whole / max(parallel, cost / 2)))×"
  }
  show("| \(Int(microseconds)) µs | \(row.joined(separator: " | ")) |")
}
show("\n| work | one loop | \(group.count) loops and the stream's own | ratio |\n|---|---|---|---|")
try records(on: group, isShort, rounds: rounds)
group.shutdown()
try serving(isShort, rounds: rounds)
try sizing(isShort, rounds: rounds)
