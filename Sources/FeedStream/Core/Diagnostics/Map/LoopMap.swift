public import Synchronization

/// The ends of the streams that live on one loop, in one lane, or on one thread without a loop. Use it only there,
/// except as noted.
@usableFromInline final class LoopMap {
  // @unchecked: guarded by the list's lock; the end and its tally are read only in their home.
  private struct Entry: @unchecked Sendable {
    weak var end: (any LiveSubscriber)?
    let place: SourcePlace?
    let tally: Tally?
    /// The task that made a stream without a loop. The task may continue on another thread, where no other code uses
    /// the stream.
    let task: UInt64?
  }

  /// The number of turns that the loop has begun; without a loop, the number of pieces of work that the thread has
  /// begun for a domain. The times of events are precise to one turn.
  // Atomic, because a stream made here may deliver on a queue.
  @usableFromInline let turn = Atomic(0)
  private let thread = currentThread()
  /// The domain's `reference`, because other threads read the time.
  private weak var domain: (any StreamDomain)?
  /// The domain whose clock was read last, for streams without a loop, such as those in virtual time.
  private weak var clock: (any StreamDomain)?
  /// The number of clocks that have been read.
  private(set) var clockNumber = 0
  // Locked, because a subscription to a stream on a queue is made on another thread.
  private let entries = SweptList<Entry>()

  init(_ domain: (any StreamDomain)?, isOfMain: Bool = false) {
    self.domain = domain?.reference
    self.isOfMain = isOfMain
  }

  /// A placeholder for the list of a home that isn't known yet. No events are counted in its turns.
  // Only its turn is used, and the turn never changes.
  nonisolated(unsafe) static let unknown: LoopMap = {
    let map = LoopMap(nil)
    map.turn.store(-2, ordering: .relaxed)
    return map
  }()

  /// True if the calling thread made this list.
  var isOfThisThread: Bool { isOfMain ? MainQueueCode.isRunning : thread == currentThread() }

  /// True for the list of the main thread, whose code may move to other threads under `dispatchMain()`.
  private let isOfMain: Bool

  func turnBegins() { turn.store(turn.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }

  private var task: UInt64? { domain == nil && !isOfMain ? SubjectConfinement.currentTask : nil }

  /// Safe to use from any thread.
  func add(_ end: any LiveSubscriber, _ place: SourcePlace?, _ tally: Tally?) {
    entries.add(Entry(end: end, place: place, tally: tally, task: task)) { $0.end == nil }
  }

  /// False when there can't be any streams left. Safe to use from any thread.
  var mayHaveStreams: Bool {
    entries.elements.contains { entry in
      entry.end.map { ($0 as? any LiveAnywhere)?.mayReceive ?? true } ?? false
    }
  }

  /// The current time, in nanoseconds; `nil` if there is no clock. Safe to use from any thread; on other threads, the
  /// list of a thread has no clock.
  func now() -> Int64? {
    if let domain { return domain.instant }
    guard isOfThisThread else { return nil }
    // A lane without a queue runs on threads with clocks of their own.
    if let current = CurrentDomain.get(), current !== clock, !current.isForAnyThread, current.instant != nil {
      clock = current
      clockNumber += 1
      // A loop counts its turns for its own map.
      if current.subscriptions != nil { _ = LiveMap.here() }
    }
    return clock?.instant
  }

  /// The current streams.
  func read(atMost limit: Int) -> StreamMap {
    var reader = MapReader(domain?.label ?? "no loop", limit: limit)
    let task = self.task
    for entry in entries.elements where entry.task == task {
      // If a stream's subscription arrived late, it may have arrived in a lane.
      guard let end = entry.end, end.lane == nil || end.lane === domain, end.mayReceiveMore else { continue }
      reader.read(end, entry.place, entry.tally)
    }
    return reader.finish()
  }
}

extension LiveSubscriber {
  /// True until the completion or the cancellation.
  fileprivate var mayReceiveMore: Bool { (self as? any LiveAnywhere)?.mayReceive ?? isLive }
}
