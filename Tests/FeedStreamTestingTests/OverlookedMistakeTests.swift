import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

/// Mistakes that tests must not overlook, and correct code that they must not refuse.
@Suite(.settled) struct OverlookedMistakeTests {
  private struct Boom: Error {}
  private struct User: Equatable, CustomStringConvertible {
    let id: Int
    let description: String
  }

  @Test func `values are compared by equality even if the failure has none`() {
    let ann = User(id: 1, description: "Ann")
    let failures = failures {
      withVirtualTime { time in
        let recorder = Just(ann).setFailureType(to: Boom.self).record(on: time)
        recorder.expect("(a|)", values: ["a": User(id: 2, description: "Ann")])
      }
    }
    #expect(failures.count == 1)
    withVirtualTime { time in
      let set = Set((0..<50).map { $0 })
      Just(set).setFailureType(to: Boom.self).record(on: time).expect("(a|)", values: ["a": Set((0..<50).reversed())])
    }
  }

  @Test func `objects without a description are the same only if they are one object`() {
    final class Thing {}
    let (one, other) = (Thing(), Thing())
    let failures = failures {
      withVirtualTime { time in
        [one, other].publisher.record(on: time).expect("(ba|)", values: ["a": one, "b": other])
      }
    }
    #expect(failures.count == 1)
  }

  @Test func `values that contain different objects or closures differ, even if they look the same`() {
    final class Model {}
    struct Row { let model: Model }
    struct Job { let run: () -> Void }
    let (one, other) = (Model(), Model())
    let job = Job {}
    let failures = failures {
      withVirtualTime { time in
        Just<Model?>(one).record(on: time).expect("(a|)", values: ["a": other])
        Just([one]).record(on: time).expect("(a|)", values: ["a": [other]])
        Just(Row(model: one)).record(on: time).expect("(a|)", values: ["a": Row(model: other)])
        Just((1, one)).record(on: time).expect("(a|)", values: ["a": (1, other)])
        Just(job).record(on: time).expect("(a|)", values: ["a": job])
      }
    }
    #expect(failures.count == 5)
    #expect(failures.allSatisfy { $0.message.contains("\nValues that look the same contain different objects or") })
  }

  @Test func `values that aren't Equatable are the same if their parts are`() {
    final class Model {}
    enum Result {
      case none
      case row(id: Int, Model?)
    }
    let model = Model()
    withVirtualTime { time in
      [Result.none, .row(id: 1, model), .row(id: 2, nil)].publisher.record(on: time)
        .expect("(abc|)", values: ["a": .none, "b": .row(id: 1, model), "c": .row(id: 2, nil)])
      Just(["x": model, "y": model]).record(on: time).expect("(a|)", values: ["a": ["y": model, "x": model]])
      Just((1, [model])).record(on: time).expect("(a|)", values: ["a": (1, [model])])
      Just<any Any.Type>(Int.self).record(on: time).expect("(a|)", values: ["a": Int.self])
    }
  }

  @Test func `a mirror that shows a dictionary is compared in order, with its labels`() {
    final class Model {}
    struct Ordered: CustomReflectable {
      let entries: [(key: String, value: Model)]
      var customMirror: Mirror { Mirror(self, unlabeledChildren: entries, displayStyle: .dictionary) }
    }
    struct Point: CustomReflectable {
      let x: Int
      let y: Int
      var customMirror: Mirror { Mirror(self, children: ["x": x, "y": y], displayStyle: .dictionary) }
    }
    let (one, other) = (Model(), Model())
    func ordered(_ entries: [(key: String, value: Model)]) -> Ordered { Ordered(entries: entries) }
    let failures = failures {
      withVirtualTime { time in
        Just(ordered([("x", one), ("y", other)])).record(on: time)
          .expect("(a|)", values: ["a": ordered([("y", other), ("x", one)])])
        Just(ordered([("x", one), ("x", one)])).record(on: time)
          .expect("(a|)", values: ["a": ordered([("x", one), ("x", other)])])
        Just(Point(x: 1, y: 2)).record(on: time).expect("(a|)", values: ["a": Point(x: 2, y: 1)])
      }
    }
    #expect(failures.count == 3)
  }

  @Test func `dictionaries are the same if they have the same values for the same keys`() {
    final class Model {}
    let (one, other) = (Model(), Model())
    let failures = failures {
      withVirtualTime { time in
        Just(["x": one]).record(on: time).expect("(a|)", values: ["a": ["x": other]])
        Just(["x": one]).record(on: time).expect("(a|)", values: ["a": ["y": one]])
        Just(["x": one]).record(on: time).expect("(a|)", values: ["a": ["x": one, "y": one]])
        Just<[String: Model]?>(["x": one]).record(on: time).expect("(a|)", values: ["a": nil])
      }
    }
    #expect(failures.count == 4)
    withVirtualTime { time in
      let entries: [String: Model?] = ["x": one, "y": nil]
      Just(entries).record(on: time).expect("(a|)", values: ["a": entries])
      Just(Optional(entries)).record(on: time).expect("(a|)", values: ["a": entries])
    }
  }

