import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

/// The compositions of "Which operator?", line for line.
@Suite(.settled) struct RecipesTests {
  @Test func `every line of the recipes is in this file`() throws {
    let here = URL(filePath: #filePath).resolvingSymlinksInPath()
    let page = here.appending(path: "../../../../Sources/FeedStream/FeedStream.docc/WhichOperator.md").standardized
    let lines = { (text: Substring) in text.split(separator: "\n").map { $0.trimmingCharacters(in: [" "]) } }
    let recipes = try String(contentsOf: page, encoding: .utf8).matches(of: /```swift\n((?s).*?)```/)
    #expect(recipes.count > 9)
    let compiled = try String(contentsOf: here, encoding: .utf8)
    for line in recipes.flatMap({ lines($0.1) }) {
      #expect(compiled.contains(line), "add a test of \(line)")
    }
  }

  @Test func `recipe: a time limit for the first value only`() {
    let tooSlow = MarbleFailure()
    for (marbles, expected) in [("--a------b|", "--a------b|"), ("----a--|", "---#")] {
      withVirtualTime { loop in
        let source = loop.hot(marbles)
        let result =
          source.race(with: Fail(error: tooSlow).delaySubscription(for: .milliseconds(3), scheduler: loop))
        expectMarbles(result, on: loop, expected)
      }
    }
  }

  @Test func `recipe: each value with the latest of two other publishers`() {
    withVirtualTime { loop in
      let (source, first, second) = (loop.hot("-a---b--c|"), loop.hot("--1---2-"), loop.hot("---x----"))
      let result =
        source.withLatestFrom(first.combineLatest(second)) { ($0, $1.0, $1.1) }
      expectMarbles(result.map { $0 + $1 + $2 }, on: loop, "-----p--q|", values: ["p": "b1x", "q": "c2x"])
    }
  }

  @Test func `recipe: each value with its index`() {
    withVirtualTime { loop in
      let source = loop.hot("-a-b|")
      let result =
        source.enumerated().map { index, value in "\(index)\(value)" }
      expectMarbles(result, on: loop, "-p-q|", values: ["p": "0a", "q": "1b"])
    }
  }

  @Test func `recipe: each value waits for its own publisher`() {
    withVirtualTime { loop in
      let source = loop.hot("-a-b|")
      let signal = { (value: String) in loop.cold(value == "a" ? "----x-x" : "-x-x") }
      let result =
        source.flatMap { value in signal(value).first().map { _ in value } }
      expectMarbles(result, on: loop, "----b(a|)")
    }
  }

  @Test func `recipe: groups of transformed values, and groups that end after a time`() {
    withVirtualTime { loop in
      let source: ScriptedPublisher<Int, MarbleFailure> = loop.hot("-1-2-3|")
      let (key, element) = ({ (value: Int) in value % 2 }, { (value: Int) in value * 2 })
      let result =
        source.groupBy(key).flatMap { group in group.map(element) }
      expectMarbles(result, on: loop, "-2-4-6|")
    }
    withVirtualTime { loop in
      let source: ScriptedPublisher<Int, MarbleFailure> = loop.hot("-13---5|")
      let key = { (value: Int) in value % 2 }
      let result =
        source.groupBy(key).flatMap { $0.prefix(for: .milliseconds(3), scheduler: loop).collect() }
      expectMarbles(result, on: loop, "----p--(q|)", values: ["p": [1, 3], "q": [5]])
    }
  }

  @Test func `throttle with latest delivers the first and the last value of an interval`() {
    withVirtualTime { loop in
      let result = loop.hot("-abc------d----|").throttle(for: .milliseconds(3), scheduler: loop, latest: true)
      expectMarbles(result, on: loop, "-a--c-----d----|")
    }
  }

  @Test func `recipe: only the first value of an interval, and only the latest`() {
    withVirtualTime { loop in
      let source = loop.hot("-abc-d---e----|")
      let result =
        source.flatMapFirst { Just($0).append(Empty().delaySubscription(for: .milliseconds(3), scheduler: loop)) }
      expectMarbles(result, on: loop, "-a---d---e----|")
    }
    withVirtualTime { loop in
      let source = loop.hot("-abc-d---e----|")
      let shared = source.share()
      let result =
        shared.flatMapFirst {
          shared.prepend($0).append(Empty(completeImmediately: false))
            .prefix(for: .milliseconds(3), scheduler: loop).last()
        }
      expectMarbles(result, on: loop, "----c---d---e-|")
    }
  }

  @Test(arguments: [("-ab|", "----(b|)"), ("-ab---c|", "----b----(c|)"), ("-ab#", "---#")])
  func `the recipe for the latest value delivers it after the interval, even after completion`(
    _ marbles: String, _ expected: String
  ) {
    withVirtualTime { loop in
      let source = loop.hot(marbles)
      let shared = source.share()
      let result =
        shared.flatMapFirst {
          shared.prepend($0).append(Empty(completeImmediately: false))
            .prefix(for: .milliseconds(3), scheduler: loop).last()
        }
      expectMarbles(result, on: loop, expected)
    }
  }

  @Test func `recipe: one publisher opens an array and another closes it`() {
    withVirtualTime { loop in
      let source = loop.hot("-a-b-c-d-e|")
      let openings = loop.hot("--x-----y-----z")
      let closing = { (_: String) in loop.cold("----x") }
      let shared = source.share()
      let result =
        openings.prefix(untilOutputFrom: shared.count())
        .flatMap { shared.prefix(untilOutputFrom: closing($0).first()).collect() }
        .merge(with: shared.ignoreOutput().setOutputType(to: [String].self))
      expectMarbles(result.map { $0.joined() }, on: loop, "------p---(q|)", values: ["p": "bc", "q": "e"])
    }
  }

  @Test(arguments: ["--x------y", "--x-|"]) func `the recipe for opened arrays fails immediately without an open array`(
    _ openings: String
  ) {
    withVirtualTime { loop in
      let source = loop.hot("-a-b--#")
      let openings = loop.hot(openings)
      let closing = { (_: String) in loop.cold("--x") }
      let shared = source.share()
      let result =
        openings.prefix(untilOutputFrom: shared.count())
        .flatMap { shared.prefix(untilOutputFrom: closing($0).first()).collect() }
        .merge(with: shared.ignoreOutput().setOutputType(to: [String].self))
      expectMarbles(result.map { $0.joined() }, on: loop, "----p-#", values: ["p": "b"])
    }
  }

  @Test func `recipe: an array starts at every interval`() {
    withVirtualTime { loop in
      let source = loop.hot("-ab--c--d--|")
      let shared = source.share()
      let result =
        Interval(every: .milliseconds(3), scheduler: loop).prepend(0)
        .prefix(untilOutputFrom: shared.count())
        .flatMap { _ in shared.prefix(for: .milliseconds(4), scheduler: loop).collect() }
      expectMarbles(
        result.map { $0.joined() }, on: loop, "----p--q--r(s|)", values: ["p": "ab", "q": "c", "r": "d", "s": ""])
    }
  }

  @Test func `recipe: a tree's branches are expanded at the same time`() {
    func children(_ value: Int) -> AnyPublisher<Int, Never> {
      (value < 4 ? [value * 2, value * 2 + 1] : []).publisher.eraseToAnyPublisher()
    }
    func expanded(_ value: Int) -> AnyPublisher<Int, Never> {
      children(value).flatMap(expanded).prepend(value).eraseToAnyPublisher()
    }
    #expect(expanded(1).record().values == [1, 2, 4, 5, 3, 6, 7])
  }

  @Test func `recipe: overlapping windows`() {
    let source = ["a", "b", "c", "d", "e"].publisher
    let result =
      source.collect(3, every: 2).map { $0.publisher }
    let windows = result.flatMap(maxPublishers: .max(1)) { $0.collect() }.record().values
    #expect(windows.map { $0.joined() }.prefix(2) == ["abc", "cde"])
    #expect(windows == source.collect(3, every: 2).record().values)
  }
}
