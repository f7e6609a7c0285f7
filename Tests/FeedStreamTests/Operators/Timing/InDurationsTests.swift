import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

/// The same length of time in both types.
private let stride: StreamInstant.Stride = .microseconds(2600)
private let duration = Duration.microseconds(2600)

/// A timing operator in its three forms: with the scheduler's stride, with a `Duration`, and on `any LoopScheduler`.
struct TimedForms: Sendable, CustomTestStringConvertible {
  typealias Source = ScriptedPublisher<String, MarbleFailure>

  let testDescription: String
  let inStrides: @Sendable () -> String
  let inDurations: @Sendable () -> String
  let onAnyLoop: @Sendable () -> String

  init<P: Publisher & SendableMetatype, Q: Publisher & SendableMetatype, R: Publisher & SendableMetatype>(
    _ name: String, strides: @escaping @Sendable (Source, VirtualTimeScheduler) -> P,
    durations: @escaping @Sendable (Source, VirtualTimeScheduler) -> Q,
    any: @escaping @Sendable (Source, any LoopScheduler) -> R
  ) {
    testDescription = name
    inStrides = { Self.recording(strides) }
    inDurations = { Self.recording(durations) }
    onAnyLoop = { Self.recording(any) }
  }

  /// Records every event with its time; a value that is a publisher is recorded with its own events.
  private static func recording<P: Publisher>(_ build: (Source, VirtualTimeScheduler) -> P) -> String {
    withVirtualTime { time in
      let source = time.hot("-ab--c------d-|")
      let values = build(source, time).prefix(12).flatMap { value -> AnyPublisher<String, P.Failure> in
        guard let window = value as? AnyPublisher<String, MarbleFailure> else {
          return Just("\(value)").setFailureType(to: P.Failure.self).eraseToAnyPublisher()
        }
        return window.replaceError(with: "failed").setFailureType(to: P.Failure.self).eraseToAnyPublisher()
      }
      let recorder = values.record(on: time)
      time.run()
      return "\(recorder.events)"
    }
  }

  static let all = [
    TimedForms("debounce") {
      $0.debounce(for: stride, scheduler: $1)
    } durations: {
      $0.debounce(for: duration, scheduler: $1)
    } any: {
      $0.debounce(for: duration, scheduler: $1)
    },
    TimedForms("throttle") {
      $0.throttle(for: stride, scheduler: $1, latest: true)
    } durations: {
      $0.throttle(for: duration, scheduler: $1, latest: true)
    } any: {
      $0.throttle(for: duration, scheduler: $1, latest: true)
    },
    TimedForms("delay") {
      $0.delay(for: stride, tolerance: stride, scheduler: $1)
    } durations: {
      $0.delay(for: duration, tolerance: duration, scheduler: $1)
    } any: {
      $0.delay(for: duration, tolerance: duration, scheduler: $1)
    },
    TimedForms("prefix") {
      $0.prefix(for: stride, scheduler: $1)
    } durations: {
      $0.prefix(for: duration, scheduler: $1)
    } any: {
      $0.prefix(for: duration, scheduler: $1)
    },
    TimedForms("delaySubscription") {
      $0.delaySubscription(for: stride, scheduler: $1)
    } durations: {
      $0.delaySubscription(for: duration, scheduler: $1)
    } any: {
      $0.delaySubscription(for: duration, scheduler: $1)
    },
    TimedForms("window") {
      $0.window(for: stride, scheduler: $1)
    } durations: {
      $0.window(for: duration, scheduler: $1)
    } any: {
      $0.window(for: duration, scheduler: $1)
    },
    TimedForms("sample") {
      $0.sample(every: stride, scheduler: $1)
    } durations: {
      $0.sample(every: duration, scheduler: $1)
    } any: {
      $0.sample(every: duration, scheduler: $1)
    },
    TimedForms("buffer") {
      $0.buffer(for: stride, scheduler: $1)
    } durations: {
      $0.buffer(for: duration, scheduler: $1)
    } any: {
      $0.buffer(for: duration, scheduler: $1)
    },
    TimedForms("collect by time") {
      $0.collect(.byTime($1, stride))
    } durations: {
      let collected = $0.collect(.byTime($1, duration))
      return collected
    } any: {
      let collected = $0.collect(.byTime($1, duration))
      return collected
    },
    TimedForms("collect by time or count") {
      $0.collect(.byTimeOrCount($1, stride, 2))
    } durations: {
      let collected = $0.collect(.byTimeOrCount($1, duration, 2))
      return collected
    } any: {
      let collected = $0.collect(.byTimeOrCount($1, duration, 2))
      return collected
    },
    TimedForms("timeout") {
      $0.timeout(stride, scheduler: $1)
    } durations: {
      $0.timeout(duration, scheduler: $1)
    } any: {
      $0.timeout(duration, scheduler: $1)
    },
    TimedForms("timeout with an error that says where") {
      $0.timeout(stride, scheduler: $1) { _ in MarbleFailure() }
    } durations: {
      $0.timeout(duration, scheduler: $1) { _ in MarbleFailure() }
    } any: {
      $0.timeout(duration, scheduler: $1) { _ in MarbleFailure() }
    },
    TimedForms("timeout with a fallback") {
      $0.timeout(stride, scheduler: $1, fallback: Just("x").setFailureType(to: MarbleFailure.self))
    } durations: {
      $0.timeout(duration, scheduler: $1, fallback: Just("x").setFailureType(to: MarbleFailure.self))
    } any: {
      $0.timeout(duration, scheduler: $1, fallback: Just("x").setFailureType(to: MarbleFailure.self))
    },
    TimedForms("repeat") {
      $0.prefix(1).repeat(3, after: stride, scheduler: $1)
    } durations: {
      $0.prefix(1).repeat(3, after: duration, scheduler: $1)
    } any: {
      $0.prefix(1).repeat(3, after: duration, scheduler: $1)
    },
    TimedForms("Interval") {
      $0.merge(with: ticks(Interval(after: stride, every: stride, tolerance: stride, scheduler: $1)))
    } durations: {
      $0.merge(with: ticks(Interval(after: duration, every: duration, tolerance: duration, scheduler: $1)))
    } any: {
      $0.merge(with: ticks(Interval(after: duration, every: duration, tolerance: duration, scheduler: $1)))
    },
    TimedForms("timer") {
      $0.merge(with: ticks($1.timer(every: stride, tolerance: stride).autoconnect()))
    } durations: {
      $0.merge(with: ticks($1.timer(every: duration, tolerance: duration).autoconnect()))
    } any: {
      $0.merge(with: ticks($1.timer(every: duration, tolerance: duration).autoconnect()))
    },
    TimedForms("Timer") {
      $0.merge(with: ticks(Publishers.Timer(every: stride, tolerance: stride, scheduler: $1).autoconnect()))
    } durations: {
      $0.merge(with: ticks(Publishers.Timer(every: duration, tolerance: duration, scheduler: $1).autoconnect()))
    } any: {
      $0.merge(with: ticks(Publishers.Timer(every: duration, tolerance: duration, scheduler: $1).autoconnect()))
    },
    TimedForms("ReplaySubject") {
      replayed($0, by: ReplaySubject(maxAge: stride, scheduler: $1), $1)
    } durations: {
      replayed($0, by: ReplaySubject(maxAge: duration, scheduler: $1), $1)
    } any: {
      replayed($0, by: ReplaySubject(maxAge: duration, scheduler: $1), $1)
    },
    // Operators that take any scheduler, but no length of time.
    TimedForms("receive") {
      $0.receive(on: $1)
    } durations: {
      $0.receive(on: $1)
    } any: {
      $0.receive(on: $1)
    },
    TimedForms("subscribe") {
      $0.subscribe(on: $1)
    } durations: {
      $0.subscribe(on: $1)
    } any: {
      $0.subscribe(on: $1)
    },
    TimedForms("measureInterval") {
      $0.measureInterval(using: $1)
    } durations: {
      $0.measureInterval(using: $1)
    } any: {
      $0.measureInterval(using: $1)
    },
    TimedForms("retry") {
      $0.tryMap { _ in throw MarbleFailure() as any Error }.retry(.constant(duration, limit: 2), scheduler: $1)
    } durations: {
      $0.tryMap { _ in throw MarbleFailure() as any Error }.retry(.constant(duration, limit: 2), scheduler: $1)
    } any: {
      $0.tryMap { _ in throw MarbleFailure() as any Error }.retry(.constant(duration, limit: 2), scheduler: $1)
    },
  ]

