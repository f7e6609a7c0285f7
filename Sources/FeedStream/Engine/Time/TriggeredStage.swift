/// A stage that acts when another publisher says so: `sample`, `collect` and `window` by trigger or by time.
@usableFromInline class TriggeredStage<Output, Failure: Error>: Stage<Output, Failure> {
  private let name: StaticString
  @exclusivity(unchecked) final private(set) var trigger: Trigger<Never>?

  @usableFromInline init(_ name: StaticString, _ down: ErasedSubscriber<Output, Failure>) {
    self.name = name
    super.init(down)
  }

  // MARK: What a subclass says

  @usableFromInline func triggered() {}
  @usableFromInline func triggerEnded() { stop(.finished) }
  /// Whether there is still something to trigger.
  @usableFromInline var needsTrigger: Bool { phase != .ended }

  // MARK: The trigger

  /// To be called when upstream has been subscribed, which may have ended by now.
  @inlinable final func start<P: Publisher>(_ publisher: P) where P.Failure == Never { newTrigger()?.start(publisher) }

  @usableFromInline final func newTrigger() -> Trigger<Never>? {
    guard needsTrigger else { return nil }
    trigger = Trigger(
      name, asking: .unlimited, fired: { [self] in triggered() }, ended: { [self] _ in triggerEnded() })
    return trigger
  }

  override func cancelled() {
    super.cancelled()
    trigger?.cancel()
  }

  override var description: String { "\(name)" }
}
