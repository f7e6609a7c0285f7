internal import CLibUV

/// A loop that runs on its own thread until it is shut down, for actors and for programs whose main thread is busy.
///
///     let thread = try EventLoopThread(name: "feeds")
///     thread.loop.execute { print("on the loop") }
///     thread.shutdown()
///
/// Releasing the object shuts the thread down, too. The release waits until the thread has ended, except on the thread
/// of another `EventLoopThread`, because two threads that release each other would wait forever.
public final class EventLoopThread: Sendable {
  /// The thread's loop. Run code on it with ``EventLoop/execute(_:file:line:)`` or through an actor that lives on it.
  public let loop: EventLoop
  private let thread: Thread

  /// Starts the thread and its loop.
  ///
  /// - Parameter name: the thread's name in debuggers; Linux keeps the characters in its first 15 bytes.
  /// - Throws: when the system has no threads left.
  public convenience init(name: String = "event-loop") throws(EventLoopError) {
    try self.init(name: name, processor: nil)
  }

  /// - Parameter processor: the index of the processor to pin the thread to, among those that the process may use;
  ///   `nil` means no pinning.
  init(name: String, processor: Int?) throws(EventLoopError) {
    let loop = EventLoop(owner: 0, threadName: name)
    self.loop = loop
    thread = try Thread(name: name) {
      CurrentDomain.set(UnsafeMutableRawPointer(bitPattern: 1), in: Self.mark)
      #if os(Linux)
        if let processor { _ = clibuv_pin_thread(Int32(truncatingIfNeeded: processor)) }
      #endif
      loop.run(.untilStopped)
      loop.close()
    }
  }

  deinit {
    loop.stop()
    // The last reference may be released on the thread itself, which cannot join itself: by the loop's code, or while
    // the loop closes and releases what is left on it. Two such threads that release each other cannot join, either.
    if loop.isHere || Self.isCurrent { thread.detach() } else { thread.join() }
  }

  /// True on the threads of this class, even while their loops close.
  private static var isCurrent: Bool { CurrentDomain.value(in: mark) != nil }
  /// A thread-local slot that isn't empty on the threads of this class.
  private static let mark = CurrentDomain.newSlot()

  /// Stops the loop, closes it and waits for its thread to end. Idempotent.
  ///
  /// Scheduled work is dropped without running, except jobs of tasks and actors (see ``EventLoop/close()``).
  ///
  /// - Precondition: the calling code doesn't run on the loop's thread.
  public func shutdown() {
    precondition(
      !loop.isHere, "EventLoopThread.shutdown: called on the loop that it waits for; call loop.stop() instead")
    loop.stop()
    thread.join()
  }
}
