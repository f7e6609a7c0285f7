import FeedStream
import Testing

/// The hook is the process's: only the tests here set it, one at a time, and they listen to values that no other sends.
@Suite("what is dropped is reported", .serialized, .settled) struct DroppedValueTests {
  private struct Probe: Equatable { let number: Int }

  private func drops(_ body: () -> Void) -> [String] {
    let drops = Journal<String>()
    StreamDiagnostics.onDrop { drop in
      switch drop.value {
      case let probe as Probe: drops.note("\(drop.source) \(probe.number) \(drop.reason)")
      case let result as Result<Probe, Boom>:
        if case .success(let probe) = result { drops.note("\(drop.source) \(probe.number) \(drop.reason)") }
      default: break
      }
    }
    defer { StreamDiagnostics.onDrop(nil) }
    body()
    return drops.entries
  }

  private let time = MarbleTime()

  @Test func `a present value that another replaces before it was asked for`() {
    let subject = CurrentValueSubject<Probe, Never>(Probe(number: 0))
    let recorder = subject.record(on: time, asking: .max(1))
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

  @Test func `a present value that was asked for in time is not lost`() {
    let subject = CurrentValueSubject<Probe, Never>(Probe(number: 0))
    let recorder = subject.record(on: time, asking: .max(1))
    let dropped = drops {
      subject.send(Probe(number: 1))
      recorder.request(.max(2))
      subject.send(Probe(number: 2))
      recorder.cancel()
    }
    #expect(dropped.isEmpty)
  }

  @Test func `the value that makes a buffer fail`() {
    let subject = PassthroughSubject<Probe, Boom>()
    let recorder = subject.buffer(size: 1, prefetch: .byRequest, whenFull: .customError { Boom() })
      .record(on: time, asking: .none)
    let dropped = drops { for number in 1...2 { subject.send(Probe(number: number)) } }
    #expect(dropped.first == "Buffer 2 bufferFull")
    recorder.cancel()
  }

  @Test func `what collect had when upstream failed`() {
    let subject = PassthroughSubject<Probe, Boom>()
    let recorder = subject.collect(2).record(on: time)
    let dropped = drops {
      for number in 1...3 { subject.send(Probe(number: number)) }
      subject.send(completion: .failure(Boom()))
    }
    #expect(recorder.values.count == 1)
    #expect(dropped == ["CollectByCount 3 terminated"])
  }

  @Test func `what is sent to an emitter that is over, and a promise kept twice`() {
    let dropped = drops {
      let created = Publishers.Create<Probe, Never> { emitter in
        emitter.send(completion: .finished)
        emitter.send(Probe(number: 1))
      }.record(on: time)
      let future = Future<Probe, Boom> { promise in
        promise(.success(Probe(number: 2)))
        promise(.success(Probe(number: 3)))
      }.record(on: time)
      withExtendedLifetime((created, future)) {}
    }
    #expect(dropped == ["Create 1 terminated", "Future 3 terminated"])
  }

  @Test func `what arrives while flatMapFirst is busy`() {
    let subject = PassthroughSubject<Probe, Never>()
    let recorder = subject.flatMapFirst { _ in Empty<Int, Never>(completeImmediately: false) }.record(on: time)
    let dropped = drops { for number in 1...2 { subject.send(Probe(number: number)) } }
    #expect(dropped == ["FlatMapFirst 2 busy"])
    recorder.cancel()
  }

  @Test func `onBackpressure tells its handler and the hook`() {
    let subject = PassthroughSubject<Probe, Never>()
    let recorder = subject.onBackpressureDrop().record(on: time, asking: .none)
    let dropped = drops { subject.send(Probe(number: 1)) }
    #expect(dropped == ["OnBackpressure 1 noDemand"])
    recorder.cancel()
  }
}
