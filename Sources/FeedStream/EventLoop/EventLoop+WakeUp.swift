internal import CLibUV

#if os(Linux)
  typealias WakeUpHandle = uv_poll_t
#else
  typealias WakeUpHandle = uv_async_t
#endif

/// The handle by which other threads wake the loop.
///
/// On Linux, it is an eventfd, not a `uv_async_t`: with the latter in libuv 1.44, the woken loop spins until the
/// sender's system call has returned. If both threads share a processor, a round trip in C takes 50 to 80 µs with
/// `uv_async_t`, and 7 to 15 µs with an eventfd.
extension EventLoop {
  /// - Returns: 0, or a libuv error.
  func openWakeUp() -> Int32 {
    #if os(Linux)
      let descriptor = clibuv_open_event()
      entrance.wakeUpDescriptor = descriptor
      guard descriptor >= 0 else { return descriptor }
      let code = uv_poll_init(uv, entrance.wakeUp, descriptor)
      guard code == 0 else { return code }
      return uv_poll_start(entrance.wakeUp, Int32(UV_READABLE.rawValue)) { handle, _, _ in
        let loop = EventLoop.of(handle!.pointee.loop)
        _ = clibuv_take_event(loop.entrance.wakeUpDescriptor)
        loop.collectMail()
      }
    #else
      return uv_async_init(uv, entrance.wakeUp) { EventLoop.of($0!.pointee.loop).collectMail() }
    #endif
  }

  /// Frees the descriptor. Call this after libuv has closed the handle, when no thread can wake the loop anymore.
  func closeWakeUp() {
    #if os(Linux)
      clibuv_close_event(entrance.wakeUpDescriptor)
    #endif
  }
}

extension LoopEntrance {
  /// Wakes the loop. Safe to use from any thread, but only the mailbox, which keeps the handle open during the call,
  /// may call it.
  func wake() {
    #if os(Linux)
      clibuv_set_event(wakeUpDescriptor)
    #else
      uv_async_send(wakeUp)
    #endif
  }
}
