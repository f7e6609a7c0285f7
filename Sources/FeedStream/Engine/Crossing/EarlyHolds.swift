/// Counts the events that the streams of a thread without a loop wait for: values in transit to queues, tasks, and
/// promises. Loops that the thread makes later wait for these events, too, because a program may subscribe first and
/// make its loop afterwards.
// @unchecked: a lock guards the state.
final class EarlyHolds: StreamDomain, @unchecked Sendable {
  private struct State {
    var onQueues = 0
    var onMainQueue = 0
    var loops: [WeakLoop] = []

    mutating func add(_ number: Int, at place: HoldingPlace) {
      switch place {
      case .queue: onQueues += number
      case .mainQueueOrTask: onMainQueue += number
      }
    }
  }

  private struct WeakLoop {
    /// The loop's `reference`: any thread uses it, and must not be the last to release the loop.
    weak var loop: (any StreamDomain)?
  }

  private let state = Locked(State())

  private static let slot = ThreadSlot<EarlyHolds>()

  /// The counts of the calling thread; `nil` in a task that doesn't run on the main thread, because unrelated tasks may
  /// make loops on the same thread.
  static var ofCallingCode: EarlyHolds? {
    SubjectConfinement.isInTask && !MainQueueCode.isRunning ? nil : slot.object { EarlyHolds() }
  }

  /// Passes the calling thread's counts to `loop`, which the thread has just made.
  static func adopt(by loop: any StreamDomain) { slot.existing?.adopt(by: loop) }

  private func adopt(by loop: any StreamDomain) {
    let loop = loop.reference
    // Outside of the lock: this check may release the last reference. Only this thread changes the list.
    let others = state.withLock { $0.loops }.filter { $0.loop.map { !$0.isForAnyThread } ?? false }
    state.withLock { state in
      state.loops = others
      // The thread may run any of its loops, so hold each of them.
      state.loops.append(WeakLoop(loop: loop))
      for _ in 0..<state.onQueues { loop.hold(.queue) }
      for _ in 0..<state.onMainQueue { loop.hold(.mainQueueOrTask) }
    }
  }

  func hold(_ place: HoldingPlace) {
    let loops = state.withLock { state in
      state.add(1, at: place)
      return state.loops
    }
    for entry in loops { entry.loop?.hold(place) }
  }

  func letGo(_ place: HoldingPlace) {
    let loops = state.withLock { state in
      state.add(-1, at: place)
      return state.loops
    }
    for entry in loops { entry.loop?.letGo(place) }
  }

  // This domain only counts; no stream lives here.
  let isHere = false
  func bring(_ action: @escaping @Sendable () -> Void) {}
}
