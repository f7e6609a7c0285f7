import FeedStream
import ImageFeed

/// The results for a subscription to a ``FeedPoller``: they wait for demand, and a result that equals the feed's
/// previous one is omitted.
final class PolledResults {
  private var receive: ((FeedReport) -> Subscribers.Demand)?
  private var demand = Subscribers.Demand.none
  private var waiting: ArraySlice<FeedReport> = []
  /// The last result of each feed.
  private var marks: [Int: ShownMark] = [:]
  private var isDelivering = false

  init(_ receive: @escaping (FeedReport) -> Subscribers.Demand) { self.receive = receive }

  /// True until ``end()``.
  var isWanted: Bool { receive != nil }

  /// True when nothing is left to deliver.
  var isEmpty: Bool { waiting.isEmpty }

  /// True if more results are requested than are waiting or will be delivered by the `running` polls.
  func isWanted(besides running: Int) -> Bool { demand > .max(running + waiting.count) }

  func request(_ demand: Subscribers.Demand) { self.demand += demand }

  /// True if a result of the feed has been added.
  ///
  /// - Parameter index: the feed's index.
  func hasResult(of index: Int) -> Bool { marks[index] != nil }

  /// Stops delivering.
  func end() {
    receive = nil
    waiting = []
  }

  /// Adds a result, unless it equals the feed's previous one.
  ///
  /// - Parameter index: the feed's index.
  func add(_ result: FeedReport, of index: Int) {
    let previous = marks[index]
    let mark = ShownMark(result.result, after: previous)
    marks[index] = mark
    guard !mark.isSame(as: previous) else { return }
    waiting.append(result)
  }

  func deliver() {
    guard !isDelivering else { return }
    isDelivering = true
    while demand > .none, let receive, let result = waiting.popFirst() {
      demand -= .max(1)
      demand += receive(result)
    }
    isDelivering = false
  }
}
