import FeedStream

/// A scheduler whose time moves only when a test says so; it speaks marbles of one second a character.
final class MarbleTime: Scheduler {
  private(set) var now = StreamInstant(nanoseconds: 0)
  let minimumTolerance: StreamInstant.Stride = 0
  private var queue = TimerQueue()
  private var cancelled = 0

  func schedule(options: Never?, _ action: @escaping () -> Void) { add(at: now, action) }

  func schedule(
    after date: StreamInstant, tolerance: StreamInstant.Stride, options: Never?, _ action: @escaping () -> Void
  ) {
    add(at: date, action)
  }

  func schedule(
    after date: StreamInstant, interval: StreamInstant.Stride, tolerance: StreamInstant.Stride, options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    precondition(interval > 0, "an interval that never passes")
    let repetition = Repetition()
    func wait(until date: StreamInstant) {
      repetition.work = add(at: date) { [unowned self] in
        wait(until: max(date.advanced(by: interval), now))
        action()
      }
    }
    wait(until: date)
    return repetition
  }

  @discardableResult private func add(at date: StreamInstant, _ action: @escaping () -> Void) -> TimerQueue.Work {
    queue.add(at: max(date, now), onCancel: { [unowned self] _ in queue.workWasCancelled() }, action)
  }

  private final class Repetition: Cancellable {
    var work: TimerQueue.Work?
    func cancel() { work?.cancel() }
  }

  /// How much work waits.
  var waiting: Int { queue.count }

  /// Runs what is due in the next `seconds`.
  func advance(by seconds: Int) {
    let target = now.advanced(by: .seconds(seconds))
    while let work = queue.takeDue(at: target) {
      now = max(now, work.deadline)
      work.take()?()
    }
    now = target
  }

  /// Lets `seconds` pass in which nothing runs: what was due in them runs late.
  func stall(for seconds: Int) { now = now.advanced(by: .seconds(seconds)) }

  /// The second it is.
  var second: Int { Int(now.nanoseconds / 1_000_000_000) }

  /// A subject that is sent what `marbles` say, from now on: letters, `|` for finished, `#` for failed.
  func hot(_ marbles: String) -> PassthroughSubject<Character, Boom> {
    let subject = PassthroughSubject<Character, Boom>()
    play(marbles, into: subject)
    return subject
  }

  /// A publisher that plays `marbles` anew for each subscription, and its ending with its last value.
  func cold(_ marbles: String) -> AnyPublisher<Character, Boom> {
    Deferred { [unowned self] in hot(marbles) }.eraseToAnyPublisher()
  }

  private func play(_ marbles: String, into subject: PassthroughSubject<Character, Boom>) {
    for (second, marble) in marbles.enumerated() where marble != "-" {
      add(at: now.advanced(by: .seconds(second))) {
        switch marble {
        case "|": subject.send(completion: .finished)
        case "#": subject.send(completion: .failure(Boom()))
        default: subject.send(marble)
        }
      }
    }
  }
}

struct Boom: Error, Equatable {}

extension Publisher {
  /// Subscribes a recorder that asks for `demand` at once, and for `more` with every value.
  func record(
    on time: MarbleTime, asking demand: Subscribers.Demand = .unlimited, andThen more: Subscribers.Demand = .none
  ) -> Recorder<Output, Failure> {
    let recorder = Recorder<Output, Failure>(time, demand, more)
    subscribe(recorder)
    return recorder
  }
}

/// Writes down what it receives as marbles; what comes in the same second stands in parentheses.
final class Recorder<Input, Failure: Error>: Subscriber {
  private let time: MarbleTime
  private let demand: Subscribers.Demand
  private let more: Subscribers.Demand
  private(set) var subscription: (any Subscription)?
  private var seconds: [Int: String] = [:]
  private(set) var values: [Input] = []
  private(set) var completion: Subscribers.Completion<Failure>?
  var onValue: (Input) -> Void = { _ in }

  init(_ time: MarbleTime, _ demand: Subscribers.Demand, _ more: Subscribers.Demand) {
    self.time = time
    self.demand = demand
    self.more = more
  }

  func receive(subscription: any Subscription) {
    self.subscription = subscription
    if demand > .none { subscription.request(demand) }
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    values.append(input)
    let text = (input as? [Character]).map { "[" + String($0) + "]" } ?? "\(input)"
    seconds[time.second, default: ""] += text
    onValue(input)
    return more
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    self.completion = completion
    if case .finished = completion {
      seconds[time.second, default: ""] += "|"
    } else {
      seconds[time.second, default: ""] += "#"
    }
  }

  func request(_ demand: Subscribers.Demand) { subscription?.request(demand) }
  func cancel() { subscription?.cancel() }

  /// What was received until now.
  var marbles: String {
    guard let last = seconds.keys.max() else { return "" }
    return (0...last).map { second in
      guard let text = seconds[second] else { return "-" }
      return text.count == 1 || text.first == "[" && !text.dropLast().contains("]") ? text : "(\(text))"
    }.joined()
  }
}
