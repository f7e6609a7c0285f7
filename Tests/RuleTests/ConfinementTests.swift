import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

/// Rule 1 of `CONTRACT.md`, for every row of the rule suite: the subscription that an operator delivers traps in debug
/// builds when another thread uses it.
@Suite(.settled) struct ConfinementTests {
  @Test func `every operator traps when another thread requests values or cancels`() async throws {
    let ending = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let stranger = try Stranger()
      var findings: [String] = []
      var touched = 0
      for row in RuleSuite.rows {
        let outcome = stranger.touch(row)
        findings += outcome.findings
        if outcome.isTouched { touched += 1 }
      }
      if touched < 120 { findings.append("only \(touched) operators were touched") }
      let report = findings.map { "\nfinding: \($0)" } + ["\nfinding: that was all\n"]
      FileHandle.standardError.write(Data(report.joined().utf8))
      exit(0)
    }
    // The lines are among the testing library's own output.
    let lines = ending.map { String(decoding: $0.standardErrorContent, as: UTF8.self).split(separator: "\n") }
    #expect(lines?.filter { $0.hasPrefix("finding: ") } == ["finding: that was all"])
  }
}

// Called by its symbol's name, because Swift's overlay makes it unavailable: the child of a process with several
// threads may do very little. This child only uses a subscription and ends.
@_silgen_name("fork") private func forkProcess() -> pid_t

/// A thread that runs none of our streams, and uses a subscription that it shouldn't: each time in a child process,
/// which that ends.
///
/// Meanwhile, virtual time is in the middle of a step, so its streams belong to another thread.
private final class Stranger {
  /// An upstream whose subscription checks nothing.
  private struct Unguarded: Publisher {
    typealias Output = Int
    typealias Failure = MarbleFailure

    final class Own: Subscription {
      func request(_ demand: Subscribers.Demand) {}
      func cancel() {}
    }

    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == MarbleFailure {
      subscriber.receive(subscription: Own())
    }
  }

  // @unchecked: the thread that passes it on waits until the other one has finished.
  private struct Handed: @unchecked Sendable {
    let subscription: any Subscription
  }

  private let thread: EventLoopThread

  init() throws { thread = try EventLoopThread() }

  func touch(_ row: RuleRow) -> (findings: [String], isTouched: Bool) {
    let time = VirtualTimeScheduler()
    let outer = CurrentDomain.enter(time)
    defer { CurrentDomain.leave(outer) }
    var findings: [String] = []
    var isTouched = false
    time.schedule { [self] in
      let keeper = row.subscribe(AnyPublisher(Unguarded()), time)
      time.schedule(after: time.now) { [self] in
        guard let subscription = keeper.subscription else {
          findings.append("\(row.name): has handed down no subscription")
          return
        }
        if subscription is Unguarded.Own {
          // This operator has no subscription of its own.
          if !row.traits.contains(.passesStrays) {
            findings.append("\(row.name): hands its upstream's subscription on")
          }
          return
        }
        isTouched = true
        // Takes requests and cancellations on any thread, and moves them to where the stream lives.
        if row.file == "Parallel/ReceiveOnLoop" { return }
        let request = message(touching: subscription) { $0.request(.max(1)) }
        let cancel = message(touching: subscription) { $0.cancel() }
        for (name, message) in [("request", request), ("cancel", cancel)] where !message.contains("CONTRACT, rule 1") {
          findings.append("\(row.name): \(name) does not trap on another thread: \(type(of: subscription)) \(message)")
        }
        subscription.cancel()
      }
    }
    time.advance(by: .milliseconds(1))
    return (findings, isTouched)
  }

  /// The message that a child process writes to standard error when this thread performs the action on a subscription.
  private func message(
    touching subscription: any Subscription, _ touch: @escaping @Sendable (any Subscription) -> Void
  ) -> String {
    let handed = Handed(subscription: subscription)
    let answer = Mailed()
    let isDone = DispatchSemaphore(value: 0)
    thread.loop.execute {
      answer.text = Self.child { touch(handed.subscription) }
      isDone.signal()
    }
    isDone.wait()
    return answer.text
  }

  // @unchecked: read only after the semaphore signals that it was written.
  private final class Mailed: @unchecked Sendable {
    var text = ""
  }

  private static func child(_ body: () -> Void) -> String {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { return "no pipe" }
    let pid = forkProcess()
    if pid == 0 {
      for number in [SIGILL, SIGTRAP, SIGABRT] { signal(number, SIG_DFL) }
      alarm(20)
      dup2(ends[1], STDERR_FILENO)
      body()
      _exit(0)
    }
    close(ends[1])
    defer { close(ends[0]) }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(ends[0], &buffer, buffer.count)
      guard count > 0 else { break }
      text += buffer.prefix(count)
    }
    var status: Int32 = 0
    waitpid(pid, &status, 0)
    return String(decoding: text, as: UTF8.self)
  }
}
