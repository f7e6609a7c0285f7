import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

/// The hook is process-wide. In this process, only these tests may set it, one at a time; they react only to values
/// that no other test sends.
@Suite("Dropped values are reported", .serialized, .settled) struct StreamDiagnosticsTests {
  private struct Probe: Equatable { let number: Int }

  private func drops(_ body: () -> Void) -> [String] {
    let drops = Journal<String>()
    StreamDiagnostics.onDrop { drop in
      switch drop.value {
      case let probe as Probe: drops.note("\(drop.source) \(probe.number) \(drop.reason)")
      case let result as Result<Probe, Boom>:
        if case .success(let probe) = result { drops.note("\(drop.source) \(probe.number) \(drop.reason)") }
      case let group as GroupedPublisher<Int, Probe, Boom>: drops.note("\(drop.source) group \(group.key)")
      case is ReplaySubject<Probe, Boom>: drops.note("\(drop.source) window")
      default: break
      }
    }
    defer { StreamDiagnostics.onDrop(nil) }
    body()
    return drops.entries
  }

  @Test func `send returns what happened to a value, and dropped values are reported`() {
    let dropped = drops {
      let subject = PassthroughSubject<Probe, Never>()
      #expect(subject.send(Probe(number: 1)).isLost)
      let patient = subject.sink { _ in }
      subject.subscribe(AnySubscriber<Probe, Never>(receiveSubscription: { _ in }))
      let delivery = subject.send(Probe(number: 2))
      #expect(delivery.delivered == 1)
      #expect(delivery.dropped == 1)
      subject.send(completion: .finished)
      #expect(subject.send(Probe(number: 3)).isTerminated)
      patient.cancel()
    }
    #expect(
      dropped == [
        "PassthroughSubject 1 noSubscriber", "PassthroughSubject 2 noDemand", "PassthroughSubject 3 terminated",
      ])
  }

  @Test func `a current value replaced before it was requested is reported`() {
    let subject = CurrentValueSubject<Probe, Never>(Probe(number: 0))
    let recorder = subject.record(demand: .max(1))
    let dropped = drops {
      for number in 1...3 { subject.send(Probe(number: number)) }
      recorder.request(.max(1))
      subject.send(Probe(number: 4))
      subject.send(completion: .finished)
    }
    #expect(recorder.values.map(\.number) == [0, 3])
    #expect(
      dropped == [
        "CurrentValueSubject 1 bufferFull", "CurrentValueSubject 2 bufferFull", "CurrentValueSubject 4 noDemand",
      ])
  }

  @Test func `a current value that was requested in time isn't reported`() {
    let subject = CurrentValueSubject<Probe, Never>(Probe(number: 0))
    let recorder = subject.record(demand: .max(1))
    let dropped = drops {
      subject.send(Probe(number: 1))
      recorder.request(.max(2))
      subject.send(Probe(number: 2))
      recorder.cancel()
    }
    #expect(dropped.isEmpty)
  }

  @Test func `a property's value replaced during its delivery is reported if a subscriber misses the newer one too`() {
    final class Model: ObservableObject { @Published var probe = Probe(number: 0) }
    let cases: [(demand: Int, dropped: [String])] = [(2, []), (1, ["@Published 1 bufferFull"])]
    for (demand, expected) in cases {
      let model = Model()
      let first = model.$probe.sink { if $0.number == 1 { model.probe = Probe(number: 2) } }
      let recorder = model.$probe.record(demand: .max(demand))
      #expect(drops { model.probe = Probe(number: 1) } == expected)
      recorder.request(.max(1))
      #expect(recorder.values.map(\.number) == [0, 2])
      first.cancel()
      recorder.cancel()
    }
  }

  @Test func `a property's replaced value isn't reported if the newer one is requested during the delivery`() {
    final class Model: ObservableObject { @Published var probe = Probe(number: 0) }
    let model = Model()
    var late: Recorder<Probe, Never>?
    let first = model.$probe.sink {
      guard $0.number == 1 else { return }
      model.probe = Probe(number: 2)
      late?.request(.max(1))
    }
    late = model.$probe.record(demand: .max(1))
    #expect(drops { model.probe = Probe(number: 1) }.isEmpty)
    #expect(late?.values.map(\.number) == [0, 2])
    first.cancel()
    late?.cancel()
  }

  @Test func `the value that overflows a failing buffer is reported`() {
    let subject = PassthroughSubject<Probe, Boom>()
    let recorder = subject.buffer(size: 1, prefetch: .byRequest, whenFull: .customError { Boom() })
      .record(demand: .none)
    let dropped = drops { for number in 1...2 { subject.send(Probe(number: number)) } }
    #expect(dropped.first == "Buffer 2 bufferFull")
    recorder.cancel()
  }

  @Test func `values that collect held when upstream failed are reported`() {
    let subject = PassthroughSubject<Probe, Boom>()
    let recorder = subject.collect(2).record()
    let dropped = drops {
      for number in 1...3 { subject.send(Probe(number: number)) }
      subject.send(completion: .failure(Boom()))
    }
    #expect(recorder.values.count == 1)
    #expect(dropped == ["CollectByCount 3 terminated"])
  }

  @Test func `values in overlapping arrays are reported once each when upstream fails`() {
    let subject = PassthroughSubject<Probe, Boom>()
    let recorder = subject.collect(3, every: 1).record()
    let dropped = drops {
      for number in 1...4 { subject.send(Probe(number: number)) }
      subject.send(completion: .failure(Boom()))
    }
    #expect(recorder.values.count == 2)
    #expect(dropped == ["CollectByStep 3 terminated", "CollectByStep 4 terminated"])
  }

  @Test func `values that reduce has combined aren't reported as dropped`() {
    let subject = PassthroughSubject<Probe, Boom>()
    let recorder = subject.reduce([]) { $0 + [$1] }.map(\.count).record()
    let dropped = drops {
      subject.send(Probe(number: 1))
      subject.send(completion: .failure(Boom()))
    }
    #expect(recorder.failure == Boom())
    #expect(dropped.isEmpty)
  }

  @Test func `values sent to a finished emitter or a kept promise are reported`() {
    let dropped = drops {
      let created = Create<Probe, Never> { emitter in
        emitter.send(completion: .finished)
        emitter.send(Probe(number: 1))
      }.record()
      let future = Future<Probe, Boom> { promise in
        promise(.success(Probe(number: 2)))
        promise(.success(Probe(number: 3)))
      }.record()
      withExtendedLifetime((created, future)) {}
    }
    #expect(dropped == ["Create 1 terminated", "Future 3 terminated"])
  }

  @Test func `values that arrive while flatMapFirst is busy are reported`() {
    let subject = PassthroughSubject<Probe, Never>()
    let recorder = subject.flatMapFirst { _ in Empty<Int, Never>(completeImmediately: false) }.record()
    let dropped = drops { for number in 1...2 { subject.send(Probe(number: number)) } }
    #expect(dropped == ["FlatMapFirst 2 busy"])
    recorder.cancel()
  }

  @Test func `values dropped by onBackpressureDrop are reported`() {
    let subject = PassthroughSubject<Probe, Never>()
    let recorder = subject.onBackpressureDrop().record(demand: .none)
    let dropped = drops { subject.send(Probe(number: 1)) }
    #expect(dropped == ["OnBackpressureDrop 1 noDemand"])
    recorder.cancel()
  }

  @Test func `values that throttle could not deliver are reported`() {
    withVirtualTime { time in
      let subject = PassthroughSubject<Probe, Never>()
      let recorder = subject.throttle(for: .milliseconds(4), scheduler: time, latest: true).record(
        on: time, demand: .none)
      let dropped = drops { subject.send(Probe(number: 1)) }
      #expect(dropped == ["Throttle 1 noDemand"])
      recorder.cancel()
    }
  }

  @Test func `values that buffer(on:) held when upstream failed are reported`() {
    let subject = PassthroughSubject<Probe, Boom>()
    let recorder = subject.buffer(on: PassthroughSubject<Void, Never>()).record()
    let dropped = drops {
      for number in 1...2 { subject.send(Probe(number: number)) }
      subject.send(completion: .failure(Boom()))
    }
    #expect(dropped == ["CollectOn 1 terminated", "CollectOn 2 terminated"])
    #expect(recorder.values.isEmpty)
  }

  @Test func `unrequested groups and windows are reported when upstream fails`() {
    let subject = PassthroughSubject<Probe, Boom>()
    let recorders = [
      subject.groupBy { $0.number }.map { _ in 0 }.record(demand: .none),
      subject.window(1).map { _ in 0 }.record(demand: .none),
    ]
    let dropped = drops {
      for number in 1...2 { subject.send(Probe(number: number)) }
      subject.send(completion: .failure(Boom()))
    }
    #expect(dropped.sorted() == ["GroupBy group 1", "GroupBy group 2", "Window window", "Window window"])
    #expect(recorders.allSatisfy { $0.failure == Boom() })
  }

  @Test func `values that merge and concatMap held when upstream failed are reported`() {
    let subjects = (0..<2).map { _ in PassthroughSubject<Probe, Boom>() }
    let merged = subjects[0].merge(with: subjects[1]).record(demand: .none)
    #expect(
      drops {
        subjects[0].send(Probe(number: 1))
        subjects[1].send(completion: .failure(Boom()))
      } == ["Merge 1 terminated"])
    merged.cancel()

    let upstream = PassthroughSubject<Probe, Boom>()
    let mapped = upstream.concatMap { _ in PassthroughSubject<Int, Boom>() }.record()
    #expect(
      drops {
        for number in 1...3 { upstream.send(Probe(number: number)) }
        upstream.send(completion: .failure(Boom()))
      } == ["ConcatMap 2 terminated", "ConcatMap 3 terminated"])
    mapped.cancel()
  }

  @Test func `values without a partner in zip are reported`() {
    for zipped in [
      { (a: PassthroughSubject<Probe, Never>, b: PassthroughSubject<Int, Never>) in
        a.zip(b).map(\.0).eraseToAnyPublisher()
      },
      { a, b in zip(a, b).map(\.0).eraseToAnyPublisher() },
    ] {
      let (a, b) = (PassthroughSubject<Probe, Never>(), PassthroughSubject<Int, Never>())
      let recorder = zipped(a, b).record()
      #expect(
        drops {
          a.send(Probe(number: 1))
          b.send(1)
          a.send(Probe(number: 2))
          b.send(completion: .finished)
        } == ["Zip 2 terminated"])
      #expect(recorder.completion == .finished)
    }
  }

  @Test func `values that collect and takeLast kept when upstream failed are reported`() {
    let subject = PassthroughSubject<Probe, Boom>()
    let recorders = [
      subject.collect().map(\.count).record(), subject.takeLast(2).map(\.number).record(),
    ]
    let dropped = drops {
      for number in 1...2 { subject.send(Probe(number: number)) }
      subject.send(completion: .failure(Boom()))
    }
    #expect(
      dropped.sorted() == [
        "Collect 1 terminated", "Collect 2 terminated", "TakeLast 1 terminated", "TakeLast 2 terminated",
      ])
    #expect(recorders.allSatisfy { $0.values.isEmpty })
  }

  @Test func `values that collect delivers after a stray failure aren't reported as dropped`() {
    struct FinishesAndFails: Publisher {
      typealias Output = Probe
      typealias Failure = Boom

      func receive<S: Subscriber>(subscriber: S) where S.Input == Probe, S.Failure == Boom {
        subscriber.receive(subscription: Subscriptions.empty)
        _ = subscriber.receive(Probe(number: 1))
        subscriber.receive(completion: .finished)
        subscriber.receive(completion: .failure(Boom()))
      }
    }
    let dropped = drops {
      let recorder = FinishesAndFails().collect().map(\.count).record(demand: .none)
      recorder.request(.max(1))
      #expect(recorder.values == [1] && recorder.completion == .finished)
    }
    #expect(dropped.isEmpty)
  }

  @Test func `a skipped JSON line is reported as a caught error, unless a handler receives it`() {
    let errors = Journal<String>()
    StreamDiagnostics.onCaughtError { if $0.source.hasPrefix("decodeJSONLines") { errors.note($0.source) } }
    defer { StreamDiagnostics.onCaughtError(nil) }
    let lines = (["1\nx\n2\n"] as [Chunk]).publisher
    #expect(lines.decodeJSONLines(Int.self, onInvalid: .skip()).record().values == [1, 2])
    #expect(lines.decodeJSONLines(Int.self, onInvalid: .skip { _ in }).record().values == [1, 2])
    #expect(errors.entries == ["decodeJSONLines: line 2"])
  }

  @Test func `a drop is reported with the name of the public operator`() {
    let source = PassthroughSubject<Probe, Never>()
    let shared = source.share()
    let (fast, slow) = (shared.record(), shared.record(demand: .none))
    let latest = source.onBackpressureLatest().record(demand: .none)
    let dropped = drops { for number in 1...2 { source.send(Probe(number: number)) } }
    #expect(dropped == ["Share 1 noDemand", "Share 2 noDemand", "OnBackpressureLatest 1 bufferFull"])
    for recorder in [fast, slow, latest] { recorder.cancel() }
  }
}
