// Where Combine is available, Foundation defines this method itself.
#if !canImport(Combine)
  public import Foundation

  extension NotificationCenter {
    @available(
      *, unavailable,
      message: "use Create: add an observer in its closure, and remove it in onCancel (see ThreadsActorsAndAsync.md)"
    )
    @_documentation(visibility: internal)
    public func publisher(for name: Notification.Name, object: AnyObject? = nil) -> AnyPublisher<Notification, Never> {
      fatalError("unavailable")
    }
  }
#endif
