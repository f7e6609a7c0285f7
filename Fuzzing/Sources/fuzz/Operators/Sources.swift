import FeedStream
import FeedStreamTesting

/// A source of the program: it follows the rules, and detects a request for zero values and a missing cancellation.
struct ScriptedSource: Publisher {
  typealias Output = Int
  typealias Failure = MarbleFailure

  let world: World
  let values: [Int]
  /// `nil` for a source that stays open without further values.
  let ending: Subscribers.Completion<MarbleFailure>?
  /// The milliseconds between two events; `nil` for a source that delivers within the requesting call.
  let pace: Int?

  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == MarbleFailure {
    let subscription = ScriptedSubscription(self, { subscriber.receive($0) }, { subscriber.receive(completion: $0) })
    subscriber.receive(subscription: subscription)
    subscription.begin()
  }
}

private final class ScriptedSubscription: Subscription, CustomStringConvertible {
  private let world: World
  private let source: ScriptedSource
  private var deliver: ((Int) -> Subscribers.Demand)?
  private var end: ((Subscribers.Completion<MarbleFailure>) -> Void)?
  private var demand = Subscribers.Demand.none
  private var next = 0
  /// The number of events that are ready, including the completion.
  private var ready = 0
  private var isDelivering = false
  private var ticks: (any Cancellable)?
  var description: String { "ScriptedSource" }

  init(
    _ source: ScriptedSource, _ deliver: @escaping (Int) -> Subscribers.Demand,
    _ end: @escaping (Subscribers.Completion<MarbleFailure>) -> Void
  ) {
    world = source.world
    self.source = source
    self.deliver = deliver
    self.end = end
    world.live += 1
    world.existing += 1
  }

  deinit {
    over()
    world.existing -= 1
  }

  func begin() {
    guard deliver != nil else { return }
    guard let pace = source.pace else {
      ready = source.values.count + 1
      return drain()
    }
    if source.values.isEmpty {
      // The source is known to have no values, so it completes immediately.
      ready = 1
      return drain()
    }
    let interval = StreamInstant.Stride.milliseconds(pace)
    ticks = world.time.schedule(after: world.time.now.advanced(by: interval), interval: interval) { [weak self] in
      guard let self else { return }
      ready += 1
      if ready > source.values.count { ticks?.cancel() }
      drain()
    }
  }

  func request(_ demand: Subscribers.Demand) {
    guard deliver != nil else { return }
    guard demand > .none else { world.broken(3, "a source was asked for no values") }
    self.demand += demand
    drain()
  }

  func cancel() { over() }

  private func drain() {
    guard !isDelivering else { return }
    isDelivering = true
    defer { isDelivering = false }
    while let deliver, next < ready {
      if next < source.values.count {
        guard demand > .none else { return }
        demand -= 1
        next += 1
        demand += deliver(source.values[next - 1])
      } else {
        guard let ending = source.ending else { return }
        let end = self.end
        over()
        end?(ending)
      }
    }
  }

  private func over() {
    if deliver != nil { world.live -= 1 }
    deliver = nil
    end = nil
    ticks?.cancel()
    ticks = nil
  }
}

/// Reads a source from the tape.
func source(_ tape: inout Tape, _ world: World) -> Upstream {
  let kind = tape.below(16)
  let values = (0..<tape.below(6)).map { _ in tape.below(8) }
  let fails = tape.below(4) == 0
  let ending: Subscribers.Completion<MarbleFailure> = fails ? .failure(MarbleFailure()) : .finished
  if fails { world.traits.insert(.mayFail) }
  func named(_ name: String) { world.names.append("\(name) \(values) \(ending)") }
  switch kind {
  case 0..<4:
    named("at once")
    return Upstream(ScriptedSource(world: world, values: values, ending: ending, pace: nil))
  case 4..<7:
    let pace = tape.below(3) + 1
    named("every \(pace) ms")
    return Upstream(ScriptedSource(world: world, values: values, ending: ending, pace: pace))
  case 7:
    named("without end")
    world.traits.insert(.mayStayOpen)
    return Upstream(ScriptedSource(world: world, values: values, ending: nil, pace: 1))
  case 8:
    named("Record")
    return Upstream(Record(output: values, completion: ending))
  case 9:
    named("sequence")
    return Upstream(values.publisher.setFailureType(to: MarbleFailure.self))
  case 10:
    named("Just or Fail")
    return fails ? Upstream(Fail(error: MarbleFailure())) : Upstream(Just(3).setFailureType(to: MarbleFailure.self))
  case 11: return future(&tape, world, ending)
  case 12: return create(world, values, ending)
  case 13:
    named("hot")
    return hot(world, values, ending)
  case 14:
    named("Interval")
    world.traits.insert(.dependsOnDemand)
    return Upstream(
      Interval(every: .milliseconds(2), scheduler: world.time).prefix(4).map { _ in 4 }
        .setFailureType(to: MarbleFailure.self))
  default: return subject(&tape, world)
  }
}

private func future(
  _ tape: inout Tape, _ world: World, _ ending: Subscribers.Completion<MarbleFailure>
) -> Upstream {
  let delay = tape.below(3)
  world.names.append("Future after \(delay) ms \(ending)")
  let time = world.time
  let result: Result<Int, MarbleFailure> = if case .failure(let error) = ending { .failure(error) } else { .success(5) }
  return Upstream(
    Deferred {
      Future<Int, MarbleFailure> { promise in
        guard delay > 0 else { return promise(result) }
        time.schedule(after: time.now.advanced(by: .milliseconds(delay))) { promise(result) }
      }
    })
}

private func create(_ world: World, _ values: [Int], _ ending: Subscribers.Completion<MarbleFailure>) -> Upstream {
  world.names.append("Create \(values) \(ending)")
  world.traits.insert(.failsAtOnce)
  return Upstream(
    Create<Int, MarbleFailure> { emitter in
      world.existing += 1
      emitter.onCancel { world.existing -= 1 }
      for value in values { emitter.send(value) }
      emitter.send(completion: ending)
    })
}

/// A subject that gets values at set times, with or without subscribers.
private func hot(_ world: World, _ values: [Int], _ ending: Subscribers.Completion<MarbleFailure>) -> Upstream {
  world.traits.insert(.dependsOnDemand)
  let subject = PassthroughSubject<Int, MarbleFailure>()
  for (index, value) in values.enumerated() {
    world.time.schedule(after: world.time.now.advanced(by: .milliseconds(index + 1))) { subject.send(value) }
  }
  world.time.schedule(after: world.time.now.advanced(by: .milliseconds(values.count + 1))) {
    subject.send(completion: ending)
  }
  return Upstream(subject)
}

/// A subject to which the run sends values.
private func subject(_ tape: inout Tape, _ world: World) -> Upstream {
  world.traits.formUnion([.dependsOnDemand, .mayFail])
  switch tape.below(3) {
  case 0:
    world.names.append("PassthroughSubject")
    let subject = PassthroughSubject<Int, MarbleFailure>()
    world.subjects.append(({ subject.send($0) }, { subject.send(completion: $0) }))
    return Upstream(subject)
  case 1:
    world.names.append("CurrentValueSubject")
    let subject = CurrentValueSubject<Int, MarbleFailure>(2)
    world.subjects.append(({ subject.send($0) }, { subject.send(completion: $0) }))
    return Upstream(subject)
  default:
    world.names.append("ReplaySubject")
    let subject = ReplaySubject<Int, MarbleFailure>(count: 2)
    world.subjects.append(({ subject.send($0) }, { subject.send(completion: $0) }))
    return Upstream(subject)
  }
}
