import Glibc
import Synchronization

/// Stands in for a loop where there is none: runs what several threads bring one at a time, on whichever of them finds
/// it free. Nobody waits; who finds it busy leaves the work to whoever keeps it busy.
final class SerialLane: StreamDomain {
  private struct State {
    var work = FIFO<@Sendable () -> Void>()
    var isBusy = false
  }

  private let state = Locked(State())
  private let runner = Atomic<UInt>(0)

  var isHere: Bool { runner.load(ordering: .relaxed) == UInt(pthread_self()) }

  func execute(_ action: @escaping @Sendable () -> Void) {
    let isFree = state.withLock { state in
      state.work.append(action)
      defer { state.isBusy = true }
      return !state.isBusy
    }
    guard isFree else { return }
    runner.store(UInt(pthread_self()), ordering: .relaxed)
    while let action = next() { action() }
  }

  private func next() -> (@Sendable () -> Void)? {
    state.withLock { state in
      if let action = state.work.popFirst() { return action }
      runner.store(0, ordering: .relaxed)
      state.isBusy = false
      return nil
    }
  }
}
