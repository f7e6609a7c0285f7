import Dispatch
import FeedStream
import Foundation

/// Random numbers that a seed repeats.
struct Dice {
  var state: UInt64
  init(_ seed: UInt64, _ index: Int) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(index) }

  mutating func roll(_ sides: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int((bits ^ (bits >> 31)) % UInt64(sides))
  }

  mutating func pick<T>(_ choices: [T]) -> T { choices[roll(choices.count)] }
}

/// The thread sanitizer can't see when a thread waits for a `Mutex`.
final class Guarded<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value
  init(_ value: Value) { self.value = value }
  func withLock<R>(_ body: (inout Value) -> R) -> R { lock.withLock { body(&value) } }
}

/// Delivers numbers on a queue of its own, as they are requested.
struct Numbers: Publisher {
  typealias Output = Int
  typealias Failure = Never

  final class Run: Subscription, @unchecked Sendable {
    let queue = DispatchQueue(label: "numbers")
    var (subscriber, next, end): (AnySubscriber<Int, Never>?, Int, Int)
    var demand = Subscribers.Demand.none

    init(_ subscriber: AnySubscriber<Int, Never>, _ range: Range<Int>) {
      (self.subscriber, next, end) = (subscriber, range.lowerBound, range.upperBound)
    }

    func request(_ demand: Subscribers.Demand) {
      queue.async { [self] in
        self.demand += demand
        while self.demand > 0, next < end, let subscriber {
          self.demand -= 1
          next += 1
          self.demand += subscriber.receive(next - 1)
        }
        if next == end, let subscriber {
          self.subscriber = nil
          subscriber.receive(completion: .finished)
        }
      }
    }

    func cancel() { queue.async { [self] in subscriber = nil } }
  }

  let range: Range<Int>
  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
    subscriber.receive(subscription: Run(AnySubscriber(subscriber), range))
  }
}

extension Optional {
  mutating func take() -> Self {
    defer { self = nil }
    return self
  }
}

/// The pipelines that are under way, for a program that stops or hangs.
enum LastWords {
  static let workers = 6
  // Each worker writes its own text, and the handler of a signal reads all of them.
  nonisolated(unsafe) private static let texts = {
    let texts = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: workers)
    texts.initialize(repeating: nil, count: workers)
    return texts
  }()
  private static let isVerbose = getenv("VERBOSE") != nil

  /// Prints the pipelines if the program stops.
  static func prepare() {
    _ = texts
    for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT] {
      signal(number) { number in
        LastWords.say()
        signal(number, SIG_DFL)
        raise(number)
      }
    }
  }

  private static func say() {
    for worker in 0..<workers {
      guard let text = texts[worker] else { continue }
      write(1, text, strlen(text))
    }
  }

  static func note(_ description: String, by worker: Int) {
    texts[worker] = strdup("under way: \(description)\n")
    if isVerbose { FileHandle.standardError.write(Data((description + "\n").utf8)) }
  }
}
