internal import CLibUV
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension StreamDiagnostics {
  /// Warns of turns of loops that are longer than `limit`, with the stack that holds the loop: longer than 100 ms by default.
  ///
  /// Where warnings are on (``writeWarnings(_:)``), a thread looks at the running loops, several times per limit. It reports a
  /// turn while that lasts. Time in which the loop waits doesn't count, nor does time in which the system runs other programs on
  /// the thread's processor.
  ///
  /// To take the stack, it sends the signal `SIGURG` to the loop's thread, on Linux only. A call such as `usleep` may then return
  /// early with `EINTR`. A program that handles `SIGURG` itself gets the report without a stack.
  ///
  /// - Parameter limit: at least a millisecond; `nil` for no such warning.
  public static func warnOfTurns(longerThan limit: Duration?) {
    let nanoseconds = limit.map { $0.components.seconds * 1_000_000_000 + $0.components.attoseconds / 1_000_000_000 }
    precondition(
      nanoseconds.map { $0 >= 1_000_000 } ?? true,
      "StreamDiagnostics.warnOfTurns(longerThan: \(limit!)): every turn would be too long; use 1 ms or more")
    Warnings.turnLimit.store(nanoseconds ?? .max, ordering: .relaxed)
  }
}

/// Looks at the turns of all loops from a thread of its own, and reports those that are too long.
final class TurnMonitor: Sendable {
  static let shared = TurnMonitor()

  private struct Entry {
    // Unsafe but correct: an entry is removed, with the lock held, before its loop's memory is freed.
    nonisolated(unsafe) let uv: UnsafeMutablePointer<uv_loop_t>
    let state: TurnState
    /// The turn that was seen last, and for how long its thread had waited for a processor then.
    var seen: UInt64 = 0
    var delay: UInt64 = 0
    var reported: UInt64 = 0
    var reportedAt: UInt64 = 0
  }

  private let entries = Locked<[Entry]>([])
  private let isAsleep = Atomic(false)
  // Never destroyed.
  nonisolated(unsafe) private let alarm = UnsafeMutablePointer<uv_sem_t>.allocate(capacity: 1)

  private init() {
    uv_sem_init(alarm, 0)
    // Without a thread, there are no reports.
    let thread = try? Thread(name: "turn-monitor") { TurnMonitor.shared.run() }
    thread?.detach()
  }

  func add(_ uv: UnsafeMutablePointer<uv_loop_t>) -> TurnState {
    let state = TurnState()
    let entry = Entry(uv: uv, state: state)
    entries.withLock { $0.append(entry) }
    return state
  }

  func remove(_ state: TurnState) { entries.withLock { $0.removeAll { $0.state === state } } }

  /// After the state of a loop says that it runs.
  func aLoopRuns() { if isAsleep.exchange(false, ordering: .sequentiallyConsistent) { uv_sem_post(alarm) } }

  /// Lets the calling thread be asked for its stack.
  ///
  /// - Returns: the kernel's number of the thread, never 0.
  static func admitThread() -> Int32 {
    #if os(Linux)
      // Threads that a dispatch queue has started block all signals.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGURG)
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      return clibuv_thread_number()
    #else
      return 1
    #endif
  }

  private func run() {
    var rest = 0
    while true {
      let limit = Warnings.turnLimit.load(ordering: .relaxed)
      uv_sleep(UInt32(min(max(limit / 4_000_000, 1), 1_000)))
      let (isIdle, long) = look(limit)
      for turn in long { report(turn, limit) }
      rest = isIdle ? rest + 1 : 0
      if rest > 20 {
        rest = 0
        isAsleep.store(true, ordering: .sequentiallyConsistent)
        if entries.withLock({ $0.contains { $0.state.isRunning } }) {
          // Either this sees that a loop runs, or the loop sees that this sleeps.
          if isAsleep.exchange(false, ordering: .sequentiallyConsistent) { continue }
        }
        uv_sem_wait(alarm)
      }
    }
  }

  /// A turn that is too long, and the stack of its thread, as soon as that is taken.
  private struct LongTurn {
    let state: TurnState
    let turn: TurnState.Turn
    let stack: StackRequest?
  }

  /// - Returns: true when no loop runs, and the turns to report.
  private func look(_ limit: Int64) -> (isIdle: Bool, [LongTurn]) {
    entries.withLock { entries in
      var (isIdle, long) = (true, [LongTurn]())
      for index in entries.indices {
        guard let turn = entries[index].state.read() else { continue }
        isIdle = false
        let now = uv_hrtime()
        let waited = uv_metrics_idle_time(entries[index].uv) &- turn.waited
        // Negative when the turn has just ended.
        let busy = Int64(bitPattern: now &- turn.began &- waited)
        guard busy > 1_000_000, entries[index].reported != turn.number else { continue }
        if entries[index].seen != turn.number {
          (entries[index].seen, entries[index].delay) = (turn.number, ProcessorDelay.of(turn.thread))
        }
        guard busy > limit else { continue }
        let delay = ProcessorDelay.of(turn.thread) &- entries[index].delay
        guard busy - Int64(bitPattern: delay) > limit, now &- entries[index].reportedAt > 1_000_000_000 else {
          continue
        }
        (entries[index].reported, entries[index].reportedAt) = (turn.number, now)
        // Now: a thread whose loop is in the list has not ended.
        long.append(LongTurn(state: entries[index].state, turn: turn, stack: StackRequest(turn.thread)))
      }
      return (isIdle, long)
    }
  }

  /// The stack; empty when the turn is over, and what was taken may show something else.
  private func stack(of long: LongTurn) -> [UInt] {
    var (longest, request) = ([UInt](), long.stack)
    // In a function without information for unwinding, the stack ends. A few milliseconds later, the thread is elsewhere.
    for _ in 0..<10 {
      guard let frames = request?.frames(), long.state.read()?.number == long.turn.number else { break }
      if frames.count > longest.count { longest = frames }
      // The loop's own calls are that many.
      if longest.count > 6 { break }
      uv_sleep(7)
      // With the lock: a thread whose loop is in the list has not ended.
      request = entries.withLock { _ in
        long.state.read()?.number == long.turn.number ? StackRequest(long.turn.thread) : nil
      }
    }
    return longest
  }

  private func report(_ long: LongTurn, _ limit: Int64) {
    guard Warnings.areOn else { return }
    let calls = StackText(stack(of: long))
    Warnings.warn(
      .longTurn, at: "EventLoop of \(ThreadNames.name(of: long.turn.thread))", culprit: calls.culprit,
      stack: calls.lines,
      """
      a turn takes longer than \(Duration.nanoseconds(limit).readable), and nothing else runs on the loop meanwhile; move blocking \
      or heavy work to offload(_:completion:), SerialWorker or mapAsync
      """)
  }
}
