/// The limits of a feed's history: the items that its document no longer lists.
///
/// Whichever limit is reached first applies. Starred items are kept beyond both limits, and don't count toward either.
public struct HistoryPolicy: Hashable, Sendable {
  /// The maximum number of items per feed; 0 to keep none.
  public var items: Int
  /// The maximum time since an item was last seen; `nil` for any age.
  public var age: Duration?

  /// 1,000 items and 365 days per feed.
  public init(items: Int = 1_000, age: Duration? = .seconds(365 * 86_400)) {
    precondition(items >= 0, "HistoryPolicy: items is \(items); use 0 or more")
    self.items = items
    self.age = age
  }

  /// Keeps only starred items.
  public static var none: HistoryPolicy { HistoryPolicy(items: 0) }
}
