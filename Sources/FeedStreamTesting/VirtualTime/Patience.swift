import FeedStream

/// Detects endless work and its origin.
struct Patience {
  enum Answer { case no, nearly, yes }

  /// The number of pieces of work past the limit whose origins are recorded.
  private static let watched = 16

  private let limit: Int
  private var count = 0
  private var instant: StreamInstant?
  private var makers: [WorkOrigin: Int] = [:]

  init(limit: Int) { self.limit = limit }

  /// - Parameter instant: the instant whose work is counted; `nil` to count all work.
  mutating func isOver(after item: Agenda.Item, at instant: StreamInstant?) -> Answer {
    if instant != self.instant {
      self.instant = instant
      count = 0
      if !makers.isEmpty { makers = [:] }
    }
    count += 1
    guard count >= limit else { return .no }
    // Skip the first pieces past the limit, which were scheduled before origins were traced.
    if count >= limit + Patience.watched { makers[item.origin, default: 0] += 1 }
    return count >= limit + 2 * Patience.watched ? .yes : .nearly
  }

  /// The finding as text.
  var finding: String {
    let names = makers.sorted { $0.value > $1.value }.prefix(3).map { "  \($0.key)" }.joined(separator: "\n")
    let place = instant.map { "at \($0.nanoseconds.asTime)" } ?? "in one run()"
    return """
      \(limit) pieces of work ran \(place), and more are pending: something keeps rescheduling itself. The last came from
      \(names)
      """
  }
}
