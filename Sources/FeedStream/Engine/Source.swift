/// The subscription of a publisher that produces its values on request, in a loop.
///
/// It keeps the ledger of demand and guards the loop against re-entry: a request made while a value is being delivered
/// is added to the ledger and served by the loop that is running, so that pulling a million values one by one keeps the
/// stack flat. The loop itself is a closure formed where the subscriber's type is known.
@usableFromInline
final class Source: Subscription, CustomStringConvertible, CustomPlaygroundDisplayConvertible, CustomReflectable {
  @usableFromInline
  enum Progress {
    /// Out of demand; to be continued.
    case paused
    /// It has delivered its ending.
    case ended
  }

  @exclusivity(unchecked)
  @usableFromInline
  var demand = Subscribers.Demand.none
  @exclusivity(unchecked)
  @usableFromInline
  var isActive = true
  @exclusivity(unchecked)
  private var isRunning = false
  @exclusivity(unchecked)
  private var produce: ((Source) -> Void)?
  @exclusivity(unchecked)
  private var show: (() -> Any)?
  private let name: StaticString

  /// - Parameters:
  ///   - show: what the subscription shows of itself while active; its name afterwards.
  ///   - produce: delivers while `isActive` and `demand` allow, and calls `end()` before its ending.
  @usableFromInline
  init(_ name: StaticString, show: (() -> Any)? = nil, produce: @escaping (Source) -> Void) {
    self.name = name
    self.show = show
    self.produce = produce
  }

  /// No more values: lets everything go. To be called before the ending is delivered.
  @usableFromInline
  func end() {
    isActive = false
    show = nil
    if !isRunning { produce = nil }
  }

  @usableFromInline
  func request(_ demand: Subscribers.Demand) {
    demand.assertPositive(self)
    guard isActive else { return }
    self.demand += demand
    guard !isRunning, let produce else { return }
    isRunning = true
    produce(self)
    isRunning = false
    if !isActive { self.produce = nil }
  }

  @usableFromInline
  func cancel() { end() }

  @usableFromInline
  var description: String { show.map { String(describing: $0()) } ?? "\(name)" }
  @usableFromInline
  var playgroundDescription: Any { description }
  @usableFromInline
  var customMirror: Mirror { Mirror(self, children: ["sequence": show?() ?? [Any]()]) }
}
