/// The ends of the streams that live on one loop, or on one thread without a loop. Used on that thread only.
@usableFromInline final class LoopMap {
  private struct Entry {
    weak var end: (any LiveSubscriber)?
    let place: SourcePlace?
    let tally: Tally?
  }

  /// The number of turns that the loop has begun. Times of events are precise to a turn.
  @exclusivity(unchecked) @usableFromInline var turn = 0
  private weak var domain: (any StreamDomain)?
  /// The domain whose clock was read last, for streams without a loop, such as those in virtual time.
  private weak var clock: (any StreamDomain)?
  private var entries: [Entry] = []
  private var limit = 64

  init(_ domain: (any StreamDomain)?) { self.domain = domain }

  func add(_ end: any LiveSubscriber, _ place: SourcePlace?, _ tally: Tally?) {
    if entries.count >= limit {
      entries.removeAll { $0.end?.isLive != true }
      limit = max(64, entries.count * 2)
    }
    entries.append(Entry(end: end, place: place, tally: tally))
  }

  /// The turn for which a reading of the clock is valid; -1 without a loop, because the time is then read for every
  /// event.
  var countedTurn: Int { domain == nil ? -1 : turn }

  /// The current time, in nanoseconds; `nil` without a clock.
  func now() -> Int64? {
    if let domain { return domain.instant }
    if let domain = CurrentDomain.get(), domain.instant != nil { clock = domain }
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
