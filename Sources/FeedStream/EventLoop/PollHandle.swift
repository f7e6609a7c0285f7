internal import CLibUV

/// Watches a socket, a pipe or another descriptor that supports polling.
///
/// The caller still owns the descriptor: stop or close the watch before you close the descriptor. A descriptor can have
/// one watch on a loop at a time, and the watch makes it non-blocking. An event is a hint: a read can still find no
/// data.
public final class PollHandle: LoopHandle {
  /// The conditions for which a descriptor is watched.
  public struct Events: OptionSet, Hashable, Sendable {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Data can be read, or the peer has closed the connection.
    public static let readable = Events(rawValue: 1)
    /// Data can be written.
    public static let writable = Events(rawValue: 2)
    /// The peer has closed its end for writing, even if not everything was read.
    public static let disconnect = Events(rawValue: 4)
    /// Urgent data arrived.
    public static let prioritized = Events(rawValue: 8)
  }

  /// Called on the loop with the current conditions, or with no events and the error that ended the watch.
  public typealias Handler = (Events, EventLoopError?) -> Void

  /// The watched descriptor.
  public let fileDescriptor: Int32
  private var handler: Handler?

  /// Makes a watch on `fileDescriptor` without starting it.
  ///
  /// - Throws: when the descriptor is not open, cannot be polled (a regular file) or is being watched on this loop.
  public init(on loop: EventLoop, fileDescriptor: Int32) throws(EventLoopError) {
    self.fileDescriptor = fileDescriptor
    try super.init(on: loop, as: .watchDescriptor, uv_poll_t.self) { uv_poll_init($0, $1, fileDescriptor) }
  }

  /// Starts watching for `events`, in place of the previous ones.
  ///
  /// - Precondition: the handle is open.
  public func start(_ events: Events, _ handler: @escaping Handler) throws(EventLoopError) {
    self.handler = handler
    try start(events)
  }

  /// Watches for other events with the current handler.
  public func start(_ events: Events) throws(EventLoopError) {
    loop.checkOwner()
    precondition(!isClosed, "PollHandle.start: the handle is closed; open a new one for the descriptor")
    let code = uv_poll_start(raw(), events.rawValue) { raw, status, events in
      let handle = PollHandle.of(raw)
      if status < 0 {
        handle.handler?([], EventLoopError(.watchDescriptor, code: status))
      } else {
        handle.handler?(Events(rawValue: events), nil)
      }
    }
    try EventLoopError.check(.watchDescriptor, code)
  }

  /// Stops watching until the watch is started again.
  public func stop() {
    guard !isClosed else { return }
    loop.checkOwner()
    uv_poll_stop(raw())
  }

  override func releaseHandler() { handler = nil }
}
