import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct StepVerifierTests {
  let time = VirtualTimeScheduler()
  var source: ScriptedPublisher<Int, MarbleFailure> { time.cold("12 1s 3 10s #") }

  @Test func `a verifier checks its steps in order`() {
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
    #expect(failures[0].message == "Step 2 of 3: expected the value ‹7›, but at 1ms there was ‹2›.")
  }

  @Test func `an unexpected event fails its step`() {
    let failures = failures {
      source.verify(on: time).expectNext(1).expectNoEvent(for: 1).verify()
    }
    #expect(failures.map(\.message) == ["Step 2 of 2: expected nothing for 1s, but at 1ms there was ‹2›."])
  }

  @Test func `a failing step explains why nothing happened`() {
    let failures = failures {
      source.verify(on: time, demand: DemandScript(initial: .max(1))).expectNext(1, 2).verify()
      source.verify(on: time).expectNext(1, 2, 3).expectFailure().expectFinished().verify()
    }
    #expect(
      failures.map(\.message) == [
        "Step 1 of 1: expected the value ‹2› (2 of 2), but nothing happened: the subscriber has requested no more "
          + "(requested 1, received 1).",
        "Step 3 of 3: expected the stream to finish, but the stream failed at 22.002s with # already.",
      ])
  }

  @Test(.timeLimit(.minutes(5))) func `endless work is reported once, on the step's line`() {
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
        "Step 1 of 1: expected the value ‹2›, but nothing happened while time advanced 100 times, to 99s, and "
          + "work is still pending: 100s: FeedStreamTestingTests/StepVerifierTests.swift:"))
    #expect(failures[1].message.hasPrefix("Step 1 of 1: expected the value ‹2›, but 100 pieces of work ran at 99s"))
  }

  @Test func `a step that requests or expects nothing fails`() {
    let failures = failures {
      source.verify(on: time, demand: .none).thenRequest(0).verify()
      source.verify(on: time, demand: .none).thenRequest(-1).verify()
      source.verify(on: time, demand: .none).expectNext().verify()
    }
    let linesAbove = failures.map { UInt(#line) - $0.line }
    #expect(linesAbove == [4, 3, 2])
    #expect(
      failures.map(\.message) == [
        "Step 1 of 1: thenRequest(0) requests nothing; request at least one value.",
        "Step 1 of 1: thenRequest(-1) requests nothing; request at least one value.",
        "Step 1 of 1: expectNext() expects nothing; say which values come next, or use expectNoEvent(for:).",
      ])
  }

  @Test func `an event after the last step fails the test`() {
    let failures = failures {
      source.verify(on: time)
        .expectNext(1)
        .thenAdvance(by: 0.5)
        .verify()
      source.verify(on: time).expectNext(1).thenCancel().verify()
    }
    #expect(
      failures.map(\.message) == [
        "After the last step: The test did not expect an event: 1ms 2. "
          + "The subscription made here is still live: complete the stream, or cancel it."
      ])
  }

  @Test func `a step's name is in its failure`() {
    let failures = failures {
      source.verify(on: time)
        .expectNext(1).as("the first")
        .expectNext(7).as("the second")
        .expectNext(3)
        .verify()
      source.verify(on: time).as("nothing").expectNext(1).verify()
    }
    #expect(
      failures.map(\.message) == [
        "Step 2 of 3 (“the second”): expected the value ‹7›, but at 1ms there was ‹2›.",
        "Step 1 of 2: as(\"nothing\") names the step before it, but there is none; put it after a step.",
      ])
    let linesAbove = failures.map { UInt(#line) - $0.line }
    #expect(linesAbove == [10, 7])
  }

  @Test func `values may be expected by count or as a sequence`() {
    source.verify(on: time).expectNextCount(2).expectNextCount(0).expectNextCount(1).expectFailure().verify()
    source.verify(on: time).expectNextSequence(1...3).expectNextSequence([]).expectFailure().verify()
    let failures = failures {
      source.verify(on: time).expectNextCount(4).verify()
      source.verify(on: time).expectNextSequence([1, 2, 4, 5]).verify()
      source.verify(on: time).expectNextCount(-1).verify()
    }
    #expect(
      failures.map(\.message.withoutItsTimes) == [
        "Step 1 of 1: expected 4 values, of which 3 arrived, but the stream failed at … with #.",
        "Step 1 of 1: expected the value ‹4› (3 of 4), but at … there was ‹3›.",
        "Step 1 of 1: expectNextCount(-1): the count cannot be negative; use 0 or more.",
      ])
  }

  @Test func `a subscription may be expected, even a late one`() {
    source.verify(on: time).expectSubscription().expectNext(1, 2, 3).expectFailure().verify()
    source.subscribe(on: time).verify(on: time).expectSubscription().expectNextCount(3).expectFailure().verify()
    let failures = failures { Silent().verify(on: time).expectSubscription().verify() }
    #expect(failures.map(\.message) == ["Step 1 of 1: expected a subscription, but there was none."])
  }

  @Test func `thenConsumeWhile consumes values while the condition holds`() {
    var consumed: [Int] = []
    source.verify(on: time)
      .thenConsumeWhile {
        $0 < 3
      } consume: {
        consumed.append($0)
      }
      .expectNext(3)
      .thenConsumeWhile { _ in true }
      .expectFailure()
      .verify()
    #expect(consumed == [1, 2])
    time.workLimit = 100
    let ticks = Interval(every: 1, scheduler: time)
    let failures = failures {
      ticks.map { _ in 1 }.filter { $0 > 1 }.verify(on: time).thenConsumeWhile { _ in true }.verify()
    }
    #expect(failures.map(\.line) == [#line - 2])
    #expect(
      failures[0].message.hasPrefix(
        "Step 1 of 1: expected a value or the completion, but nothing happened while time advanced"))
  }

  @Test(.timeLimit(.minutes(1))) func `thenConsumeWhile fails on a stream whose values are all taken, without end`() {
    time.workLimit = 100
    let ticks = Interval(every: 1, scheduler: time)
    let failures = failures {
      ticks.verify(on: time).thenConsumeWhile { _ in true }.verify()
    }
    #expect(failures.map(\.line) == [#line - 2])
    #expect(
      failures.map(\.message) == [
        "Step 1 of 1: expected a value that isn't taken, or the completion, but 100 values were taken, and more arrive."
      ])
  }

  @Test func `values of steps may be recorded and checked`() {
    var kept: [Int] = []
    source.verify(on: time)
      .expectNext(1)
      .recordWith { kept.append($0) }
      .expectNextCount(2)
      .expectRecorded { $0 == [2, 3] }
      .expectFailure()
      .verify()
    #expect(kept == [2, 3])
    let failures = failures {
      source.verify(on: time).recordWith().expectNextCount(2).expectRecorded("odd values") {
        $0.allSatisfy { $0 % 2 == 1 }
      }
      .verify()
      source.verify(on: time).expectRecorded { _ in true }.verify()
    }
    #expect(
      failures.map(\.message) == [
        "Step 3 of 3: expected odd values, but [1, 2] were recorded.",
        "Step 1 of 1: nothing is recorded; put recordWith() before the steps that take the values.",
      ])
  }
}

/// A publisher that never delivers a subscription.
struct Silent: Publisher {
  typealias Output = Int
  typealias Failure = Never
  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {}
}

extension String {
  /// The text with each time replaced.
  fileprivate var withoutItsTimes: String { replacing(/at [0-9.]+(s|ms)/, with: "at …") }
}
