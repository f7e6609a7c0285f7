import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct StepVerifierTests {
  let time = VirtualTimeScheduler()
  var source: ScriptedPublisher<Int, MarbleFailure> { time.cold("12 1s 3 10s #") }

  @Test func `a verifier takes the steps in order`() {
    source.verify(on: time, demand: DemandScript(initial: .max(1)))
      .expectNext(1)
      .expectNoEvent(for: 0.5)
      .thenRequest(2)
      .expectNext(2, 3)
      .expectNoEvent(for: 9)
      .expectFailure { $0 == MarbleFailure() }
      .verify()
  }

  @Test func `the first unmet step fails on its own line`() {
    let failures = failures {
      source.verify(on: time)
        .expectNext(1)
        .expectNext(7)
        .expectNext(8)
        .verify()
    }
    #expect(failures.map(\.line) == [#line - 4])
    #expect(failures[0].message == "Expected the value ‹7›, but at 1ms there was ‹2›.")
  }

  @Test func `an event too many fails`() {
    let failures = failures {
      source.verify(on: time).expectNext(1).expectNoEvent(for: 1).verify()
    }
    #expect(failures.map(\.message) == ["Expected nothing for 1s, but at 1ms there was ‹2›."])
  }

  @Test func `a verifier explains why nothing happened`() {
    let failures = failures {
      source.verify(on: time, demand: DemandScript(initial: .max(1))).expectNext(1, 2).verify()
      source.verify(on: time).expectNext(1, 2, 3).expectFailure().expectFinished().verify()
    }
    #expect(
      failures.map(\.message) == [
        "Expected the value ‹2›, but nothing happened: the subscriber has asked for no more (asked for 1, received 1).",
        "Expected the stream to finish, but the stream failed at 22.002s with # already.",
      ])
  }

  @Test(.timeLimit(.minutes(1))) func `work without end is reported once, on the step's line`() {
    let time = time
    time.workLimit = 100
    let subject = PassthroughSubject<Int, Never>()
    func again() { time.schedule { again() } }
    let failures = failures {
      let timer = time.schedule(after: time.now, interval: 1) { subject.send(1) }
      subject.filter { $0 > 1 }.verify(on: time).expectNext(2).verify()
      timer.cancel()
      again()
      subject.verify(on: time).expectNext(2).verify()
    }
    #expect(failures.map(\.line) == [#line - 5, #line - 2])
    #expect(
      failures[0].message.hasPrefix(
        "Expected the value ‹2›, but nothing happened until 99s, in which time was moved 100 times, and there is more to "
          + "do: 100s: FeedStreamTestingTests/StepVerifierTests.swift:"))
    #expect(failures[1].message.hasPrefix("Expected the value ‹2›, but 100 pieces of work ran at 99s"))
  }

  @Test func `a step that asks for nothing or expects nothing fails`() {
    let failures = failures {
      source.verify(on: time, demand: .none).thenRequest(0).verify()
      source.verify(on: time, demand: .none).thenRequest(-1).verify()
      source.verify(on: time, demand: .none).expectNext().verify()
    }
    let linesAbove = failures.map { UInt(#line) - $0.line }
    #expect(linesAbove == [4, 3, 2])
    #expect(
      failures.map(\.message) == [
        "thenRequest(0) asks for nothing; ask for one value or more.",
        "thenRequest(-1) asks for nothing; ask for one value or more.",
        "expectNext() expects nothing; say which values come next, or expectNoEvent(for:).",
      ])
  }

  @Test func `what is left at the end fails`() {
    let failures = failures {
      source.verify(on: time)
        .expectNext(1)
        .thenAdvance(by: 0.5)
        .verify()
      source.verify(on: time).expectNext(1).thenCancel().verify()
    }
    #expect(
      failures.map(\.message) == [
        "After the last step: Nobody looked at an event: 1ms 2. "
          + "The subscription made here is still live: end the stream or cancel it."
      ])
  }
}
