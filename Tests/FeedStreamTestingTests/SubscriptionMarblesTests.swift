import FeedStream
import TestSupport
import Testing

@testable import FeedStreamTesting

@Suite(.settled) struct SubscriptionMarblesTests {
  let time = VirtualTimeScheduler()

  @Test func `a subscription diagram states when a subscription begins and ends`() throws {
    #expect(try SubscriptionMarbles("--^--!") == SubscriptionMarbles(subscribed: 0.002, unsubscribed: 0.005))
    #expect(try SubscriptionMarbles("^") == SubscriptionMarbles(subscribed: 0))
    #expect(try SubscriptionMarbles("---!", frame: 1) == SubscriptionMarbles(subscribed: nil, unsubscribed: 3))
    #expect(try SubscriptionMarbles("-(^!)") == SubscriptionMarbles(subscribed: 0.001, unsubscribed: 0.001))
    #expect(try SubscriptionMarbles("^ 2s !") == SubscriptionMarbles(subscribed: 0, unsubscribed: 2))
  }

  @Test(arguments: [
    ("^-a", 2, "a subscription diagram can't contain values or a completion; use only -, ^ and !"),
    ("^-|", 2, "a subscription diagram can't contain values or a completion; use only -, ^ and !"),
    ("^-^", 2, "a diagram shows one subscription; remove this ^"),
    ("-!-^", 3, "the subscription has already ended; put ^ before !"),
    ("^-!!", 3, "the subscription has already ended; remove this !"),
    ("^-)", 2, "there is no group to close; write ( first"),
  ])
  func `a parsing error points at the wrong character`(_ text: String, _ offset: Int, _ reason: String) {
    #expect(throws: MarbleError(text: text, offset: offset, reason: reason)) { try SubscriptionMarbles(text) }
  }

  @Test func `record(during:) subscribes and cancels at the diagram's times`() {
    let source = time.hot("--a--b--c--d--|")
    let recorder = source.record(on: time, during: "---^------!")
    time.run()
    recorder.expect("-----b--c")
    source.expectSubscriptions("---^------!")
  }

  @Test func `a subscription precedes other events at its instant`() {
    let source = time.hot("--a--b--c--d--|")
    let both = source.record(on: time, during: "--^-----!")
    let now = source.record(on: time, during: "(^!)")
    let later = source.record(on: time, during: "-----(^!)")
    let whole = source.record(on: time, during: "^")
    time.run()
    both.expect("--a--b")
    now.expect("-")
    later.expect("-")
    whole.expect("--a--b--c--d--|")
    source.expectSubscriptions("(^!)", "^-------------!", "--^-----!", "-----(^!)")
  }

  @Test(arguments: ["(^!)", "!"]) func `a cancellation at the first instant precedes other events`(_ text: String) {
    let recorder = time.hot("a-b").record(on: time, during: text)
    time.run()
    recorder.expect("-")
  }

  @Test func `expectMarbles(during:) cancels at the diagram's time`() {
    let source = time.cold("a-b-c-d|")
    expectMarbles(source, on: time, during: "---!", "a-b")
    expectMarbles(source, on: time, during: "--^-!", "--a")
    source.expectSubscriptions("^--!", "-----^-!")
    expectMarbles(
      Interval(every: 1, scheduler: time).map { _ in "x" }, on: time, during: "3500ms !", "1s x 1s x 1s x")
  }

  @Test func `each subscription of a source has its own diagram`() {
    let source = time.cold("a#")
    expectMarbles(source.retry(2), on: time, "aaa#")
    source.expectSubscriptions("^!", "-^!", "--^!")
    let unused = time.cold("a|")
    unused.expectSubscriptions()
  }

  @Test func `a difference in subscriptions is drawn, with text to paste`() {
    let source = time.hot("a-b-c-d|")
    let failures = failures {
      source.expectSubscriptions("^-!")
      expectMarbles(source.prefix(2), on: time, "a-(b|)")
      source.expectSubscriptions("^---!")
      source.expectSubscriptions()
      source.expectSubscriptions("--^", "---^!")
      source.expectSubscriptions("---!")
    }
    let linesAbove = failures.map { UInt(#line) - $0.line }
    #expect(linesAbove == [7, 5, 4, 3, 2])
    #expect(
      failures.map(\.message) == [
        """
        The subscriptions differ from the diagram:
        expected  ^-!
        There was no subscription.
        """,
        """
        The subscriptions differ from the diagram:
        expected  ^---!
        actual    ^-!
        To paste: "^-!"
        """,
        """
        The subscriptions differ from the diagrams:
        actual  ^-!
        No subscription was expected.
        """,
        """
        The subscriptions differ from the diagrams:
        expected 1  --^--
        expected 2  ---^!
        actual      ^-!
        To paste: "^-!"
        """,
        """
        This marble diagram cannot be read:
          ---!
              ^ no subscription begins here; add a ^
        """,
      ])
  }

  @Test func `an invalid subscription diagram fails once, on its line`() {
    let failures = failures {
      withVirtualTime { time in
        let recorder = time.hot("a-b").record(on: time, during: "^-x")
        time.run()
        recorder.expect("a-b")
      }
    }
    #expect(failures.map(\.line) == [#line - 5])
  }
}
