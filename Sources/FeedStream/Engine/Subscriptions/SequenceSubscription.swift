/// The subscription of a publisher that produces its values on request, in a loop.
///
/// It counts the demand and guards the loop against re-entry. A request made while a value is being delivered is added
/// to the demand, and the running loop serves it. The stack therefore stays flat even if a million values are requested
/// one by one. The loop itself is a function that is created where its types are known.
@usableFromInline final class SequenceSubscription: GuardedSubscription {
  @exclusivity(unchecked) @usableFromInline var demand = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline var isActive = true
  /// The thread that is delivering values; 0 if there is none.
  @exclusivity(unchecked) private var runner: UInt = 0
  /// The ``SequenceSupply``; `nil` once the subscription is no longer active.
  @exclusivity(unchecked) private var supply: AnyObject?
  private let produce: (AnyObject, SequenceSubscription) -> Void
  private let show: (AnyObject) -> Any
  private let name: StaticString
  private let ending: Any?
  private let thread = currentThread()
  /// True if the stream lives on a loop or in a lane, or enters a gate: its requests may come from another thread.
  @exclusivity(unchecked) private var mayMove = CurrentDomain.get() != nil

  /// - Parameters:
  ///   - name: the subscription's description once it is no longer active.
  ///   - supply: the object that `produce` and `show` take.
  ///   - ending: the completion, for mirrors; `nil` if the publisher can only finish.
  ///   - produce: delivers as long as `isActive` and `demand` allow, and calls `end()` before the completion.
  ///   - show: returns the content of `supply`, for descriptions and mirrors.
  @usableFromInline init(
    _ name: StaticString, _ supply: AnyObject, ending: Any?,
    produce: @escaping (AnyObject, SequenceSubscription) -> Void, show: @escaping (AnyObject) -> Any
  ) {
    self.name = name
    self.supply = supply
    self.ending = ending
    self.produce = produce
    self.show = show
  }

  /// Releases everything, because no more values will be delivered. Call this before you deliver the completion.
  @usableFromInline func end() {
    isActive = false
    discard(supply.take())
  }

  override func requested(_ demand: Subscribers.Demand) {
    if thread != currentThread() { SubjectConfinement.checkRequest(of: "\(name)", mayMove: mayMove) }
    guard isActive, demand > .none else { return }
    self.demand += demand
    guard runner == 0, let supply else { return }
    runner = currentThread()
    produce(supply, self)
    runner = 0
  }

  override func joined(by gate: any EntryGate) { mayMove = true }

  override func cancelled() {
    // An operator above or below may be handling a value on that thread.
    if runner != 0, runner != currentThread() { SubjectConfinement.haltCancellation(of: "\(name)") }
    end()
  }

  override func tell(_ facts: inout StreamFacts) {
    // Don't use `description`, which lists the elements.
    facts.name = "\(name)"
    facts.below = (supply as? any Traceable)?.below
    facts.demand = demand
    facts.isOver = !isActive
  }

  // As in Combine, a sequence ignores a request for zero values.
  override var takesNone: Bool { true }

  private var shown: Any? { supply.map { show($0) } }

  override var description: String { shown.map { String(describing: $0) } ?? "\(name)" }
  override var customMirror: Mirror {
    let shown = self.shown ?? [Any]()
    return mirror(ending.map { ["sequence": shown, "completion": $0] } ?? ["sequence": shown])
  }
}

/// Holds the elements that a ``SequenceSubscription`` delivers, and their subscriber.
@usableFromInline final class SequenceSupply<Elements: Sequence, S: Subscriber> where Elements.Element == S.Input {
  @usableFromInline let elements: Elements
  @usableFromInline let subscriber: S
  @usableFromInline let completion: Subscribers.Completion<S.Failure>
  @exclusivity(unchecked) @usableFromInline var iterator: Elements.Iterator
  /// The next element, read in advance, so that the completion follows the last element without a further request.
  @exclusivity(unchecked) @usableFromInline var upcoming: Elements.Element

  /// Returns `nil` when there are no elements.
  @inlinable init?(_ elements: Elements, to subscriber: S, then completion: Subscribers.Completion<S.Failure>) {
    var iterator = elements.makeIterator()
    guard let upcoming = iterator.next() else { return nil }
    self.elements = elements
    self.subscriber = subscriber
    self.completion = completion
    self.iterator = iterator
    self.upcoming = upcoming
  }

  /// Delivers the requested values.
  @inlinable func produce(for source: SequenceSubscription) {
    var element = upcoming
    while source.isActive, source.demand > .none {
      if source.demand == .unlimited {
        // With unlimited demand, nothing is counted, and the loop may use up a copy of the iterator.
        var rest = iterator
        while let next = rest.next() {
          // The iterator may be user code that cancels the stream.
          guard source.isActive else { return }
          _ = subscriber.receive(element)
          guard source.isActive else { return }
          element = next
        }
        guard source.isActive else { return }
        _ = subscriber.receive(element)
        guard source.isActive else { return }
        source.end()
        return subscriber.receive(completion: completion)
      }
      let next = iterator.next()
      guard source.isActive else { return }
      source.demand.takeOne()
      source.demand += subscriber.receive(element)
      guard let next else {
        guard source.isActive else { return }
        source.end()
        return subscriber.receive(completion: completion)
      }
      element = next
    }
    upcoming = element
  }
}

extension SequenceSupply: Traceable {
  @usableFromInline var below: Any { subscriber }
}

extension Subscriber {
  /// Delivers a subscription that delivers `elements` on request and then `completion`.
  ///
  /// - Parameter showingEnding: true if mirrors show the completion in advance.
  @inlinable func attach<Elements: Sequence>(
    _ name: StaticString, delivering elements: Elements, then completion: Subscribers.Completion<Failure>,
    showingEnding: Bool = false
  ) where Elements.Element == Input {
    guard let supply = SequenceSupply(elements, to: self, then: completion) else { return attach(ending: completion) }
    receive(
      subscription: SequenceSubscription(
        name, supply, ending: showingEnding ? completion : nil,
        produce: { unsafeDowncast($0, to: SequenceSupply<Elements, Self>.self).produce(for: $1) },
        show: { unsafeDowncast($0, to: SequenceSupply<Elements, Self>.self).elements }))
  }
}
