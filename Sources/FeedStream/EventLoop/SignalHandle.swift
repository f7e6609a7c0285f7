internal import CLibUV

/// Watches for a signal; closing or releasing it restores the signal's former handling.
public final class SignalHandle: LoopHandle {
  /// The signal's number.
  public let number: Int32
  private var handler: (() -> Void)?

  /// Starts watching.
  ///
  /// - Throws: when the signal cannot be caught (`SIGKILL`, `SIGSTOP`) or does not exist.
  init(on loop: EventLoop, number: Int32, _ handler: @escaping () -> Void) throws(EventLoopError) {
    self.number = number
    self.handler = handler
    try super.init(on: loop, as: .watchSignal, uv_signal_t.self, uv_signal_init)
    let raw = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_signal_t.self)
    let code = uv_signal_start(raw, { raw, _ in SignalHandle.of(raw).handler?() }, number)
    try EventLoopError.check(.watchSignal, code)
  }

  override func releaseHandler() { handler = nil }
}

extension EventLoop {
  /// Calls `handler` on the loop whenever the process receives the signal `number`, instead of the signal's default
  /// action.
  ///
  ///     let interrupt = try loop.signal(SIGINT) { loop.stop() }
  ///
  /// Signals that arrive faster than the loop turns may be reported once. Several watches of one signal all receive it.
  ///
  /// - Parameters:
  ///   - number: such as `SIGINT`.
  ///   - keepsLoopAlive: true when the loop keeps running only to wait for the signal.
  ///   - handler: runs on the loop.
  /// - Returns: ends the watch when cancelled or released.
  /// - Throws: when the signal cannot be caught (`SIGKILL`, `SIGSTOP`) or does not exist.
  public func signal(
    _ number: Int32, keepsLoopAlive: Bool = false, _ handler: @escaping () -> Void
  ) throws(EventLoopError) -> SignalHandle {
    let handle = try SignalHandle(on: self, number: number, handler)
    handle.keepsLoopAlive = keepsLoopAlive
    return handle
  }
}
