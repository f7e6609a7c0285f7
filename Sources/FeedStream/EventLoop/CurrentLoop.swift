internal import CLibUV

/// Which loop the calling thread is running.
///
/// The slot is reached through libuv's functions only, which the optimizer cannot look into: after a suspension a task may
/// go on in another thread, where a remembered address of a thread-local variable would be wrong.
enum CurrentLoop {
  // Written once by its initializer, before any other access; libuv's functions take it by pointer but only read it.
  nonisolated(unsafe) private static let key: UnsafeMutablePointer<uv_key_t> = {
    let key = UnsafeMutablePointer<uv_key_t>.allocate(capacity: 1)
    let code = uv_key_create(key)
    precondition(
      code == 0, "EventLoop: \(String(cString: uv_strerror(code))); the process has no thread-local slot left")
    return key
  }()

  static func get() -> EventLoop? {
    uv_key_get(key).map { Unmanaged<EventLoop>.fromOpaque($0).takeUnretainedValue() }
  }

  /// - Returns: what `restore` takes.
  static func replace(with loop: EventLoop) -> UnsafeMutableRawPointer? {
    defer { uv_key_set(key, Unmanaged.passUnretained(loop).toOpaque()) }
    return uv_key_get(key)
  }

  static func restore(_ outer: UnsafeMutableRawPointer?) { uv_key_set(key, outer) }
}
