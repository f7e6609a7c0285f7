import FeedStream

/// The values and the completion that upstream sent to an operator in one run of ``StreamRules``.
public struct Given: Sendable {
  /// The way in which a stream completes.
  public enum Ending: Sendable {
    case finished, fails
    /// Finished or failed, whichever comes first.
    case either
  }

  /// The values that upstream delivers if everything is requested from the start: 0, 1, 2 …
  public let offered: [Int]
  /// The values of each subscription; `nil` if they don't depend on its demand.
  let runs: [[Int]]?
  /// True if upstream fails after its values; false if it finishes.
  public let fails: Bool
  /// True if value n arrives n + 1 milliseconds after the start, and the completion a millisecond after the last value
  /// (immediately if there is no value); false if everything arrives at the same instant.
  public let isTimed: Bool

  /// The values of the first subscription: all values, except from a subject, which drops values that were not
  /// requested.
  public var values: [Int] { values(of: 0) }

  /// The values of one subscription, like ``values``.
  ///
  /// - Parameter run: 0 for the first subscription.
  public func values(of run: Int) -> [Int] {
    guard let runs else { return offered }
    return run < runs.count ? runs[run] : []
  }
}

/// States the values that an operator must deliver, without using the operator itself.
///
///     StreamRules.verify("merge", expects: { .interleaved([$0.values, [7, 8, 9]]) }) { $0.merge(with: other($1)) }
///
/// With unlimited demand, exactly these values are expected. With less demand, only the first of these values are
/// expected (the first of each lane, if values are interleaved), unless the stream finishes or everything was
/// requested. An operator's traits state which values it may leave out, and when.
public struct Due<Output> {
  let lanes: [[Output]]
  /// The completion; `nil` means upstream's completion.
  let ending: Given.Ending?
  /// True if a failure may come before some of the values.
  let mayBeCutShort: Bool

  /// These values, in this order.
  ///
  /// - Parameter ending: how the stream completes; `nil` means in the same way as upstream.
  public static func values(_ values: some Sequence<Output>, then ending: Given.Ending? = nil) -> Due {
    Due(lanes: [Array(values)], ending: ending, mayBeCutShort: false)
  }

  /// The values of each lane in order, with the lanes interleaved in any way; a failure may come before the rest of any
  /// lane.
  ///
  /// - Parameter ending: how the stream completes; `nil` means in the same way as upstream.
  public static func interleaved(_ lanes: [[Output]], then ending: Given.Ending? = nil) -> Due {
    Due(lanes: lanes, ending: ending, mayBeCutShort: true)
  }

  /// Nothing but the completion.
  public static func nothing(then ending: Given.Ending? = nil) -> Due { .values([], then: ending) }

  var count: Int { lanes.reduce(0) { $0 + $1.count } }

  /// The number of leading `values` that can come from the lanes, if each lane is taken in order.
  ///
  /// - Parameter skipping: true if a lane may leave values out.
  func accounted(for values: [Output], skipping: Bool) -> Int {
    if let lane = lanes.first, lanes.count == 1, !skipping {
      return zip(lane, values).prefix { isSame($0, $1) }.count
    }
    // Lanes may contain equal values, so keep track of every way in which the values so far can come from the lanes.
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
