import FeedStream
import Foundation
import TestSupport
import Testing

/// `EventLoop.main`: the loop of the main actor, which the main queue runs.
@Suite(.settled) @MainActor struct MainLoopTests {
  @Test func `a stream made on the main actor delivers there`() async {
    let subject = PassthroughSubject<Int, Never>()
    let value = await withCheckedContinuation { done in
      let subscription = subject.debounce(for: .milliseconds(3), scheduler: EventLoop.main).first().sink { value in
        MainActor.assumeIsolated { done.resume(returning: value) }
      }
      subject.send(1)
      subject.send(2)
      kept.append(subscription)
    }
    #expect(value == 2)
    kept.removeAll()
  }

  @Test func `timers, scheduled work and tasks on the main loop can await one another`() async {
    var ticks: [Int] = []
    for await tick in Interval(every: .milliseconds(1), scheduler: EventLoop.main).prefix(3).values {
      ticks.append(tick)
      try? await Task.sleep(for: .milliseconds(2))
    }
    #expect(ticks.count == 3)
    let start = EventLoop.main.now
    await withCheckedContinuation { done in
      EventLoop.main.schedule(after: start.advanced(by: .milliseconds(5))) { done.resume() }
    }
    #expect(start.distance(to: EventLoop.main.now) >= .milliseconds(5))
  }

  @Test func `a sender on another thread awaits the reader of a subject on the main loop`() async {
    let subject = PassthroughSubject<Int, Never>()
    let sender = subject.sender(on: EventLoop.main)
    let feeding = Task.detached {
      for number in 1...100 { _ = await sender.send(number) }
      sender.send(completion: .finished)
    }
    var sum = 0
    for await number in subject.values { sum += number }
    #expect(sum == 5050)
    await feeding.value
  }

  @Test func `work offloaded from the main loop returns to the main actor`() async {
    let result = await withCheckedContinuation { done in
      EventLoop.main.offload({ (1...10).reduce(0, +) }) { sum in
        MainActor.assumeIsolated { done.resume(returning: sum) }
      }
    }
    #expect(result == 55)
    await withCheckedContinuation { done in
      Thread.detachNewThread { EventLoop.main.execute { done.resume() } }
    }
  }

  @Test func `the main loop watches sockets`() async throws {
    let sockets = SocketPair()
    let watch = try PollHandle(on: .main, fileDescriptor: sockets.near)
    let text = try await withCheckedThrowingContinuation { (done: CheckedContinuation<String, any Error>) in
      do {
        try watch.start(.readable) { [unowned watch] _, _ in
          done.resume(returning: sockets.receive())
          watch.stop()
        }
      } catch {
        done.resume(throwing: error)
      }
      sockets.send("hello")
    }
    #expect(text == "hello")
    watch.close()
  }

  @Test func `an actor can use the main loop as its executor`() async {
    actor Counter {
      private let counts = CurrentValueSubject<Int, Never>(0)
      nonisolated var unownedExecutor: UnownedSerialExecutor { EventLoop.main.asUnownedSerialExecutor() }
      func increment() -> Int {
        counts.value += 1
        return counts.value
      }
    }
    let counter = Counter()
    _ = await counter.increment()
    #expect(await counter.increment() == 2)
  }

  @Test func `touching the main loop outside the main actor traps`() async {
    let ending = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
        Thread.detachNewThread {
          EventLoop.main.schedule {}
          done.resume()
        }
      }
    }
    #expect(message(of: ending).contains("use execute"))
  }

  private func message(of ending: ExitTest.Result?) -> String {
    String(decoding: ending?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test(arguments: ["run", "stop", "close"]) func `run, stop and close trap on the main loop`(_ what: String) async {
    let ending = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [what] in
      await MainActor.run {
        switch what {
        case "run": EventLoop.main.run()
        case "stop": EventLoop.main.stop()
        default: EventLoop.main.close()
        }
      }
    }
    #expect(message(of: ending).contains("the main queue"))
    if what == "run" { #expect(message(of: ending).contains("use EventLoop() instead of EventLoop.main")) }
  }
}

@MainActor private var kept: [AnyCancellable] = []
