import Dispatch
import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

/// Each test runs in its own process, because the map is process-wide.
@Suite("The live map names the place where a stream is stuck, and the reason", .settled) struct StreamMapTests {
  private struct Offline: Error, CustomStringConvertible { let description = "offline" }

  private static func requesting<Input>(_ demand: Subscribers.Demand) -> AnySubscriber<Input, Never> {
    AnySubscriber(receiveSubscription: { if demand > .none { $0.request(demand) } })
  }

  private static func expect(
    _ reason: StreamMap.Reason, at name: String, _ message: String, _ location: SourceLocation = #_sourceLocation
  ) {
    let map = StreamDiagnostics.snapshot()
    let finding = map.findings.first
    #expect(finding?.reason == reason, "\(map)", sourceLocation: location)
    #expect(finding.map { map.nodes[$0.node].name } == name, "\(map)", sourceLocation: location)
    #expect(finding?.message == message, "\(map)", sourceLocation: location)
  }

  @Test func `a filter that passes no values is reported`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let numbers = PassthroughSubject<Int, Never>()
      let sink = numbers.filter { $0 > 10 }.sink { _ in }
      for number in 0..<5 { numbers.send(number) }
      Self.expect(.passesNothing, at: "Filter", "5 values arrived, but none was passed on")
      sink.cancel()
    }
  }

  @Test func `a full buffer without demand is reported`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let numbers = PassthroughSubject<Int, Never>()
      let subscriber: AnySubscriber<Int, Never> = Self.requesting(.max(1))
      numbers.buffer(size: 4, prefetch: .byRequest, whenFull: .dropNewest).subscribe(subscriber)
      for number in 0..<5 { numbers.send(number) }
      Self.expect(.bufferIsFull, at: "Buffer", "its buffer is full (4 of 4); nobody below has requested more")
      let buffer = StreamDiagnostics.snapshot().nodes.first { $0.name == "Buffer" }
      #expect(buffer?.received == 5 && buffer?.delivered == 1 && buffer?.demand == Subscribers.Demand.none)
      numbers.send(completion: .finished)
    }
  }

  @Test func `zip waiting for another publisher's value is reported`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let (left, right) = (
        PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>(file: "Right.swift", line: 7)
      )
      let sink = left.zip(right).sink { _ in }
      left.send(1)
      left.send(2)
      Self.expect(
        .waitsForPartner, at: "Zip",
        "holds 2 values that wait for a value from upstream 2: PassthroughSubject, Right.swift:7")
      sink.cancel()
    }
  }

  @Test func `the last event of a stream without a loop has the time at which it arrived`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let time = VirtualTimeScheduler()
      let numbers = PassthroughSubject<Int, Never>()
      let sink = numbers.map { $0 + 1 }.sink { _ in }
      func age() -> Duration? { StreamDiagnostics.snapshot().nodes.first { $0.name == "Map" }?.sinceLastEvent }
      numbers.send(0)
      #expect(age() == nil, "no time has been seen yet")
      time.schedule(after: time.now.advanced(by: .seconds(1))) { numbers.send(1) }
      time.schedule(after: time.now.advanced(by: .seconds(3))) { numbers.send(2) }
      time.advance(by: .seconds(2))
      #expect(age() == .seconds(1))
      time.advance(by: .seconds(2))
      #expect(age() == .seconds(1))
      numbers.send(3)
      #expect(age() == .zero)
      sink.cancel()
    }
  }

  @Test func `an operator waiting for its timer is reported`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let time = VirtualTimeScheduler()
      let numbers = PassthroughSubject<Int, Never>()
      let sink = numbers.debounce(for: .seconds(5), scheduler: time).sink { _ in }
      time.schedule { numbers.send(1) }
      time.advance(by: .seconds(3))
      Self.expect(.waitsForTime, at: "Debounce", "waits for its timer, with 1 value")
      #expect(StreamDiagnostics.snapshot().nodes.first { $0.name == "Debounce" }?.sinceLastEvent == .seconds(3))
      time.advance(by: .seconds(3))
      #expect(StreamDiagnostics.snapshot().findings == [])
      sink.cancel()
    }
  }

  @Test func `a debounce that never passes a value is reported with the number of values`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let time = VirtualTimeScheduler()
      let sink = Interval(every: .milliseconds(50), scheduler: time)
        .debounce(for: .milliseconds(80), scheduler: time).sink { _ in }
      time.advance(by: .milliseconds(500))
      Self.expect(
        .waitsForTime, at: "Debounce", "waits for its timer, with 1 value; 10 arrived, and none was passed on")
      #expect(StreamDiagnostics.snapshot().findings.count == 1)
      sink.cancel()
    }
  }

  @Test func `an operator waiting for the completion of an endless stream is reported`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let numbers = PassthroughSubject<Int, Never>()
      let sink = numbers.map { $0 * 2 }.collect().sink { _ in }
      for number in 0..<5 { numbers.send(number) }
      Self.expect(.waitsForCompletion, at: "Collect", "delivers its result when upstream completes")
      #expect(StreamDiagnostics.snapshot().findings.count == 1)
      sink.cancel()
    }
  }

  @Test func `a stream without demand is reported`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      var kept: (any Subscription)?
      let numbers = CurrentValueSubject<Int, Never>(1)
      numbers.map { $0 + 1 }.subscribe(AnySubscriber(receiveSubscription: { kept = $0 }))
      Self.expect(.nobodyRequests, at: "CurrentValueSubject", "nobody below has requested a value")
      kept?.cancel()
    }
  }

  @Test func `a flatMap that waits for one of its publishers is reported`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let response = PassthroughSubject<Int, Never>(file: "Response.swift", line: 3)
      let sink = (1...3).publisher.flatMap(maxPublishers: .max(1)) { _ in response }.sink { _ in }
      response.send(1)
      Self.expect(
        .nobodyRequests, at: "Sequence",
        "nobody below has requested a value: FlatMap waits for the completion of PassthroughSubject, Response.swift:3")
      sink.cancel()
    }
  }

  @Test func `a buffer above a flatMap that waits for one of its publishers is reported`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let response = PassthroughSubject<Int, Never>(file: "Response.swift", line: 3)
      let numbers = PassthroughSubject<Int, Never>()
      let sink = numbers.buffer(size: 4, prefetch: .byRequest, whenFull: .dropNewest)
        .flatMap(maxPublishers: .max(1)) { _ in response }.sink { _ in }
      for number in 0..<3 { numbers.send(number) }
      Self.expect(
        .valuesNobodyRequested, at: "Buffer",
        "holds 2 values that nobody has requested: FlatMap waits for the completion of PassthroughSubject, Response.swift:3"
      )
      sink.cancel()
    }
  }

  @Test func `a connectable publisher without a connection is reported, at the checkpoint below it`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let settings = Just(1).makeConnectable()
      let sink = settings.checkpoint("settings", file: "Settings.swift", line: 5).sink { _ in }
      let map = StreamDiagnostics.snapshot()
      #expect(
        map.findings.map(\.message) == [
          "unlimited demand, but no value has arrived; it isn't connected: call connect(), and keep the result"
        ])
      let title = map.findings.first.map { map.stuckTitle($0.node) }
      #expect(title == "MakeConnectable (Checkpoint, \"settings\" at Settings.swift:5)")
      sink.cancel()
    }
  }

  @Test func `a multicast publisher without a connection is reported, whichever subject it uses`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let subject = PassthroughSubject<Int, Never>(file: "Numbers.swift", line: 7)
      let numbers = Just(1).append(Empty(completeImmediately: false)).multicast(subject: subject)
      let sink = numbers.sink { _ in }
      Self.expect(
        .demandNobodyServes, at: "PassthroughSubject",
        "unlimited demand, but no value has arrived; it isn't connected: call connect(), and keep the result")
      let connection = numbers.connect()
      #expect(StreamDiagnostics.snapshot().findings.allSatisfy { !$0.message.contains("connect()") })
      connection.cancel()
      sink.cancel()
    }
  }

  @Test func `a source that doesn't meet its demand is reported`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      var emitter: Create<Int, Never>.Emitter?
      let subscriber: AnySubscriber<Int, Never> = Self.requesting(.max(5))
      Create<Int, Never> { emitter = $0 }.subscribe(subscriber)
      Self.expect(.demandNobodyServes, at: "Create", "demand for 5 is unmet; no value has arrived")
      emitter?.send(1)
      #expect(
        StreamDiagnostics.snapshot().findings.first?.message.hasPrefix("demand for 4 is unmet; 1 arrived")
          == true)
      emitter?.send(completion: .finished)
      #expect(StreamDiagnostics.snapshot().nodes == [])
    }
  }

  @Test func `a retried publisher is reported with the failures so far`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      var responses: [PassthroughSubject<Int, Offline>] = []
      let sink = Deferred {
        responses.append(PassthroughSubject())
        return responses.last!
      }
      .retry(5).sink(receiveCompletion: { _ in }, receiveValue: { _ in })
      for number in 0..<2 { responses[number].send(completion: .failure(Offline())) }
      Self.expect(
        .demandNobodyServes, at: "PassthroughSubject",
        "unlimited demand, but no value has arrived; 2 attempts have failed, the last with offline")
      sink.cancel()
    }
  }

  @Test func `a pause between two attempts is reported with the failures so far`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let time = VirtualTimeScheduler()
      let sink = Fail<Int, Offline>(error: Offline()).retry(.constant(.seconds(60)), scheduler: time)
        .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
      Self.expect(.waitsForTime, at: "Retry", "waits for its timer; 1 attempt has failed, the last with offline")
      sink.cancel()
    }
  }

  @Test func `contains is reported while no value has settled its result, and first like any operator`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let numbers = PassthroughSubject<Int, Never>()
      let contains = numbers.contains(10).sink { _ in }
      numbers.send(1)
      Self.expect(
        .waitsForCompletion, at: "Contains",
        "no value has decided its result yet; it delivers the result when upstream completes")
      contains.cancel()
      let first = numbers.first { $0 > 10 }.sink { _ in }
      numbers.send(1)
      Self.expect(.passesNothing, at: "TryFirst", "1 value arrived, but was not passed on")
      first.cancel()
    }
  }

  @Test func `a condition that is never true is reported above operators with demand of their own`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let loop = EventLoop()
      defer { loop.close() }
      let streams: [(AnyPublisher<Int, Never>) -> AnyPublisher<Int, Never>] = [
        { $0.debounce(for: .seconds(1), scheduler: loop).eraseToAnyPublisher() },
        { $0.flatMap { Just($0) }.eraseToAnyPublisher() },
        { $0.flatMapLatest { Just($0) }.eraseToAnyPublisher() },
        { $0.buffer(size: 4, prefetch: .keepFull, whenFull: .dropOldest).eraseToAnyPublisher() },
        { $0.share().eraseToAnyPublisher() },
        { $0.scan(0, +).checkpoint("sums").eraseToAnyPublisher() },
      ]
      for (number, stream) in streams.enumerated() {
        let numbers = PassthroughSubject<Int, Never>()
        let sink = stream(numbers.filter { $0 < 0 }.eraseToAnyPublisher()).sink { _ in }
        for value in 1...3 { numbers.send(value) }
        let findings = StreamDiagnostics.snapshot().findings
        #expect(findings.map(\.reason) == [.passesNothing], "\(number)")
        #expect(findings.first?.message.hasPrefix("3 values arrived, but none was passed on") == true, "\(number)")
        sink.cancel()
      }
    }
  }

  @Test func `a subscriber that requests nothing is reported, and not the timer of its source`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let time = VirtualTimeScheduler()
      let subscriber: AnySubscriber<Int, Never> = Self.requesting(.max(0))
      Interval(every: .seconds(1), scheduler: time).subscribe(subscriber)
      Self.expect(.nobodyRequests, at: "Interval", "nobody below has requested a value")
    }
  }

  @Test func `a source that has just delivered is not reported, even if one value at a time is requested`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let time = VirtualTimeScheduler()
      let sink = Interval(every: .milliseconds(50), scheduler: time).map { _ in 1 }.filter { $0 < 0 }
        .mapAsync(limit: 1) { $0 }.sink { _ in }
      time.advance(by: .seconds(1))
      #expect(!StreamDiagnostics.snapshot().findings.contains { $0.reason == .demandNobodyServes })
      sink.cancel()
    }
  }

  @Test func `withLatestFrom shows its other publisher, and says that it waits for it`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let (numbers, others) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>())
      let sink = numbers.withLatestFrom(others) { $0 + $1 }.sink { _ in }
      numbers.send(1)
      let map = StreamDiagnostics.snapshot()
      #expect(map.nodes.count { $0.name == "PassthroughSubject" } == 2)
      #expect(map.findings.contains { $0.message.contains("the other publisher has delivered no value yet") })
      sink.cancel()
    }
  }

  @Test func `retry(when:) shows the failures so far`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let signal = PassthroughSubject<Void, Never>()
      let sink = Fail<Int, Offline>(error: Offline()).retry(when: { $0.flatMap { _ in signal } })
        .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
      #expect(StreamDiagnostics.snapshot().description.contains("1 attempt has failed, the last with offline"))
      sink.cancel()
    }
  }

  @Test func `a map that is off says so`() async {
    await #expect(processExitsWith: .success) {
      #expect(StreamDiagnostics.snapshot().description.hasPrefix("The map is off"))
    }
  }

  @Test func `an empty publisher that never completes is reported`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let sink = Empty<Int, Never>(completeImmediately: false).sink { _ in }
      Self.expect(
        .demandNobodyServes, at: "Empty",
        "unlimited demand, but no value has arrived; it neither delivers nor completes")
      sink.cancel()
    }
  }

  @Test func `a connectable publisher whose connection was cancelled is reported`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let numbers = Empty<Int, Never>(completeImmediately: false).makeConnectable()
      let sink = numbers.sink { _ in }
      numbers.connect().cancel()
      Self.expect(
        .demandNobodyServes, at: "MakeConnectable",
        "unlimited demand, but no value has arrived; it isn't connected: call connect(), and keep the result")
      sink.cancel()
    }
  }

  @Test func `a timer that hasn't fired waits, and one without a connection is reported`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let time = VirtualTimeScheduler()
      let timer = Publishers.Timer(every: .seconds(60), scheduler: time)
      let sink = timer.sink { _ in }
      Self.expect(
        .demandNobodyServes, at: "Timer",
        "unlimited demand, but no value has arrived; it isn't connected: call connect(), and keep the result")
      let connection = timer.connect()
      Self.expect(.waitsForTime, at: "Timer", "waits for its timer")
      connection.cancel()
      sink.cancel()
    }
  }

  @Test func `the publishers of prefix and drop untilOutputFrom are branches of one stream`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let numbers = PassthroughSubject<Int, Never>()
      let stop = PassthroughSubject<Void, Never>()
      let sinks = [
        numbers.prefix(untilOutputFrom: stop).sink { _ in }, numbers.drop(untilOutputFrom: stop).sink { _ in },
      ]
      let map = StreamDiagnostics.snapshot()
      #expect(map.nodes.count { $0.isEnd } == 2 && map.nodes.count { $0.upstreams.count == 2 } == 2, "\(map)")
      #expect(map.nodes.count == 8, "\(map)")
      for sink in sinks { sink.cancel() }
    }
  }

  @Test func `a stream that delivers is reported only a second after its last event`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let time = VirtualTimeScheduler()
      let numbers = PassthroughSubject<Int, Never>()
      let sink = numbers.delay(for: .milliseconds(100), scheduler: time).sink { _ in }
      for _ in 0..<10 {
        time.schedule { numbers.send(1) }
        time.advance(by: .milliseconds(90))
      }
      #expect(StreamDiagnostics.snapshot().findings == [])
      sink.cancel()
    }
  }

  @Test func `places that read alike are listed once, with their number`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let responses = (0..<30).map { _ in PassthroughSubject<Int, Never>(file: "Response.swift", line: 3) }
      let sink = responses.publisher.flatMap { $0 }.sink { _ in }
      let text = StreamDiagnostics.snapshot().description
      let places = text.split(separator: "\n").filter { $0.hasPrefix("- ") }
      #expect(
        places == [
          "- PassthroughSubject, Response.swift:3: unlimited demand, but no value has arrived (30 like this)"
        ], "\(text)")
      sink.cancel()
    }
  }

  // MARK: The map itself

  @Test func `the map's text lists each stream from its subscriber to its sources, stuck places first`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let numbers = PassthroughSubject<Int, Never>(file: "App.swift", line: 3)
      let sink = numbers.map { $0 * 2 }.removeDuplicates().checkpoint("twice", file: "App.swift", line: 4)
        .sink(receiveValue: { _ in }, file: "App.swift", line: 5)
      numbers.send(1)
      numbers.send(1)
      let text = StreamDiagnostics.snapshot().description
      #expect(
        text == """
          1 stream; none looks stuck.

          no loop
          Sink, App.swift:5 · in 1
          └─ Checkpoint, "twice" at App.swift:4 · in 1 · out 1
             └─ RemoveDuplicates · out 1
                └─ Map · in 2
                   └─ PassthroughSubject, App.swift:3 · out 2 · unlimited demand
          """, "\(text)")
      sink.cancel()
    }
  }

  @Test func `a shared stream is one node with two subscribers`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let numbers = PassthroughSubject<Int, Never>()
      let shared = numbers.removeDuplicates().share()
      let sinks = [shared.sink { _ in }, shared.map { -$0 }.sink { _ in }]
      numbers.send(1)
      let map = StreamDiagnostics.snapshot()
      let source = map.nodes.first { $0.name == "RemoveDuplicates" }
      #expect(map.nodes.filter { $0.name == "RemoveDuplicates" }.count == 1, "\(map)")
      #expect(source.map { map.ends(below: $0.id).count } == 2, "\(map)")
      for sink in sinks { sink.cancel() }
    }
  }

  @Test func `only streams subscribed while the map is on are shown`() async {
    await #expect(processExitsWith: .success) {
      let numbers = PassthroughSubject<Int, Never>()
      let before = numbers.sink { _ in }
      StreamDiagnostics.startMap()
      let within = numbers.sink { _ in }
      StreamDiagnostics.startMap(false)
      let after = numbers.sink { _ in }
      #expect(StreamDiagnostics.snapshot().nodes.filter(\.isEnd).count == 1)
      for sink in [before, within, after] { sink.cancel() }
      #expect(StreamDiagnostics.snapshot().nodes == [])
    }
  }

  @Test func `a chain of thousands of operators is shown in full`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let numbers = PassthroughSubject<Int, Never>()
      var chain = numbers.eraseToAnyPublisher()
      // Subscribing takes stack for each operator, and the address sanitizer multiplies it.
      let count = Sanitizer.current == .address ? 400 : 2_000
      for _ in 0..<count { chain = chain.map { $0 + 1 }.eraseToAnyPublisher() }
      let sink = chain.sink { _ in }
      let map = StreamDiagnostics.snapshot()
      #expect(map.nodes.count == count + 2 && !map.isCut)
      sink.cancel()
    }
  }

  @Test func `a time operator with a queue is one node`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let loop = EventLoop()
      let numbers = PassthroughSubject<Int, Never>()
      let sink = numbers.debounce(for: .seconds(60), scheduler: DispatchQueue.global()).sink { _ in }
      numbers.send(1)
      let nodes = StreamDiagnostics.snapshot().nodes.filter { $0.name == "Debounce" }
      #expect(nodes.count == 1 && nodes[0].received == 1 && nodes[0].waitsForTime)
      sink.cancel()
      withExtendedLifetime(loop) {}
    }
  }

  @Test func `snapshot(limit:) truncates the map`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let numbers = PassthroughSubject<Int, Never>()
      let sinks = (0..<10).map { _ in numbers.sink { _ in } }
      let map = StreamDiagnostics.snapshot(limit: 5)
      #expect(map.nodes.count == 5 && map.isCut)
      for sink in sinks { sink.cancel() }
    }
  }
}
