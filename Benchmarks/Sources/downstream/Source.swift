import FeedStream
import Harness

/// The numbers from zero, with the sequence's type hidden: its publisher's own operators would run before anyone
/// subscribes.
struct Numbers: Publisher {
  typealias Output = Int
  typealias Failure = Never

  let count: Int

  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
    Publishers.Sequence<Range<Int>, Never>(sequence: 0..<count).receive(subscriber: subscriber)
  }
}

/// The part above the operator: it processes every number, and passes on all of them or one in `rarity`.
typealias Source = Publishers.Filter<Publishers.Map<Numbers, Int>>

/// The number of numbers per one that passes, for runs in which the operator itself should cost nothing.
let rarity = 10_000

/// A second publisher, with as many numbers as pass the source.
nonisolated(unsafe) var partner = Numbers(count: 0)

func source(of count: Int, rarely: Bool) -> Source {
  let passes = rarely ? { $0 % rarity == 0 } : work.isAny
  return Numbers(count: count).map(work.increment).filter(passes)
}

extension Publisher where Output == Int {
  /// The part below the operator.
  @inline(__always) func end(_ add: @escaping (Int) -> Void) -> AnyCancellable {
    map(work.increment).filter(work.isAny).sink(receiveCompletion: { _ in }, receiveValue: add)
  }
}

/// An operator between the source and the end.
struct Row {
  /// The operator's file in Sources, without folder and extension.
  let file: String
  let name: String
  /// The divisor of the number of values: above 1 for operators that take longer per value.
  let share: Int
  /// Subscribes, and does whatever is necessary for all values to arrive.
  let run: (Source, @escaping (Int) -> Void) -> Void
}

/// All rows, in their order.
struct Rows {
  private(set) var all: [Row] = []

  mutating func add(
    _ file: String, _ name: String, share: Int = 1,
    _ subscribe: @escaping (Source, @escaping (Int) -> Void) -> AnyCancellable
  ) {
    all.append(
      Row(file: file, name: name, share: share) { source, add in
        withExtendedLifetime(subscribe(source, add)) {}
      })
  }

  /// A row that needs a loop, which runs until nothing is left to do.
  mutating func addOnLoop(
    _ file: String, _ name: String, share: Int = 1,
    _ subscribe: @escaping (Source, EventLoop, @escaping (Int) -> Void) -> AnyCancellable
  ) {
    all.append(
      Row(file: file, name: name, share: share) { source, add in
        let loop = EventLoop()
        let subscription = subscribe(source, loop, add)
        loop.run()
        withExtendedLifetime(subscription) {}
        loop.close()
      })
  }
}
