public import Synchronization

/// The ends of the streams that live on one loop, or on one thread without a loop. Used on that thread only.
@usableFromInline final class LoopMap {
  private struct Entry {
    weak var end: (any LiveSubscriber)?
    let place: SourcePlace?
    let tally: Tally?
  }

  /// The number of turns that the loop has begun; without a loop, the number of pieces of work that the thread has begun
  /// for a domain. Times of events are precise to a turn.
  // Atomic, because a stream made here may deliver on a queue.
  @usableFromInline let turn = Atomic(0)
  private let thread = currentThread()
  private weak var domain: (any StreamDomain)?
  /// The domain whose clock was read last, for streams without a loop, such as those in virtual time.
  private weak var clock: (any StreamDomain)?
  private var entries: [Entry] = []
  private var limit = 64

  init(_ domain: (any StreamDomain)?) { self.domain = domain }

  func turnBegins() { turn.store(turn.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }

  func add(_ end: any LiveSubscriber, _ place: SourcePlace?, _ tally: Tally?) {
    if entries.count >= limit {
      entries.removeAll { $0.end?.isLive != true }
      limit = max(64, entries.count * 2)
    }
    entries.append(Entry(end: end, place: place, tally: tally))
  }

  /// The current time, in nanoseconds; `nil` without a clock.
  func now() -> Int64? {
    if let domain { return domain.instant }
    guard thread == currentThread() else { return nil }
    if let current = CurrentDomain.get(), current !== clock, current.instant != nil {
      clock = current
      // A loop counts its turns for its own map.
      if current.subscriptions != nil { _ = LiveMap.here() }
    }
    return clock?.instant
  }

  /// The current streams.
  func read(atMost limit: Int) -> StreamMap {
    var reader = MapReader(domain?.label ?? "no loop", now: now(), limit: limit)
    for entry in entries {
      guard let end = entry.end, end.isLive else { continue }
      reader.read(end, entry.place, entry.tally)
    }
    return reader.finish()
  }
}
