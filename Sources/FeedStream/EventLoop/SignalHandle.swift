internal import CLibUV
import CLibrary

/// Watches for a signal. When a signal's last handle is closed or released, the signal's previous action is restored.
public final class SignalHandle: LoopHandle {
  /// The signal's number.
  public let number: Int32
  private var handler: (() -> Void)?
  private var isWatching = false

  /// Starts watching for the signal.
  ///
  /// - Throws: when the signal cannot be caught (`SIGKILL`, `SIGSTOP`) or does not exist.
  init(on loop: EventLoop, number: Int32, _ handler: @escaping () -> Void) throws(EventLoopError) {
    self.number = number
    self.handler = handler
    try super.init(on: loop, as: .watchSignal, uv_signal_t.self, uv_signal_init)
    let code = FormerAction.keep(of: number) {
      uv_signal_start(raw(), { raw, _ in SignalHandle.of(raw).handler?() }, number)
    }
    isWatching = code == 0
    try EventLoopError.check(.watchSignal, code)
  }

  override func releaseHandler() {
    handler = nil
    if isWatching { FormerAction.restore(of: number) }
  }
}

/// The action of a signal before its first watch. libuv sets the default action at the end of the last one.
struct FormerAction {
  private var action: sigaction
  private var watches = 1

  /// The signals that are watched on any loop of the process.
  private static let kept = Locked<[Int32: FormerAction]>([:])

  /// - Parameter start: starts a watch; returns 0 unless that fails.
  static func keep(of number: Int32, _ start: () -> Int32) -> Int32 {
    kept.withLock { kept in
      var action = sigaction()
      sigaction(number, nil, &action)
      let code = start()
      if code == 0 {
        kept[number]?.watches += 1
        if kept[number] == nil {
          // If the action is the same as before, it is libuv's own, for another user of libuv: restoring it when that
          // user has ended would ignore the signal, so remember the default action.
          var current = sigaction()
          sigaction(number, nil, &current)
          kept[number] = FormerAction(action: current.handler == action.handler ? sigaction() : action)
        }
      }
      return code
    }
  }

  /// Replaces a signal's action if it is the default one; if the signal is watched, at the end of the last watch.
  static func replaceDefault(of number: Int32, by action: sigaction) {
    kept.withLock { kept in
      if let former = kept[number] {
        if former.action.isDefault { kept[number]?.action = action }
        return
      }
      var (current, action) = (sigaction(), action)
      guard sigaction(number, nil, &current) == 0, current.isDefault else { return }
      sigaction(number, &action, nil)
    }
  }

  /// Call this after a watch has ended.
  static func restore(of number: Int32) {
    kept.withLock { kept in
      kept[number]?.watches -= 1
      guard var former = kept[number], former.watches == 0 else { return }
      kept[number] = nil
      // libuv itself, or another library that uses it, may still watch the signal.
      var action = sigaction()
      guard sigaction(number, nil, &action) == 0, action.isDefault else { return }
      sigaction(number, &former.action, nil)
    }
  }
}

/// Lets the calling thread receive a signal.
func unblockSignal(_ number: Int32) {
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, number)
  pthread_sigmask(SIG_UNBLOCK, &signals, nil)
}

extension sigaction {
  var isDefault: Bool { handler == nil }

  /// The address of the handler, or one of the numbers for the default action and for none.
  fileprivate var handler: UnsafeRawPointer? {
    #if canImport(Darwin)
      unsafeBitCast(__sigaction_u.__sa_handler, to: UnsafeRawPointer?.self)
    #else
      unsafeBitCast(__sigaction_handler.sa_handler, to: UnsafeRawPointer?.self)
    #endif
  }
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
