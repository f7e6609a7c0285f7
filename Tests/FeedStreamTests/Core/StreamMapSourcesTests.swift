import FeedStream
import TestSupport
import Testing

/// Each test runs in its own process, because the map is process-wide.
@Suite("The live map shows what sources and inner publishers wait for", .settled) struct StreamMapSourcesTests {
  private struct Silent: Publisher {
    typealias Output = Int
    typealias Failure = Never

    final class Promise: Subscription {
      func request(_ demand: Subscribers.Demand) {}
      func cancel() {}
    }

    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
      subscriber.receive(subscription: Promise())
    }
  }

  @Test func `a subscription of another module that delivers nothing is reported`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let sink = Silent().filter { $0 > 1 }.sink { _ in }
      let map = StreamDiagnostics.snapshot()
      #expect(map.findings.map { map.nodes[$0.node].name } == ["Promise"], "\(map)")
      #expect(
        map.findings.first?.message == "no value has arrived from this subscription, whose demand isn't known",
        "\(map)")
      sink.cancel()
    }
  }

  @Test func `a subscription of another module below an operator that collects is reported`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let sink = Silent().collect(3).sink { _ in }
      let map = StreamDiagnostics.snapshot()
      #expect(map.findings.map { map.nodes[$0.node].name } == ["Promise"], "\(map)")
      #expect(map.findings.first?.message.contains("has passed CollectByCount") == true, "\(map)")
      sink.cancel()
    }
  }

  @Test func `groups without a subscriber are reported with the number of their values`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let numbers = PassthroughSubject<Int, Never>()
      var groups: [GroupedPublisher<Int, Int, Never>] = []
      let sink = numbers.groupBy { $0 % 3 }.sink { groups.append($0) }
      for number in 0..<8 { numbers.send(number) }
      let first = groups[0].sink { _ in }
      let map = StreamDiagnostics.snapshot()
      let message = "holds 5 values in groups that nobody has subscribed to (2 of 3); subscribe to every group"
      #expect(map.findings.map(\.message) == [message], "\(map)")
      first.cancel()
      sink.cancel()
    }
  }

  @Test func `groups that wait behind another group are reported`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let numbers = PassthroughSubject<Int, Never>()
      let sink = numbers.groupBy { $0 }.flatMap(maxPublishers: .max(1)) { $0 }.sink { _ in }
      for number in 1...3 { numbers.send(number) }
      let map = StreamDiagnostics.snapshot()
      let finding = map.findings.first
      #expect(finding?.reason == .valuesNobodyRequested, "\(map)")
      #expect(
        finding?.message
          == "holds 2 values that nobody has requested: FlatMap waits for the completion of GroupBy", "\(map)")
      sink.cancel()
    }
  }

  @Test func `a window of a number of values has one source`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let numbers = PassthroughSubject<Int, Never>()
      let sink = numbers.window(5).flatMap { $0 }.sink { _ in }
      numbers.send(1)
      let map = StreamDiagnostics.snapshot()
      #expect(!map.nodes.contains { $0.name == "Empty" }, "\(map)")
      // The subject that the operator makes has no place of its own.
      #expect(map.nodes.filter { $0.name == "ReplaySubject" }.map(\.place) == [nil], "\(map)")
      sink.cancel()
    }
  }

  @Test func `append says that the next publisher hasn't begun`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let (first, second) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>())
      let sink = first.append(second).sink { _ in }
      var note: String? { StreamDiagnostics.snapshot().nodes.first { $0.name == "Concatenate" }?.note }
      #expect(note == "the next publisher begins when this one completes")
      first.send(completion: .finished)
      #expect(note == nil)
      sink.cancel()
    }
  }
}
