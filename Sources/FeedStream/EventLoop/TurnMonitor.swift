internal import CLibUV
import CLibrary
import Synchronization

extension StreamDiagnostics {
  /// Sets the time limit for a loop's turns, 100 ms by default. A longer turn causes a warning with the stack of the
  /// loop's thread.
  ///
  /// While warnings are on (``writeWarnings(_:)``), a thread checks the running loops several times per limit, and
  /// reports a long turn while the turn lasts. Time that the loop spends waiting doesn't count, nor does time during
  /// which the thread is ready but the system runs others. In debug builds, a turn isn't reported if the stack contains
  /// none of the program's functions.
  ///
  /// To capture the stack, which works only on Linux, the checking thread sends `SIGURG` to the loop's thread. A call
  /// such as `usleep` may then return early with `EINTR`. If the program handles `SIGURG` itself, reports don't include
  /// a stack.
  ///
  /// - Parameter limit: at least a millisecond; `nil` turns this warning off.
  public static func warnOfTurns(longerThan limit: Duration?) {
    let nanoseconds = limit?.wholeNanoseconds
    precondition(
      nanoseconds.map { $0 >= 1_000_000 } ?? true,
      "StreamDiagnostics.warnOfTurns(longerThan: \(limit!)): every turn would be too long; use 1 ms or more")
    Warnings.turnLimit.store(nanoseconds ?? .max, ordering: .relaxed)
  }
}

/// Checks the turns of all loops from a separate thread, and reports those that are too long.
final class TurnMonitor: Sendable {
  static let shared = TurnMonitor()

  private struct Entry {
    // Safe because an entry is removed, with the lock held, before its loop's memory is freed.
    nonisolated(unsafe) let uv: UnsafeMutablePointer<uv_loop_t>
    let state: TurnState
    /// The turn that was last checked, and the time for which its thread had waited for a processor until then.
    var seen: UInt64 = 0
    var delay: UInt64 = 0
    /// The part of that turn that was over before its first check, and that would have been checked earlier if this
    /// thread had not waited for a processor itself. The loop's thread probably waited as well.
    var unchecked: Int64 = 0
    var reported: UInt64 = 0
    var reportedAt: UInt64 = 0
  }

  private let entries = Locked<[Entry]>([])
  private let isAsleep = Atomic(false)
  private let alarm = Gate()

  private init() {
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

  /// Called when a loop has begun to run, after its state has been updated.
  func aLoopRuns() { if isAsleep.exchange(false, ordering: .sequentiallyConsistent) { alarm.open() } }

  /// Allows the monitor to request the calling thread's stack.
  ///
  /// - Returns: the kernel's ID of the thread, never 0.
  static func admitThread() -> Int32 {
    #if os(Linux)
      // Threads of dispatch queues block all signals.
      unblockSignal(SIGURG)
      return clibuv_thread_number()
    #else
      return 1
    #endif
  }

  private func run() {
    var rest = 0
    while true {
      let limit = Warnings.turnLimit.load(ordering: .relaxed)
      uv_sleep(UInt32(Self.period(limit) / 1_000_000))
      let (isIdle, long) = look(limit)
      for turn in long { report(turn, limit) }
      rest = isIdle ? rest + 1 : 0
      if rest > 20 {
        rest = 0
        isAsleep.store(true, ordering: .sequentiallyConsistent)
        if entries.withLock({ $0.contains { $0.state.isRunning } }) {
          // Either this thread sees that a loop runs, or the loop sees that this thread sleeps.
          if isAsleep.exchange(false, ordering: .sequentiallyConsistent) { continue }
        }
        alarm.wait()
      }
    }
  }

  /// The time between two checks, in nanoseconds.
  private static func period(_ limit: Int64) -> Int64 { min(max(limit / 4, 1_000_000), 1_000_000_000) }

  /// A turn that is too long, and the request for its thread's stack.
  private struct LongTurn {
    let state: TurnState
    let turn: TurnState.Turn
    let stack: StackRequest?
  }

  /// - Returns: true if all loops are idle, and the turns to report.
  private func look(_ limit: Int64) -> (isIdle: Bool, [LongTurn]) {
    entries.withLock { entries in
      var (isIdle, long) = (true, [LongTurn]())
      for index in entries.indices {
        guard let turn = entries[index].state.read() else { continue }
        isIdle = false
        let now = uv_hrtime()
        let waited = uv_metrics_idle_time(entries[index].uv) &- turn.waited
        // Negative if the turn has just ended.
        let busy = Int64(bitPattern: now &- turn.began &- waited)
        guard busy > 1_000_000, entries[index].reported != turn.number else { continue }
        if entries[index].seen != turn.number {
          (entries[index].seen, entries[index].delay) = (turn.number, ProcessorDelay.of(turn.thread))
          entries[index].unchecked = max(busy - Self.period(limit), 0)
        }
        guard busy > limit else { continue }
        let delay = ProcessorDelay.of(turn.thread) &- entries[index].delay
        guard busy - entries[index].unchecked - Int64(bitPattern: delay) > limit,
          now &- entries[index].reportedAt > 1_000_000_000
        else { continue }
        (entries[index].reported, entries[index].reportedAt) = (turn.number, now)
        // Request the stack with the lock held: a thread whose loop is in the list has not ended.
        let state = entries[index].state
        long.append(LongTurn(state: state, turn: turn, stack: StackRequest(turn, of: state)))
      }
      return (isIdle, long)
    }
  }

  /// The stack; empty if the turn was over before the thread captured it.
  private func stack(of long: LongTurn) -> [UInt] {
    var (longest, request) = ([UInt](), long.stack)
    // A captured stack ends at a function without unwind information. Try again a few milliseconds later, when the
    // thread is probably in another function.
    for round in 0..<10 {
      if round > 0 {
        uv_sleep(7)
        // With the lock held, as above. Every request is read, because only reading frees it.
        request = entries.withLock { _ in
          long.state.read()?.number == long.turn.number ? StackRequest(long.turn, of: long.state) : nil
        }
      }
      guard let frames = request?.frames() else { break }
      if frames.count > longest.count { longest = frames }
      // A longer stack shows more than the loop's own calls.
      if longest.count > 6 { break }
    }
    return longest
  }

  private func report(_ long: LongTurn, _ limit: Int64) {
    let frames = stack(of: long)
    guard Warnings.areOn else { return }
    let calls = StackText(frames)
    guard !calls.isWaiting else {
      // The turn may still become long after the wait.
      return entries.withLock { entries in
        for index in entries.indices where entries[index].state === long.state { entries[index].reported = 0 }
      }
    }
    #if DEBUG
      // In release builds, a program's closure may be inlined into this package's code.
      guard !calls.isOwn else { return }
    #endif
    Warnings.warn(
      .longTurn, at: "EventLoop of \(long.turn.runner)", culprit: calls.culprit, stack: calls.lines,
      """
      \(calls.culpritName.map { "\($0): " } ?? "")\
      a turn takes longer than \(Duration.nanoseconds(limit).readable), and nothing else runs on the loop meanwhile; move blocking \
      or heavy work to offload(_:completion:), SerialWorker or mapAsync
      """)
  }
}