  private static func ticks<P: Publisher>(_ ticks: P) -> some Publisher<String, MarbleFailure> & SendableMetatype
  where P.Failure == Never {
    ticks.prefix(3).map { "\($0)" }.setFailureType(to: MarbleFailure.self)
  }

  private static func replayed(
    _ source: Source, by subject: ReplaySubject<String, MarbleFailure>, _ time: any LoopScheduler
  ) -> some Publisher<String, MarbleFailure> & SendableMetatype {
    let feeding = source.sink {
      subject.send(completion: $0)
    } receiveValue: {
      subject.send($0)
    }
    return subject.delaySubscription(for: .milliseconds(4), scheduler: time)
      .handleEvents(receiveCompletion: { _ in feeding.cancel() })
  }
}

@Suite(.settled) struct InDurationsTests {
  @Test(arguments: TimedForms.all) func `a Duration is equivalent to a stride`(_ forms: TimedForms) {
    #expect(forms.inDurations() == forms.inStrides())
    #expect(forms.inStrides() != "[]")
  }

  @Test func `untyped literals and units still use the scheduler's own stride`() {
    let time = VirtualTimeScheduler()
    let debounced: [Publishers.Debounce<Just<Int>, VirtualTimeScheduler>] = [
      Just(1).debounce(for: 3, scheduler: time), Just(1).debounce(for: 0.5, scheduler: time),
      Just(1).debounce(for: .seconds(3), scheduler: time), Just(1).debounce(for: .zero, scheduler: time),
    ]
    #expect(debounced.map(\.dueTime.nanoseconds) == [3_000_000_000, 500_000_000, 3_000_000_000, 0])
  }

  @Test func `every scheduler accepts a Duration`() {
    let long = Duration.milliseconds(1500)
    #expect(DispatchQueue.SchedulerTimeType.Stride(long) == .seconds(1.5))
    #expect(RunLoop.SchedulerTimeType.Stride(long) == .seconds(1.5))
    #expect(ImmediateScheduler.SchedulerTimeType.Stride(Duration.seconds(1)) == .zero)
    #expect(StreamInstant.Stride(Duration.seconds(Int64.max)) == StreamInstant.Stride(nanoseconds: .max))
    #expect(RunLoop.SchedulerTimeType.Stride(Duration.seconds(Int64.min)) < .zero)
    let queued = Just(1).delay(for: duration, scheduler: DispatchQueue.main)
    #expect(queued.interval == stride)
  }
}
