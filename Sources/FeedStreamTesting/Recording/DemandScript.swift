import FeedStream

/// The requests of a ``Recorder``: on subscription, after each value, and later.
public struct DemandScript: Sendable, CustomStringConvertible {
  /// The request on subscription; `.none` requests nothing.
  public var initial: Subscribers.Demand
  /// The demand to return after the first value, the second value, and so on. The last one is repeated for all further
  /// values.
  public var answers: [Subscribers.Demand]
  /// The later requests; times are relative to the subscription.
  public var later: [Later]
  private let name: String?

  /// A later request.
  public struct Later: Sendable {
    public var after: StreamInstant.Stride
    public var demand: Subscribers.Demand

    public init(after: StreamInstant.Stride, _ demand: Subscribers.Demand) {
      self.after = after
      self.demand = demand
    }
  }

  public init(
    initial: Subscribers.Demand = .none, answers: [Subscribers.Demand] = [], later: [Later] = []
  ) {
    self.init(nil, initial: initial, answers: answers, later: later)
  }

  init(
    _ name: String?, initial: Subscribers.Demand, answers: [Subscribers.Demand] = [], later: [Later] = []
  ) {
    self.name = name
    self.initial = initial
    self.answers = answers
    self.later = later
  }

  /// Requests everything immediately.
  public static let unlimited = DemandScript("unlimited", initial: .unlimited)
  /// Requests nothing until the test calls ``Recorder/request(_:)``.
  public static let none = DemandScript("nothing", initial: .none)
  /// Requests one value, and one more after each value.
  public static let oneByOne = DemandScript("one at a time", initial: .max(1), answers: [.max(1)])

  /// Requests `count` values; for more, the test calls ``Recorder/request(_:)``.
  public static func max(_ count: Int) -> DemandScript { DemandScript("\(count)", initial: .max(count)) }

  /// - Parameter index: 0 for the first value.
  func answer(toValue index: Int) -> Subscribers.Demand {
    index < answers.count ? answers[index] : answers.last ?? .none
  }

  public var description: String {
    if let name { return name }
    let later = self.later.map { ", \($0.demand.inWords) after \($0.after.nanoseconds.asTime)" }.joined()
    return "\(initial.inWords)\(answers.map { ", then \($0.inWords)" }.joined())\(later)"
  }
}
