import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FeedStream

/// Each test runs in its own process, because the map is process-wide.
@Suite("the live map shows the streams of all loops", .settled) struct LoopMapTests {
  @Test func `the map lists the streams of each loop, and marks a blocked loop`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let (other, blocked) = (try EventLoopThread(name: "other"), try EventLoopThread(name: "blocked"))
      let (isReady, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      for thread in [other, blocked] {
        thread.loop.execute {
          Interval(every: .seconds(3_600), scheduler: EventLoop.current!).sink { _ in }.store(in: &Kept.here)
          isReady.signal()
          if thread === blocked { gate.wait() }
        }
        isReady.wait()
      }
      let loop = EventLoop()
      let numbers = PassthroughSubject<Int, Never>()
      let sink = numbers.sink { _ in }
      var map: StreamMap?
      let taking = StreamDiagnostics.snapshot(on: loop, within: .seconds(3)).sink { map = $0 }
      loop.run()
      #expect(map?.silentLoops == ["thread blocked"], "\(map!)")
      #expect(map?.nodes.filter(\.isEnd).contains { $0.loop == "thread other" } == true, "\(map!)")
      #expect(map?.nodes.contains { $0.name == "PassthroughSubject" } == true, "\(map!)")
      #expect(map?.findings.contains { $0.reason == .waitsForTime } == true, "\(map!)")
      gate.signal()
      taking.cancel()
      sink.cancel()
      other.shutdown()
      blocked.shutdown()
    }
  }

  @Test func `a stream that crosses to a queue and another loop is shown as one stream`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let thread = try EventLoopThread(name: "other")
      let loop = EventLoop()
      let numbers = PassthroughSubject<Int, Never>(file: "App.swift", line: 1)
      let sink = numbers.filter { $0 > 10 }.receive(on: DispatchQueue(label: "rows")).map { $0 + 1 }
        .receive(on: thread.loop).sink(receiveValue: { _ in }, file: "App.swift", line: 2)
      var map: StreamMap?
      var taking: AnyCancellable?
      loop.schedule {
        numbers.send(1)
        taking = StreamDiagnostics.snapshot(on: loop, within: .seconds(60)).sink { map = $0 }
      }
      loop.run()
      let text = map?.description.replacing(#/ · \d+ ms ago/#, with: "").split(separator: "\n").map(String.init) ?? []
      #expect(text.contains("- Filter (Sink, App.swift:2): 1 value arrived, but was not passed on"), "\(text)")
      #expect(
        text.suffix(7).map { $0.replacing(#/ on thread (?!other).*/#, with: " on its thread") } == [
          "thread other", "Sink, App.swift:2 · in 0", "└─ ReceiveOn · in 0 · out 0",
          "   └─ Map · in 0 · out 0 · on the queue rows",
          "      └─ ReceiveOn · in 0 · out 0", "         └─ Filter · in 1 · out 0 · on its thread",
          "            └─ PassthroughSubject, App.swift:1 · out 1 · unlimited demand",
        ], "\(text)")
      taking?.cancel()
      sink.cancel()
      thread.shutdown()
    }
  }

  @Test func `a second loop of the same thread, which nothing runs, is told apart from the first`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let idle = EventLoop()
      idle.execute {
        Interval(every: .seconds(3_600), scheduler: EventLoop.current!).sink { _ in }.store(in: &Kept.here)
      }
      idle.run(.oneTurn)
      let loop = EventLoop()
      var map: StreamMap?
      let taking = StreamDiagnostics.snapshot(on: loop, within: .milliseconds(50)).sink { map = $0 }
      loop.run()
      #expect(map?.silentLoops.count == 1 && map?.silentLoops[0].hasPrefix("another loop of ") == true, "\(map!)")
      taking.cancel()
      Kept.here = []
      idle.close()
    }
  }

  @Test func `a snapshot doesn't keep the loops that don't run`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      weak var silent: EventLoop?
      weak var own: EventLoop?
      do {
        let idle = EventLoop()
        silent = idle
        let numbers = PassthroughSubject<Int, Never>()
        var sink: AnyCancellable?
        idle.schedule { sink = numbers.sink { _ in } }
        idle.run(.oneTurn)
        let loop = EventLoop()
        own = loop
        let taking = StreamDiagnostics.snapshot(on: loop, within: .milliseconds(1)).sink { _ in }
        loop.run()
        let untaken = StreamDiagnostics.snapshot(on: loop).sink { _ in }
        for cancellable in [taking, untaken] { cancellable.cancel() }
        sink?.cancel()
      }
      #expect(silent == nil && own == nil)
    }
  }

  @Test func `a turn that doesn't wait doesn't get the time of an earlier event`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let loop = EventLoop()
      let numbers = PassthroughSubject<Int, Never>()
      var sink: AnyCancellable?
      loop.schedule { sink = numbers.sink { _ in } }
      loop.run(.oneTurn)
      let map = try #require(loop.subscriptions?.map)
      let before = map.turn.load(ordering: .relaxed)
      var during: Int?
      loop.schedule { during = map.turn.load(ordering: .relaxed) }
      loop.run(.oneTurn)
      #expect(during.map { $0 > before } == true)
      sink?.cancel()
      loop.close()
    }
  }

  @Test func `a file says that it waits for a thread of the pool`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let loop = EventLoop()
      var map: StreamMap?
      var reading: AnyCancellable?
      loop.schedule {
        reading = File("/proc/self/status").bytes(on: loop).sink { _ in
        } receiveValue: { _ in
        }
        map = StreamDiagnostics.snapshot()
      }
      loop.run()
      #expect(
        map?.findings.map(\.message) == [
          "unlimited demand, but no value has arrived; "
            + "a thread of the pool is reading, or all threads of the pool are busy"
        ], "\(map!)")
      reading?.cancel()
    }
  }

  @Test func `values that a task awaits are shown`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      let loop = EventLoop()
      let numbers = PassthroughSubject<Int, Never>(file: "App.swift", line: 1)
      let values = numbers.map { $0 + 1 }.values
      let task = Task { for await _ in values {} }
      var map: StreamMap?
      let taking = loop.timer(every: .milliseconds(10)).autoconnect().first { _ in numbers.subscriberCount > 0 }
        .flatMap { _ in StreamDiagnostics.snapshot(on: loop, within: .seconds(60)) }.sink { map = $0 }
      let ending = loop.timer(every: .milliseconds(10)).autoconnect().first { _ in map != nil }.sink { _ in
        task.cancel()
      }
      loop.run()
      ending.cancel()
      #expect(map?.nodes.filter(\.isEnd).map(\.name).contains("values") == true, "\(map!)")
      #expect(map?.findings.contains { map!.title($0.node) == "PassthroughSubject, App.swift:1" } == true, "\(map!)")
      taking.cancel()
    }
  }

  private enum Kept {
    // Written by one loop after another, before the test reads them.
    nonisolated(unsafe) static var here: Set<AnyCancellable> = []
  }

  @Test func `a loop is named after the main queue when other threads serve that queue`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.startMap()
      await Self.expectMainQueue()
    }
  }

  @MainActor private static func expectMainQueue() async {
    let ticks = Interval(every: .seconds(3_600), scheduler: EventLoop.main).sink { _ in }
    var loops: Set<String> = []
    for await map in StreamDiagnostics.snapshot(on: EventLoop.main).values { loops = Set(map.nodes.map(\.loop)) }
    #expect(loops == ["the main queue"])
    // A loop that runs within code on the main queue.
    let loop = EventLoop()
    let number = PassthroughSubject<Int, Never>()
    let sink = number.receive(on: loop).sink { _ in }
    loop.schedule { loops = Set(StreamDiagnostics.snapshot().nodes.map(\.loop)).subtracting(["no loop"]) }
    loop.run(.oneTurn)
    #expect(loops == ["the main queue"])
    sink.cancel()
    loop.close()
    ticks.cancel()
  }

  @Test func `printMapOnSignal writes the map to standard error`() async {
    await #expect(processExitsWith: .success) {
      let path = FileManager.default.temporaryDirectory.appending(path: "map-\(UUID().uuidString)").path
      let file = open(path, O_RDWR | O_CREAT, 0o600)
      dup2(file, STDERR_FILENO)
      let loop = EventLoop()
      let printing = StreamDiagnostics.printMapOnSignal(on: loop)
      let numbers = PassthroughSubject<Int, Never>()
      let sink = numbers.filter { $0 > 10 }.sink(receiveValue: { _ in }, file: "App.swift", line: 5)
      loop.schedule {
        numbers.send(1)
        kill(getpid(), SIGUSR1)
      }
      // The map is written on another thread.
      let wanted = [
        "- Filter (Sink, App.swift:5): 1 value arrived, but was not passed on\n",
        "\nSink, App.swift:5 · in 0\n└─ Filter",
      ]
      let waiting = loop.timer(every: .milliseconds(10)).autoconnect().sink { _ in
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        if wanted.allSatisfy(text.contains) { loop.stop() }
      }
      loop.run(.untilStopped)
      waiting.cancel()
      sink.cancel()
      printing.cancel()
      unlink(path)
    }
  }

  @Test func `a handler of printMapOnSignal receives the map, and nothing is written`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let loop = EventLoop()
      var maps: [StreamMap] = []
      let printing = StreamDiagnostics.printMapOnSignal(on: loop) { map in
        maps.append(map)
        loop.stop()
      }
      let numbers = PassthroughSubject<Int, Never>()
      let sink = numbers.sink { _ in }
      loop.schedule { kill(getpid(), SIGUSR1) }
      loop.run(.untilStopped)
      #expect(maps.map { $0.nodes.contains { $0.name == "PassthroughSubject" } } == [true])
      sink.cancel()
      printing.cancel()
    }
    #expect(result?.standardErrorContent.isEmpty == true)
  }
}
