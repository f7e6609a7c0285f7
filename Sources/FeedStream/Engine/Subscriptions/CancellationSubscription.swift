/// The subscription of a source that sends without being asked, for a buffer in front of it: only the cancellation matters.
final class CancellationSubscription: Subscription {
  private var onCancel: (() -> Void)?

  init(_ onCancel: @escaping () -> Void) { self.onCancel = onCancel }

  func request(_ demand: Subscribers.Demand) {}

  func cancel() {
    let onCancel = self.onCancel
    self.onCancel = nil
    onCancel?()
  }
}
