import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

/// Spellings that Combine's users know: half of each test is that they compile.
@Suite("Combine's spellings compile", .settled) struct CombineSpellingTests {
  @Test func `send can be passed as a function that returns nothing`() {
    let subject = PassthroughSubject<Int, Never>()
    let recorder = subject.record()
    _ = [1, 2].publisher.sink(receiveValue: subject.send)
    [3].forEach(subject.send)
    let send: (Int) -> Void = subject.send
    send(4)
    let delivery = subject.send(5)
    #expect(delivery.delivered == 1)
    #expect(recorder.values == [1, 2, 3, 4, 5])
    recorder.cancel()

    let signal = CurrentValueSubject<Void, Never>(())
    let ring: () -> Void = signal.send
    ring()
    ReplaySubject<Int, Never>(count: 1).send(1)
  }

  @Test func `Merge3 to Merge8 have initializers as in Combine`() {
    let one = Just(1)
    #expect(values(Publishers.Merge3(one, Just(2), Just(3))) == [1, 2, 3])
    #expect(values(Publishers.Merge4(one, Just(2), Just(3), Just(4))) == [1, 2, 3, 4])
    #expect(values(Publishers.Merge5(one, one, one, one, one)).count == 5)
    #expect(values(Publishers.Merge6(one, one, one, one, one, one)).count == 6)
    #expect(values(Publishers.Merge7(one, one, one, one, one, one, one)).count == 7)
    let eight: Publishers.Merge8 = Publishers.Merge8(one, one, one, one, one, one, one, one)
    #expect(values(eight).count == 8)
  }

  @Test func `flatMapLatest, withLatestFrom and switchIfEmpty mix publishers that can and can't fail`() {
    let typing = Just("s")
    let answers = typing.flatMapLatest { _ in Fail<Int, Boom>(error: Boom()) }.record()
    #expect(answers.completion == .failure(Boom()))
    let failing = typing.setFailureType(to: Boom.self)
    #expect(values(failing.flatMapLatest { Just($0 + "!") }) == ["s!"])
    #expect(values(typing.flatMapLatest { Just($0 + "!") }) == ["s!"])
    #expect(values(failing.withLatestFrom(Just(1))).map(\.1) == [1])
    #expect(values(Empty<Int, Boom>().switchIfEmpty(Just(1))) == [1])
  }

  @Test func `MapError takes a trailing closure`() {
    let mapped = Publishers.MapError(upstream: Fail<Int, Boom>(error: Boom())) { _ in Other() }
    #expect(mapped.record().completion == .failure(Other()))
  }

  private func values<P: Publisher>(_ publisher: P) -> [P.Output] {
    let recorder = publisher.record()
    return recorder.values
  }

  private struct Other: Error, Equatable {}
}