  @Test func `dictionaries are compared by looking up each key`() {
    final class Model {}
    final class Counter { var count = 0 }
    struct Key: Hashable {
      let id: Int
      let comparisons: Counter
      static func == (first: Key, second: Key) -> Bool {
        first.comparisons.count += 1
        return first.id == second.id
      }
      func hash(into hasher: inout Hasher) { hasher.combine(id) }
    }
    let (comparisons, model) = (Counter(), Model())
    let entries = (0..<200).map { (Key(id: $0, comparisons: comparisons), model) }
    let (one, other) = (Dictionary(uniqueKeysWithValues: entries), Dictionary(uniqueKeysWithValues: entries.reversed()))
    comparisons.count = 0
    withVirtualTime { time in Just(one).record(on: time).expect("(a|)", values: ["a": other]) }
    #expect(comparisons.count < 5_000)
  }

  @Test func `an object, or a value with a description, may refer to an object that is gone`() {
    final class Parent {}
    final class Row {
      unowned let parent: Parent
      init(_ parent: Parent) { self.parent = parent }
    }
    struct Label: CustomStringConvertible {
      unowned let parent: Parent
      let description: String
    }
    var parent: Parent? = Parent()
    let (row, label) = (Row(parent!), Label(parent: parent!, description: "Ann"))
    parent = nil
    withVirtualTime { time in
      Just(row).record(on: time).expect("(a|)", values: ["a": row])
      Just(label).record(on: time).expect("(a|)", values: ["a": label])
    }
  }

  @Test func `a seed keeps the order of one source's events`() {
    withVirtualTime(seeds: 0..<50) { time in
      let hot: ScriptedPublisher<Character, MarbleFailure> = time.hot("-(ab|)")
      let cold: ScriptedPublisher<Character, MarbleFailure> = time.cold("-(ab)-(c|)")
      let (first, second) = (hot.record(on: time), cold.record(on: time))
      time.run()
      first.expect("-(ab|)")
      second.expect("-(ab)-(c|)")
    }
  }

  /// `prefix(1)` that leaves its upstream running when it completes.
  private struct LeavesUpstream<Upstream: Publisher>: Publisher {
    typealias Output = Upstream.Output
    typealias Failure = Upstream.Failure
    let upstream: Upstream

    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.subscribe(Stage(subscriber))
    }

    final class Stage<Down: Subscriber>: Subscriber, Subscription
    where Down.Input == Output, Down.Failure == Failure {
      private var down: Down?
      private var up: (any Subscription)?
      init(_ down: Down) { self.down = down }

      func receive(subscription: any Subscription) {
        up = subscription
        down?.receive(subscription: self)
      }
      func receive(_ input: Output) -> Subscribers.Demand {
        guard let down else { return .none }
        self.down = nil
        _ = down.receive(input)
        down.receive(completion: .finished)
        return .none
      }
      func receive(completion: Subscribers.Completion<Failure>) {
        let down = self.down
        (self.down, up) = (nil, nil)
        down?.receive(completion: completion)
      }
      func request(_ demand: Subscribers.Demand) { up?.request(demand) }
      func cancel() {
        up?.cancel()
        (up, down) = (nil, nil)
      }
    }
  }

  @Test func `an operator that leaves its upstream running at its own completion breaks a rule`() {
    var summary: StreamRules.Summary?
    let failures = failures { summary = StreamRules.verify("first one") { LeavesUpstream(upstream: $0) } }
    #expect(failures.count == 1 && summary?.broken != nil, "\(failures)")
  }

  @Test func `an operator may subscribe to its upstreams one after another`() {
    let summary = StreamRules.verify("append", joining: 2, expects: appended) { $0[0].append($0[1]) }
    #expect(summary.broken == nil)
  }

  private func appended(_ history: [JoinEvent]) -> (values: [Int], ending: Given.Ending?) {
    var (values, current): ([Int], Int) = ([], 0)
    // The completion of the second upstream, if it came before the subscription to it.
    var early: Given.Ending?
    for event in history {
      guard event.upstream == current else {
        if current == 0, event.event.isCompletion { early = event.isFinished ? .finished : .fails }
        continue
      }
      if let value = event.value { values.append(value) }
      if event.isFailure { return (values, .fails) }
      guard event.isFinished else { continue }
      if current == 1 { return (values, .finished) }
      current = 1
      if let early { return (values, early) }
    }
    return (values, nil)
  }

  @Test func `cancelledAtEnd works for a source whose events are all played`() {
    withVirtualTime { time in
      let hot: ScriptedPublisher<Character, MarbleFailure> = time.hot("a-b")
      let recorder = hot.map { $0 }.record(on: time).cancelledAtEnd()
      time.run()
      recorder.expect("a-b")
    }
  }

  @Test func `a program prints all of its text, in order, before it exits`() {
    withVirtualTime { time in
      time.programs["p"] = { program in
        for text in ["one\n", "two\n", String(repeating: "x", count: 100_000)] { program.print(text) }
        program.exit()
      }
      var output = ""
      let all = Subprocess("p").output(on: time).sink { _ in
      } receiveValue: {
        output += $0.text
      }
      time.run()
      #expect(output.hasPrefix("one\ntwo\nxxx") && output.utf8.count == 100_008)
      #expect(time.programs.running.isEmpty)
      all.cancel()
    }
  }

  @Test func `a virtual file can be truncated and extended`() {
    withVirtualTime { time in
      time.files["f"] = "abc"
      time.files.truncate("f", to: 5)
      #expect(time.files["f"] == "abc\0\0")
      time.files.truncate("f", to: 1)
      #expect(time.files["f"] == "a")
    }
  }
}
