/// A stage's subscription to a publisher whose values only determine when the stage acts: `sample(on:)`, `window(on:)`,
/// `retry(when:)`.
@usableFromInline final class Trigger<Failure: Error>: GatedStage {
  private let name: StaticString
  /// The stage's gate.
  @usableFromInline let gate: ThreadGate
  /// The identifier that the publisher sees: the stage's, or `nil` for the inlet's own.
  fileprivate let identifier: CombineIdentifier?
  /// The demand to request as soon as the publisher has accepted the subscription.
  @exclusivity(unchecked) fileprivate var demand: Subscribers.Demand
  @exclusivity(unchecked) private var fired: (() -> Void)?
  @exclusivity(unchecked) private var ended: ((Subscribers.Completion<Failure>) -> Void)?
  @exclusivity(unchecked) private var inlet: AnyInlet?

  /// - Parameters:
  ///   - demand: the demand to request immediately.
  ///   - fired: runs for every value.
  ///   - ended: runs at the completion.
  @usableFromInline init(
    _ name: StaticString, _ gate: ThreadGate, _ identifier: CombineIdentifier? = nil, asking demand: Subscribers.Demand,
    fired: @escaping () -> Void, ended: @escaping (Subscribers.Completion<Failure>) -> Void
  ) {
    self.name = name
    self.gate = gate
    self.identifier = identifier
    self.demand = demand
    self.fired = fired
    self.ended = ended
  }

  /// Subscribes to `publisher`.
  @inlinable func start<P: Publisher>(_ publisher: P) where P.Failure == Failure {
    publisher.receive(subscriber: inlet(for: P.Output.self))
  }

  @usableFromInline func inlet<T>(for _: T.Type) -> Inlet<TriggerPort<T, Failure>> {
    let inlet = Inlet<TriggerPort<T, Failure>>(self)
    self.inlet = inlet
    if fired == nil { inlet.close() }
    return inlet
  }

  @usableFromInline func request(_ demand: Subscribers.Demand) {
    if let inlet, inlet.isLive { inlet.request(demand) } else { self.demand += demand }
  }

  @usableFromInline func cancel() {
    let inlet = self.inlet
    letGo()
    inlet?.cancel()
  }

  /// Ignores the publisher from now on, without cancelling it.
  @usableFromInline func letGo() {
    fired = nil
    ended = nil
    inlet = nil
  }

  /// Ignores the publisher, which is no longer needed; the subscription is cancelled with the stream.
  @usableFromInline func rest() { inlet?.reset() }

  /// The subscription to the publisher, for the map.
  var visible: [Any] { inlet?.visible ?? [] }

  fileprivate func fire() { fired?() }

  fileprivate func end(_ completion: Subscribers.Completion<Failure>) {
    let ended = self.ended
    letGo()
    ended?(completion)
  }

  @usableFromInline var description: String { "\(name)" }
}

@usableFromInline enum TriggerPort<Input, Failure: Error>: Port {
  @usableFromInline typealias Owner = Trigger<Failure>

  @usableFromInline static func began(_ inlet: Inlet<Self>) {
    if inlet.owner.demand > .none { inlet.request(inlet.owner.demand) }
  }
  @usableFromInline static func identifier(of inlet: Inlet<Self>) -> CombineIdentifier {
    inlet.owner.identifier ?? CombineIdentifier(inlet)
  }
  @usableFromInline static func receive(_ input: Input, _ inlet: Inlet<Self>) -> Subscribers.Demand {
    inlet.owner.fire()
    return .none
  }
  @usableFromInline static func ended(_ completion: Subscribers.Completion<Failure>, _ inlet: Inlet<Self>) {
    inlet.owner.end(completion)
  }
}
