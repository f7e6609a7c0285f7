/// A stage that acts on the values of another publisher: `sample`, and `collect` and `window` by trigger or by time.
@usableFromInline class TriggeredStage<Output, Failure: Error>: Stage<Output, Failure>, GatedStage {
  @usableFromInline final let gate = ThreadGate(following: .withoutHome)
  private let name: StaticString
  @exclusivity(unchecked) final private(set) var trigger: Trigger<Never>?

  @usableFromInline init(_ name: StaticString, _ down: ErasedSubscriber<Output, Failure>) {
    self.name = name
    super.init(down)
    joint = gate
  }

  // MARK: For subclasses

  @usableFromInline func triggered() {}
  @usableFromInline func triggerEnded() { stop(.finished) }
  /// True while the stage still needs the trigger.
  @usableFromInline var needsTrigger: Bool { phase != .ended }

  // MARK: The trigger

  /// Starts the trigger. Call this after subscribing to upstream, which may already have completed, or be delivering on
  /// another thread.
  @inlinable final func start<P: Publisher>(_ publisher: P) where P.Failure == Never {
    gate.run { [self] in newTrigger()?.start(publisher) }
  }

  @usableFromInline final func newTrigger() -> Trigger<Never>? {
    guard needsTrigger else { return nil }
    trigger = Trigger(
      name, gate, asking: .unlimited, fired: { [self] in triggered() }, ended: { [self] _ in triggerEnded() })
    return trigger
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
