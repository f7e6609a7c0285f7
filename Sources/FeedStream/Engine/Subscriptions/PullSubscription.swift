/// Supplies the values of a ``PullSubscription``.
@usableFromInline package protocol PullSource<Value, Failure>: AnyObject {
  associatedtype Value
  associatedtype Failure: Error

  /// Called when more values are requested than the subscription holds. The source calls `deliver` or `hold`, now or
  /// later, or completes the subscription.
  ///
  /// Called for each request that no held value can serve, even while the source is still working on an earlier one.
  ///
  /// - Returns: true to be called again immediately if more values are requested than this call has supplied.
  func wanted(by subscription: PullSubscription<Value, Failure>) -> Bool

  /// Called when the subscriber has cancelled.
  func cancelled(_ subscription: PullSubscription<Value, Failure>)
}

/// The subscription of a source outside the engine: it counts the demand, holds values that were produced before they
/// were requested, and guards delivery against re-entry.
///
/// A request made while a value is being delivered is added to the demand and served by the running loop, so the stack
/// stays flat. The subscription retains the source until it completes or is cancelled.
// Final, because a class that is not public cannot be subclassed in another module.
@usableFromInline package final class PullSubscription<Output, Failure: Error>: GuardedSubscription {
  private let name: StaticString
  @exclusivity(unchecked) @usableFromInline var down: ErasedSubscriber<Output, Failure>?
  @exclusivity(unchecked) @usableFromInline var source: (any PullSource<Output, Failure>)?
  /// The demand that has not been served.
  @exclusivity(unchecked) @usableFromInline package internal(set) var demand = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline var held = FIFO<Output>()
  /// The completion, which follows the held values.
  @exclusivity(unchecked) @usableFromInline var ending: Subscribers.Completion<Failure>?
  @exclusivity(unchecked) @usableFromInline var isDelivering = false
  @exclusivity(unchecked) @usableFromInline var isAsking = false
  /// Calls `serve()`. Created where the types are known: a request arrives through the class's vtable, where nothing is
  /// specialized.
  private let run: (PullSubscription) -> Void

  /// - Parameter name: the publisher's name in messages.
  @inlinable package convenience init<S: Subscriber>(
    _ name: StaticString, _ subscriber: S, _ source: any PullSource<Output, Failure>
  ) where S.Input == Output, S.Failure == Failure {
    self.init(name, ErasedSubscriber(subscriber), source) { $0.serve() }
  }

  @usableFromInline init(
    _ name: StaticString, _ down: ErasedSubscriber<Output, Failure>, _ source: any PullSource<Output, Failure>,
    run: @escaping (PullSubscription) -> Void
  ) {
    self.name = name
    self.down = down
    self.source = source
    self.run = run
  }

  /// Delivers this subscription to the subscriber.
  @usableFromInline package func begin() { down?.receive(subscription: self) }

  /// True when ``deliver(_:)`` would deliver a value immediately instead of holding it.
  @inlinable package var takesNow: Bool { demand > .none && held.isEmpty && !isDelivering }

  /// True until the subscription has completed or was cancelled.
  @inlinable package var isLive: Bool { down != nil }

  // MARK: The source's side

  /// Holds a value, which ``serve()`` delivers.
  @inlinable package func hold(_ value: Output) {
    if down != nil { held.append(value) }
  }

  /// Delivers a value if there is demand; otherwise, holds it.
  @inlinable package func deliver(_ value: Output) {
    guard let down else { return }
    guard takesNow else { return held.append(value) }
    hand(value, to: down)
    if !held.isEmpty || ending != nil { serve() }
  }

  /// Completes after the held values.
  ///
  /// - Parameter dropsHeld: true to drop the held values and complete immediately.
  @inlinable package func end(_ completion: Subscribers.Completion<Failure>, dropsHeld: Bool = false) {
    guard down != nil, ending == nil else { return }
    if dropsHeld { held.removeAll() }
    ending = completion
    serve()
  }

  /// Delivers held values on demand, and then requests more from the source.
  @inlinable package func serve() {
    guard !isDelivering else { return }
    while let down {
      if demand > .none, let value = held.popFirst() {
        hand(value, to: down)
      } else if held.isEmpty, let ending {
        self.down = nil
        discard(source.take())
        return down.receive(completion: ending)
      } else {
        guard demand > .none, !isAsking, let source else { return }
        isAsking = true
        let mayGoOn = source.wanted(by: self)
        isAsking = false
        guard mayGoOn || !held.isEmpty || ending != nil else { return }
      }
    }
  }

  @inlinable func hand(_ value: Output, to down: ErasedSubscriber<Output, Failure>) {
    isDelivering = true
    demand.takeOne()
    demand += down.receive(value)
    isDelivering = false
  }

  // MARK: The subscriber's side

  override func requested(_ demand: Subscribers.Demand) {
    guard down != nil else { return }
    self.demand += demand
    run(self)
  }

  override func cancelled() {
    // Release the objects after the change, because their release may call back.
    let old = (down.take(), held.take(), source.take())
    ending = nil
    old.2?.cancelled(self)
    discard(old)
  }

  override func tell(_ facts: inout StreamFacts) {
    facts.delivers(to: down)
    facts.demand = demand
    facts.held = held.count
    facts.isOver = down == nil
  }

  override package var description: String { "\(name)" }
}

extension PullSubscription: Traceable {
  @usableFromInline var below: Any { down?.subscriber ?? () }
}
