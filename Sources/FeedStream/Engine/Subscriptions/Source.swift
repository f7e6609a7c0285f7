/// The subscription of a publisher that produces its values on request, in a loop.
///
/// It keeps the ledger of demand and guards the loop against re-entry: a request made while a value is being delivered
/// is added to the ledger and served by the loop that is running, so that pulling a million values one by one keeps the
/// stack flat. The loop itself is a function formed where the types of what it works on are known.
@usableFromInline
final class Source: Subscription, CustomStringConvertible, CustomPlaygroundDisplayConvertible, CustomReflectable {
  @exclusivity(unchecked) @usableFromInline var demand = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline var isActive = true
  @exclusivity(unchecked) private var isRunning = false
  @exclusivity(unchecked) private var supply: AnyObject?
  private let produce: (AnyObject, Source) -> Void
  private let show: (AnyObject) -> Any
  private let name: StaticString
  private let ending: Any?

  /// - Parameters:
  ///   - name: what it is called when no longer active.
  ///   - supply: what `produce` and `show` work on; kept while active.
  ///   - ending: how it will end, for mirrors, when there is more than one way.
  ///   - produce: delivers while `isActive` and `demand` allow, and calls `end()` before its ending.
  ///   - show: what it shows of itself while active.
  @usableFromInline init(
    _ name: StaticString, _ supply: AnyObject, ending: Any?, produce: @escaping (AnyObject, Source) -> Void,
    show: @escaping (AnyObject) -> Any
  ) {
    self.name = name
    self.supply = supply
    self.ending = ending
    self.produce = produce
    self.show = show
  }

  /// No more values: lets everything go. To be called before the ending is delivered.
  @usableFromInline func end() {
    isActive = false
    supply = nil
  }

  @usableFromInline func request(_ demand: Subscribers.Demand) {
    // As in Combine, where nothing is asked of a sequence nothing happens; other subscriptions trap.
    guard isActive, demand > .none else { return }
    self.demand += demand
    guard !isRunning, let supply else { return }
    isRunning = true
    produce(supply, self)
    isRunning = false
  }

  @usableFromInline func cancel() { end() }

  private var shown: Any? { supply.map { show($0) } }

  @usableFromInline var description: String { shown.map { String(describing: $0) } ?? "\(name)" }
  @usableFromInline var playgroundDescription: Any { description }
  @usableFromInline var customMirror: Mirror {
    var children: [Mirror.Child] = [("sequence", shown ?? [Any]())]
    if let ending { children.append(("completion", ending)) }
    return Mirror(self, children: children)
  }
}
