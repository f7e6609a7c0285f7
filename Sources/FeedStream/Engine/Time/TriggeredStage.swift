/// A publisher that only measures time. As a trigger, it lives where its stage lives, so that a stage that falls behind
/// skips ticks.
@usableFromInline protocol Metronome {}

@usableFromInline typealias TriggerInlet<Input> = Inlet<TriggerPort<Input, Never>>

extension Publisher {
  /// Subscribes `stage` to this publisher and to `trigger`.
  @inlinable func receive<O, S: TriggeredStage<O, Failure> & Subscriber, Trigger: Publisher>(
    gated stage: S, triggeredBy trigger: Trigger
  ) where S.Input == Output, S.Failure == Failure, Trigger.Failure == Never {
    let inlet = stage.newInlet(for: Trigger.Output.self)
    // Upstream's values wait until values have been requested from the trigger.
    stage.gate.begin { isInside in
      receive(gated: stage)
      if !isInside || stage.keepsTrigger() { stage.start(trigger, inlet) }
    }
  }
}

/// A stage that acts on the values of another publisher: `sample`, and `collect` and `window` by trigger or by time.
@usableFromInline class TriggeredStage<Output, Failure: Error>: Stage<Output, Failure>, GatedStage {
  @usableFromInline final let gate = ThreadGate(following: .withoutHome)
  private let name: StaticString
  @exclusivity(unchecked) final private(set) var trigger: Trigger<Never>?
  /// True if the trigger completed before upstream's subscription arrived.
  @exclusivity(unchecked) private var hasEndedEarly = false

  @usableFromInline init(_ name: StaticString, _ down: ErasedSubscriber<Output, Failure>) {
    self.name = name
    super.init(down)
    joint = gate
  }

  @usableFromInline override func began() {
    super.began()
    if hasEndedEarly { triggerEnded() }
  }

  // MARK: For subclasses

  @usableFromInline func triggered() {}
  @usableFromInline func triggerEnded() { stop(.finished) }
  /// True while the stage still needs the trigger.
  @usableFromInline var needsTrigger: Bool { phase != .ended }

  // MARK: The trigger

  /// The inlet for the trigger's values. Create it before subscribing to upstream, which may then deliver on another
  /// thread.
  @usableFromInline final func newInlet<T>(for _: T.Type) -> TriggerInlet<T> {
    let trigger = Trigger<Never>(
      name, gate, asking: .unlimited, fired: { [self] in triggered() },
      ended: { [self] _ in if phase == .waiting { hasEndedEarly = true } else { triggerEnded() } })
    self.trigger = trigger
    return trigger.inlet(for: T.self)
  }

  /// Subscribes to the trigger, on the calling thread, where its publisher lives.
  @inlinable final func start<P: Publisher>(_ publisher: P, _ inlet: TriggerInlet<P.Output>) where P.Failure == Never {
    guard publisher is any Metronome else { return publisher.receive(subscriber: inlet) }
    gate.run { [self] in if keepsTrigger() { publisher.receive(subscriber: inlet) } }
  }

  /// Returns true if the stage still needs the trigger; otherwise, releases the trigger.
  @usableFromInline final func keepsTrigger() -> Bool {
    if !needsTrigger { trigger.take()?.letGo() }
    return needsTrigger
  }

  override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    facts.upstreams += trigger?.visible ?? []
  }

  override func cancelled() {
    super.cancelled()
    trigger?.cancel()
  }

  override var description: String { "\(name)" }
}
