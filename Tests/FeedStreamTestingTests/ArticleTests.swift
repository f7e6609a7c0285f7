import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

/// The examples of the articles; the last test compares them with the articles.
@Suite(.settled) struct ArticleTests {
  @Test func `a search waits until typing pauses`() {
    withVirtualTime { time in
      let typing = time.hot("ab 500ms |")
      let recorder = typing.debounce(for: .milliseconds(300), scheduler: time).record(on: time)
      time.run()
      recorder.expect("- 301ms b 200ms |")
    }
  }

  @Test func `cancelledAtEnd() cancels a recorder at the end of the test`() {
    withVirtualTime { time in
      let subject = PassthroughSubject<Int, Never>()
      let recorder = subject.record(on: time).cancelledAtEnd()
      subject.send(1)
      recorder.expect("1")
      #expect(subject.subscriberCount == 1)
    }
  }

  @Test func `the immediate and unimplemented schedulers work as in the article`() {
    Just("a").delay(for: 5, scheduler: .immediate).record().expect("(a|)")
    let unused: any LoopScheduler = UnimplementedScheduler("the search")
    #expect(unused.minimumTolerance == 0)
  }

  @Test func `expectMarbles compares a stream with a diagram`() {
    withVirtualTime { time in
      let typing = time.hot("s-e-a 500ms |")
      expectMarbles(typing.debounce(for: .milliseconds(300), scheduler: time), on: time, "304ms a 200ms |")
    }
  }

  @Test func `sources can have letters, numbers, named values or no failures`() {
    withVirtualTime { time in
      let letters = time.hot("a-b|")
      let numbers = time.cold("1-2-3|", of: Int.self)
      let prices = time.cold("x-y|", values: ["x": 9.5, "y": 20])
      let ticks: ScriptedPublisher<Int, Never> = time.hot("-1-2-|")
      let recorders = (letters.record(on: time), ticks.record(on: time))
      expectMarbles(numbers.map { $0 * 2 }, on: time, "2-4-6|")
      expectMarbles(prices, on: time, "x-y|", values: ["x": 9.5, "y": 20])
      recorders.0.expect("a-b|")
      recorders.1.expect("-1-2-|")
    }
  }

  @Test func `tests can share the names of values`() {
    withVirtualTime { time in
      let feeds: [Character: String] = ["x": "the old feed", "y": "the new feed"]
      let requests = time.cold("x--y-a|", values: feeds)
      expectMarbles(requests.dropFirst(), on: time, "---y-a|", values: feeds)
    }
  }

  @Test func `expectSubscriptions checks when a source was subscribed`() {
    withVirtualTime { time in
      let source = time.hot("--a--b--c--d--|")
      let recorder = source.record(on: time, during: "---^------!")
      time.run()
      recorder.expect("-----b--c")
      source.expectSubscriptions("---^------!")
    }
    withVirtualTime { time in
      let seconds = Interval(every: 1, scheduler: time).map { _ in "x" }
      expectMarbles(seconds, on: time, during: "---!", "-xx", frame: 1)
    }
  }

  @Test func `recordStreams compares a stream of streams`() {
    withVirtualTime { time in
      let windows = time.hot("-a-b---c---|").window(2).recordStreams(on: time)
      time.run()
      windows.expect("-x-----y---|", streams: ["x": "a-(b|)", "y": "c---|"])
    }
  }

  @Test func `a failure message looks as in the article`() throws {
    let time = VirtualTimeScheduler()
    let failures = failures { expectMarbles(time.cold("a-(bc)-|"), on: time, "a-c-|") }
    #expect(try ArticleTests.article("SpeakingMarbles").contains("```\n\(failures[0].message)\n```"))
  }

  @Test func `a verifier checks the events of a stream step by step`() {
    withVirtualTime { time in
      let search = PassthroughSubject<String, Never>()
      search.debounce(for: 0.3, scheduler: time).verify(on: time)
        .expectSubscription()
        .then { search.send("s") }
        .expectNoEvent(for: 0.2)
        .then { search.send("sea") }
        .expectNext("sea").as("the newest text")
        .then { search.send(completion: .finished) }
        .expectFinished()
        .verify()
      (1...100).publisher.verify(on: time)
        .expectNext(1, 2)
        .expectNextSequence(3...10)
        .expectNextCount(30)
        .recordWith()
        .thenConsumeWhile { $0 < 100 }
        .expectRecorded("59 numbers") { $0.count == 59 }
        .expectNext(100)
        .expectFinished()
        .verify()
    }
  }

  @Test(arguments: ["FeedStreamTesting", "SpeakingMarbles", "StepByStep"])
  func `every code block of the articles is in this file`(_ name: String) throws {
    func lines(_ text: some StringProtocol) -> String {
      text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        .filter { !$0.isEmpty && !$0.hasPrefix("import ") }.joined(separator: "\n")
    }
    let source = lines(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8))
    let blocks = try ArticleTests.article(name).components(separatedBy: "```swift\n").dropFirst()
    #expect(!blocks.isEmpty)
    for block in blocks {
      let example = lines(block.components(separatedBy: "\n```")[0])
      #expect(source.contains(example), "add this example to a test above")
    }
  }

  private static func article(_ name: String) throws -> String {
    let root = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
    let file = root.appending(path: "../../Sources/FeedStreamTesting/FeedStreamTesting.docc/\(name).md").standardized
    return try String(contentsOf: file, encoding: .utf8)
  }
}
