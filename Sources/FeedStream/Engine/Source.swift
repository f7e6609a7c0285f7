/// The subscription of a publisher that produces its values on request, in a loop.
///
/// It keeps the ledger of demand and guards the loop against re-entry: a request made while a value is being delivered
/// is added to the ledger and served by the loop that is running, so that pulling a million values one by one keeps the
/// stack flat. The loop itself is a closure formed where the subscriber's type is known.
@usableFromInline
final class Source: Subscription, CustomStringConvertible, CustomPlaygroundDisplayConvertible, CustomReflectable {
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
  private let ending: Any?

  /// - Parameters:
  ///   - name: what it is called when no longer active.
  ///   - show: what it shows of itself while active.
  ///   - ending: how it will end, for mirrors, when there is more than one way.
  ///   - produce: delivers while `isActive` and `demand` allow, and calls `end()` before its ending.
  @usableFromInline
  init(
    _ name: StaticString, show: (() -> Any)? = nil, ending: Any? = nil, produce: @escaping (Source) -> Void
  ) {
    self.name = name
    self.show = show
    self.ending = ending
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
    // As in Combine, where nothing is asked of a sequence nothing happens; other subscriptions trap.
    guard isActive, demand > .none else { return }
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
  var customMirror: Mirror {
    var children: [Mirror.Child] = [("sequence", show?() ?? [Any]())]
    if let ending { children.append(("completion", ending)) }
    return Mirror(self, children: children)
  }
}

extension Subscriber {
  /// Hands over a subscription that delivers `elements` as asked and then `completion`.
  ///
  /// - Parameter showingEnding: whether mirrors tell how it will end.
  @inlinable
  func attach<Elements: Sequence>(
    _ name: StaticString, delivering elements: Elements, then completion: Subscribers.Completion<Failure>,
    showingEnding: Bool = false
  ) where Elements.Element == Input {
    var iterator = elements.makeIterator()
    // One ahead, so that the ending comes with the last element and not with a request after it.
    guard var upcoming = iterator.next() else { return attach(ending: completion) }
    let produce = { (source: Source) in
      var element = upcoming
      while source.isActive, source.demand > .none {
        if source.demand == .unlimited {
          // For good, so that nothing is counted; and nobody comes back to the iterator, which need not be kept.
          var rest = iterator
          while let next = rest.next() {
            // The sequence may be somebody's code, and cancel.
            guard source.isActive else { return }
            _ = self.receive(element)
            guard source.isActive else { return }
            element = next
          }
          guard source.isActive else { return }
          _ = self.receive(element)
          guard source.isActive else { return }
          source.end()
          return self.receive(completion: completion)
        }
        let next = iterator.next()
        guard source.isActive else { return }
        source.demand.rawValue &-= 1
        source.demand += self.receive(element)
        guard let next else {
          guard source.isActive else { return }
          source.end()
          self.receive(completion: completion)
          return
        }
        element = next
      }
      upcoming = element
    }
    let ending = showingEnding ? completion : nil
    receive(subscription: Source(name, show: { elements }, ending: ending, produce: produce))
  }
}
