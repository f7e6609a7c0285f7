/// The subscription of a source that sends without being asked, for a buffer in front of it: only the cancellation matters.
final class CancellationSubscription: GuardedSubscription {
  private var onCancel: (() -> Void)?

  init(_ onCancel: @escaping () -> Void) { self.onCancel = onCancel }

  override func cancelled() { onCancel.take()?() }
  override var takesNone: Bool { true }
}
