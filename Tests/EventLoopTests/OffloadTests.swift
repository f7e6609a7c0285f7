import CLibrary
import FeedStream
import Synchronization
import TestSupport
import Testing

@Suite(.settled) struct OffloadTests {
  @Test func `offloaded work runs on another thread, and its result is delivered on the loop`() {
    withLoop { loop in
      let log = Log<Int>()
      loop.offload {
        #expect(!loop.isCurrent && EventLoop.current == nil)
        return 6 * 7
      } completion: {
        #expect(loop.isCurrent)
        log.note($0)
      }
      #expect(log.entries.isEmpty)
      loop.run()
      #expect(log.entries == [42])
    }
  }

  @Test func `the loop counts its offloaded work and its active handles`() {
    withLoop { loop in
      let log = Log<Int>()
      #expect(loop.offloadedCount == 0)
      for _ in 0..<10 { loop.offload({ usleep(1_000) }, completion: { log.note(loop.offloadedCount) }) }
      loop.offload({}, completion: {}).cancel()
      #expect(loop.offloadedCount == 11)
      let timer = loop.schedule(after: loop.now.advanced(by: .milliseconds(1)), interval: .milliseconds(1)) {}
      #expect(loop.activeHandleCount > 0)
      loop.schedule(after: loop.now.advanced(by: .milliseconds(5))) { timer.cancel() }
      loop.run()
      #expect(log.entries.count == 10 && log.entries.allSatisfy { $0 < 11 })
      #expect(loop.offloadedCount == 0 && loop.activeHandleCount == 0)
    }
  }

  @Test func `a thousand offloaded closures all complete`() {
    withLoop { loop in
      let log = Log<Int>()
      for number in 0..<1_000 {
        loop.offload {
          number
        } completion: {
          log.note($0)
        }
      }
      loop.run()
      #expect(log.entries.sorted() == Array(0..<1_000))
    }
  }

  @Test func `cancelling prevents offloaded work that hasn't begun, and the completion of work that has`() {
    withLoop { loop in
      let gate = Gate()
      let begun = Atomic<Int>(0)
      let completed = Log<Int>()
      // More work than the pool has threads; each piece waits for the gate.
      let works = (0..<64).map { number in
        loop.offload {
          begun.wrappingAdd(1, ordering: .relaxed)
          gate.wait()
          return number
        } completion: {
          completed.note($0)
        }
      }
      for work in works.dropFirst(32) { work.cancel() }
      works[0].cancel()
      works[0].cancel()
      gate.open()
      loop.run()
      #expect(completed.entries.sorted() == Array(1..<32))
      #expect(begun.load(ordering: .relaxed) < 64)
    }
  }

  @Test func `offloaded work can be cancelled in another one's completion`() {
    withLoop { loop in
      let log = Log<String>()
      var second: (any Cancellable)?
      let gate = Gate()
      loop.offload {
        1
      } completion: { _ in
        log.note("first")
        second?.cancel()
        gate.open()
      }
      second = loop.offload {
        gate.wait()
      } completion: {
        log.note("second")
      }
      loop.run()
      #expect(log.entries == ["first"])
    }
  }

  @Test func `objects held by offloaded work and its completion are released`() {
    withLoop { loop in
      weak var held: Log<Int>?
      weak var dropped: Log<Int>?
      do {
        let log = Log<Int>()
        (held, dropped) = (log, log)
        loop.offload {
          1
        } completion: {
          log.note($0)
        }
        loop.offload {
          2
        } completion: {
          log.note($0)
        }.cancel()
      }
      loop.run()
      #expect(held == nil && dropped == nil)
    }
  }

  @Test func `closing the loop waits for running work and drops work that hasn't begun`() {
    let loop = EventLoop()
    let performed = Atomic<Int>(0)
    for _ in 0..<1_000 {
      loop.offload {
        performed.wrappingAdd(1, ordering: .relaxed)
        stall(milliseconds: 1)
      } completion: {
        Issue.record("a closed loop completed work")
      }
    }
    loop.close()
    #expect(performed.load(ordering: .relaxed) < 1_000)
  }

  #if os(Linux)
    // Runs in its own process, which loses the right to start threads.
    @Test func `offloaded work waits while no thread can be started, and runs later`() async {
      await #expect(processExitsWith: .success) {
        // The limit doesn't apply to root.
        if getuid() == 0 { precondition(setuid(54_321) == 0, "the user stays root") }
        let loop = EventLoop()
        let log = Log<String>()
        let unlimited = limitThreads(to: 1)
        do {
          // If this fails, the rest of the test would prove nothing.
          _ = try EventLoopThread()
          fatalError("a thread could be started")
        } catch let error as EventLoopError {
          precondition(error.operation == .startThread && error.errno == EAGAIN, "\(error)")
        }
        loop.offload {
          "work"
        } completion: {
          log.note($0)
        }
        let abandoned = loop.offload {
          "never"
        } completion: {
          log.note($0)
        }
        abandoned.cancel()
        loop.schedule(after: loop.now.advanced(by: .milliseconds(120))) {
          log.note("timer")
          _ = limitThreads(to: unlimited)
        }
        loop.run()
        loop.close()
        precondition(log.entries == ["timer", "work"], "\(log.entries)")
      }
    }
  #endif
}

#if os(Linux)
  /// Limits the number of threads of this user.
  ///
  /// - Returns: the previous limit.
  private func limitThreads(to count: rlim_t) -> rlim_t {
    let resource = __rlimit_resource_t(__RLIMIT_NPROC.rawValue)
    var limit = rlimit()
    precondition(getrlimit(resource, &limit) == 0, "the limit is unknown")
    let before = limit.rlim_cur
    limit.rlim_cur = count
    precondition(setrlimit(resource, &limit) == 0, "the limit stays")
    return before
  }
#endif

/// Blocks threads until it is opened.
// @unchecked: the semaphore is made for several threads, and never moves.
final class Gate: @unchecked Sendable {
  private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
  init() { sem_init(semaphore, 0, 0) }
  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }
  func wait() {
    sem_wait(semaphore)
    sem_post(semaphore)
  }
  func open() { sem_post(semaphore) }
}
