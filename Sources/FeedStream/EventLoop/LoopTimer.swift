/// A timer that can be set repeatedly: one handler, at most one deadline.
///
/// This timer is for libraries that manage their own timeouts, such as libcurl, and that set the timer again each time.
/// It fires in deadline order with the loop's other timers, and closes when it is released.
public final class LoopTimer: Cancellable {
  /// The timer's loop.
  public let loop: EventLoop
  private var handler: (() -> Void)?
  private var work: TimerQueue.Work?

  /// Makes a timer that is not set; `handler` is called on the loop when the timer fires.
  public init(on loop: EventLoop, _ handler: @escaping () -> Void) {
    self.loop = loop
    self.handler = handler
  }

  deinit { work?.cancel() }

  /// True if the timer is set.
  public var isActive: Bool { work?.action != nil }

  /// Sets the timer, replacing its deadline. With a delay of zero, it fires on the next turn of the loop, not on this
  /// one.
  public func start(after delay: StreamInstant.Stride) {
    loop.checkOwner()
    work?.cancel()
    work = nil
    guard handler != nil else { return }
    work = loop.addTimer(at: loop.now.advanced(by: delay)) { [unowned self] in
      work = nil
      handler?()
    }
  }

  /// Sets the timer, with a `Duration`.
  @_documentation(visibility: internal) @_disfavoredOverload public func start(after delay: Duration) {
    start(after: StreamInstant.Stride(delay))
  }

  /// Unsets the timer.
  public func stop() {
    work?.cancel()
    work = nil
  }

  /// Unsets the timer permanently and releases its handler.
  public func close() {
    stop()
    handler = nil
  }

  /// Closes the timer, as ``close()`` does.
  public func cancel() { close() }
}
