/// The subscription of a source that sends without requests, into a buffer below it. Handles only the cancellation.
@usableFromInline package final class CancellationSubscription: GuardedSubscription {
  private var onCancel: (() -> Void)?

  @usableFromInline package init(_ onCancel: @escaping () -> Void) { self.onCancel = onCancel }

  override func cancelled() { onCancel.take()?() }
  override var takesNone: Bool { true }
  // The map shows the buffer below as the source.
  override func tell(_ facts: inout StreamFacts) { facts.isTransparent = true }
}
