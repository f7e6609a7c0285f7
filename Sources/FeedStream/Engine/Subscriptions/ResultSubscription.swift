/// The subscription of a publisher with one result: a value, which is delivered with the completion once it is
/// requested, or a failure, which is delivered immediately.
///
/// The result may exist from the start (`Just`) or arrive later (`Future`, work off the loop).
@usableFromInline package class ResultSubscription<Output, Failure: Error>: GuardedSubscription {
  @usableFromInline let name: StaticString
  @exclusivity(unchecked) @usableFromInline final var down: ErasedSubscriber<Output, Failure>?
  @exclusivity(unchecked) @usableFromInline final var result: Result<Output, Failure>?
  /// The work that produces the result.
  @exclusivity(unchecked) @usableFromInline final var work: (any Cancellable)?
  @exclusivity(unchecked) @usableFromInline final var isAsked = false
  /// True once the subscriber has its subscription.
  @exclusivity(unchecked) @usableFromInline final var isOpen = false
  /// Calls `deliver()`. Created where the types are known: a request arrives through the class's vtable, where nothing
  /// is specialized.
  @usableFromInline let serve: (ResultSubscription) -> Void

  @inlinable convenience init(
    _ name: StaticString, _ down: ErasedSubscriber<Output, Failure>, _ result: Result<Output, Failure>? = nil
  ) {
    self.init(name, down, result) { $0.deliver() }
  }

  @inlinable package convenience init<S: Subscriber>(_ name: StaticString, _ subscriber: S)
  where S.Input == Output, S.Failure == Failure {
    self.init(name, ErasedSubscriber(subscriber), nil) { $0.deliver() }
  }

  @inlinable init(
    _ name: StaticString, _ down: ErasedSubscriber<Output, Failure>, _ result: Result<Output, Failure>?,
    serve: @escaping (ResultSubscription) -> Void
  ) {
    self.name = name
    self.down = down
    self.result = result
    self.serve = serve
  }

  /// Delivers this subscription to the subscriber, and then the result, if there is one and it may be delivered.
  ///
  /// - Parameter work: the work that produces the result; cancelled with the subscription.
  @inlinable package final func begin(_ work: (any Cancellable)? = nil) {
    if result == nil { self.work = work }
    isOpen = true
    down?.receive(subscription: self)
    serve(self)
  }

  /// Stores the result and delivers it when possible.
  @inlinable package final func settle(_ result: Result<Output, Failure>) {
    discard(work.take())
    guard down != nil else { return }
    discard(exchange(&self.result, with: result))
    if isOpen { serve(self) }
  }

  /// Delivers the result, if there is one and it may be delivered.
  @inlinable final func deliver() {
    guard let down, let result else { return }
    switch result {
    case .success(let output):
      guard isAsked else { return }
      self.result = nil
      _ = down.receive(output)
      // The subscriber may have cancelled when it received the value.
      guard self.down != nil else { return }
      self.down = nil
      down.receive(completion: .finished)
    case .failure(let error):
      self.down = nil
      self.result = nil
      down.receive(completion: .failure(error))
    }
  }

  override func requested(_ demand: Subscribers.Demand) {
    isAsked = true
    serve(self)
  }

  override func cancelled() {
    // Release the objects after the change, because their release may call back.
    let old = (down.take(), result.take())
    work.take()?.cancel()
    discard(old)
  }

  override func tell(_ facts: inout StreamFacts) {
    facts.delivers(to: down)
    facts.demand = isAsked ? .max(1) : Subscribers.Demand.none
    if case .success = result { facts.held = 1 }
    facts.isOver = down == nil
  }

  override package var description: String { "\(name)" }
  override package var customMirror: Mirror {
    Mirror(
      self, unlabeledChildren: (try? result?.get()).map { [$0] } ?? [], ancestorRepresentation: .suppressed)
  }
}

extension ResultSubscription: Traceable {
  @usableFromInline var below: Any { down?.subscriber ?? () }
}

extension Subscriber {
  /// Delivers the subscription of a publisher named `name` that delivers `value` and finishes.
  @inlinable func attach(_ name: StaticString, delivering value: Input) {
    receive(subscription: ResultSubscription(name, erased, .success(value)))
  }
}
