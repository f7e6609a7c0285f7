import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Replaces a loop where there is none: runs the work of several threads one piece at a time, on a thread that finds it
/// free. No thread waits; a thread that finds it busy leaves its work to the one that is running.
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
