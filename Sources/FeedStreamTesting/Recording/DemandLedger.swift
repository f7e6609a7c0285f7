import FeedStream

/// A ledger of demand: the amount that was requested, and the amount that was used.
public struct DemandLedger: CustomStringConvertible {
  /// An entry in the ledger.
  public enum Entry: Equatable, Sendable {
    /// The subscriber called `request`.
    case requested(Subscribers.Demand)
    /// The subscriber returned demand after a value.
    case answered(Subscribers.Demand)
    /// A value arrived.
    case used
    /// A value arrived that had not been requested.
    case overdrawn
  }

  public private(set) var entries: [Timed<Entry>] = []
  /// The total demand so far.
  public private(set) var asked = Subscribers.Demand.none
  /// The number of values that arrived.
  public private(set) var used = 0

  /// The demand that has not been used yet.
  public var balance: Subscribers.Demand { asked == .unlimited ? .unlimited : asked - used }

  mutating func ask(_ demand: Subscribers.Demand, at time: StreamInstant) {
    asked += demand
    entries.append(Timed(.requested(demand), at: time))
  }

  mutating func answer(_ demand: Subscribers.Demand, at time: StreamInstant) {
    asked += demand
    entries.append(Timed(.answered(demand), at: time))
  }

  /// - Returns: true if the value had been requested.
  mutating func use(at time: StreamInstant) -> Bool {
    used += 1
    let isCovered = asked == .unlimited || asked >= used
    entries.append(Timed(isCovered ? .used : .overdrawn, at: time))
    return isCovered
  }

  public var description: String { "requested \(asked.inWords), received \(used)" }
}

extension Subscribers.Demand {
  /// The demand as text: `3` or `unlimited`.
  var inWords: String { max.map(String.init) ?? "unlimited" }
}
