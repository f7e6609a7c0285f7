import FeedStream

/// What upstream gave to an operator in one run of ``StreamRules``.
public struct Given: Sendable {
  /// How a stream ends.
  public enum Ending: Sendable {
    case finished, fails
    /// Finished or failed, whichever comes first.
    case either
  }

  /// What upstream gives to whoever asks for everything from the start: 0, 1, 2 …
  public let offered: [Int]
  /// What each subscription was given, where that depends on what it asked for.
  let runs: [[Int]]?
  /// Whether upstream fails after its values, or finishes.
  public let fails: Bool
  /// Whether value n arrives n + 1 milliseconds after the start and the ending a millisecond after the last value (at once
  /// when there is none); otherwise everything arrives in one instant.
  public let isTimed: Bool

  /// What the first subscription was given: everything, but for a subject, which drops what was not asked for.
  public var values: [Int] { values(of: 0) }

  /// What a subscription was given, as ``values``.
  ///
  /// - Parameter run: 0 for the first subscription.
  public func values(of run: Int) -> [Int] {
    guard let runs else { return offered }
    return run < runs.count ? runs[run] : []
  }
}

/// What an operator must deliver of what it was given: a statement that is not the operator itself.
///
///     StreamRules.verify("merge", expects: { .interleaved([$0.values, [7, 8, 9]]) }) { $0.merge(with: other($1)) }
///
/// It holds under unlimited demand to the letter. Under less, what is delivered is the beginning of it (of each lane, when
/// values are interleaved), and all of it when an ordinary ending is delivered or everything was asked for; what an operator
/// with a trait for it may leave out, and when, its trait says.
public struct Due<Output> {
  let lanes: [[Output]]
  /// `nil` for upstream's.
  let ending: Given.Ending?
  /// Whether a failure may come before values that stand here.
  let mayBeCutShort: Bool

  /// These values, in this order.
  ///
  /// - Parameter ending: `nil` for upstream's.
  public static func values(_ values: some Sequence<Output>, then ending: Given.Ending? = nil) -> Due {
    Due(lanes: [Array(values)], ending: ending, mayBeCutShort: false)
  }

  /// The values of each lane in their order, the lanes mixed somehow; a failure may come before the rest of any.
  ///
  /// - Parameter ending: `nil` for upstream's.
  public static func interleaved(_ lanes: [[Output]], then ending: Given.Ending? = nil) -> Due {
    Due(lanes: lanes, ending: ending, mayBeCutShort: true)
  }

  /// Nothing but the ending.
  public static func nothing(then ending: Given.Ending? = nil) -> Due { .values([], then: ending) }

  var count: Int { lanes.reduce(0) { $0 + $1.count } }

  /// How many of `values` can be accounted for, each lane being taken in order.
  ///
  /// - Parameter skipping: whether a lane may leave values out.
  func accounted(for values: [Output], skipping: Bool) -> Int {
    if let lane = lanes.first, lanes.count == 1, !skipping {
      return zip(lane, values).prefix { isSame($0, $1) }.count
    }
    // Lanes may hold equal values: every way of taking the values so far is followed.
    var ways: Set<[Int]> = [lanes.map { _ in 0 }]
    for (index, value) in values.enumerated() {
      var next: Set<[Int]> = []
      for way in ways {
        for (lane, position) in way.enumerated() {
          let last = skipping ? lanes[lane].count : Swift.min(position + 1, lanes[lane].count)
          guard let found = (position..<Swift.max(position, last)).first(where: { isSame(lanes[lane][$0], value) })
          else {
            continue
          }
          var taken = way
          taken[lane] = found + 1
          next.insert(taken)
        }
      }
      if next.isEmpty { return index }
      ways = next
    }
    return values.count
  }

  var inWords: String { lanes.map { "\($0)" }.joined(separator: " mixed with ") }
}
