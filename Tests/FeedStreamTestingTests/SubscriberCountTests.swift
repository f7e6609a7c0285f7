import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct SubscriberCountTests {
  let time = VirtualTimeScheduler()

  /// Counts while two subscribe, one cancels, and the other receives the completion.
  private func count<S: Subject>(_ subject: S, _ count: () -> Int) where S.Output == Int, S.Failure == Never {
    #expect(count() == 0)
    let first = subject.record(on: time)
    let second = subject.record(on: time, demand: .none)
    #expect(count() == 2)
    first.cancel()
    #expect(count() == 1)
    second.request(.unlimited)
    subject.send(completion: .finished)
    #expect(count() == 0)
    first.cancel()
    let late = subject.record(on: time)
    #expect(late.completion == .finished)
    #expect(count() == 0)
  }

  @Test func `subscriberCount is the number of a subject's subscribers`() {
    let passthrough = PassthroughSubject<Int, Never>()
    count(passthrough) { passthrough.subscriberCount }
    let current = CurrentValueSubject<Int, Never>(1)
    count(current) { current.subscriberCount }
    let replay = ReplaySubject<Int, Never>(count: 1)
    count(replay) { replay.subscriberCount }
  }

  @Test func `an operator's subscription counts until it completes`() {
    let subject = PassthroughSubject<Int, Never>()
    let recorder = subject.prefix(1).record(on: time)
    #expect(subject.subscriberCount == 1)
    subject.send(1)
    #expect(subject.subscriberCount == 0)
    recorder.expect("(1|)")
  }
}
