internal import CLibUV

/// Watches for a signal. Closing or releasing the handle restores the previous action for the signal.
public final class SignalHandle: LoopHandle {
  /// The signal's number.
  public let number: Int32
  private var handler: (() -> Void)?

  /// Starts watching for the signal.
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
  /// Calls `handler` on the loop whenever the process receives signal `number`, instead of the signal's default action.
  ///
  ///     let interrupt = try loop.signal(SIGINT) { loop.stop() }
  ///
  /// Several signals that arrive within one turn of the loop may be reported once. If a signal has several watches, all
  /// of them receive it.
  ///
  /// - Parameters:
  ///   - number: the signal's number, such as `SIGINT`.
  ///   - keepsLoopAlive: true to keep the loop running even when it waits only for the signal.
  ///   - handler: runs on the loop.
  /// - Returns: a handle that ends the watch when cancelled or released.
  /// - Throws: when the signal cannot be caught (`SIGKILL`, `SIGSTOP`) or does not exist.
  public func signal(
    _ number: Int32, keepsLoopAlive: Bool = false, _ handler: @escaping () -> Void
  ) throws(EventLoopError) -> SignalHandle {
    let handle = try SignalHandle(on: self, number: number, handler)
    handle.keepsLoopAlive = keepsLoopAlive
    return handle
  }
}
