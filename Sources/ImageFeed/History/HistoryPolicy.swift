/// How much of a feed's history is kept: the items that its document no longer has.
///
/// Whichever limit is reached first counts. Starred items are kept beyond both, and count for neither.
public struct HistoryPolicy: Hashable, Sendable {
  /// The most items of a feed; 0 for none.
  public var items: Int
  /// How long ago an item was seen last at most; `nil` for any age.
  public var age: Duration?

  /// 1,000 items and 365 days for each feed.
  public init(items: Int = 1_000, age: Duration? = .seconds(365 * 86_400)) {
    precondition(items >= 0, "HistoryPolicy: items is \(items), use 0 or more")
    self.items = items
    self.age = age
  }

  /// Keeps nothing but what is starred.
  public static var none: HistoryPolicy { HistoryPolicy(items: 0) }
}
