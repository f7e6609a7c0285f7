internal import CLibUV

/// The base class of a loop's handles. A handle belongs to the loop's thread, closes only once, and closes when it is
/// released.
///
/// A closed handle no longer calls its handler. Its memory in libuv is freed in libuv's close callback, on a later
/// turn.
public class LoopHandle: Cancellable {
  /// The handle's loop.
  public let loop: EventLoop
  /// True when the handle is closed.
  @exclusivity(unchecked) public private(set) var isClosed = false  // Read for each write, always on one thread.

  // libuv's handle, which lives until its close callback; used only while `isClosed` is false.
  let handle: UnsafeMutablePointer<uv_handle_t>

  /// Allocates libuv's structure and lets `start` initialize it.
  init<Raw>(
    on loop: EventLoop, as operation: EventLoopError.Operation, _ type: Raw.Type,
    _ start: (UnsafeMutablePointer<uv_loop_t>, UnsafeMutablePointer<Raw>) -> Int32
  ) throws(EventLoopError) {
    loop.checkOwner()
    precondition(!loop.isClosed, "EventLoop: a handle cannot be opened on a closed loop; open it before close()")
    let raw = UnsafeMutablePointer<Raw>.allocate(capacity: 1)
    let code = start(loop.uv, raw)
    self.loop = loop
    handle = uvHandle(raw)
    guard code >= 0 else {
      isClosed = true
      raw.deallocate()
      throw EventLoopError(operation, code: code)
    }
    handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit { close() }

  /// libuv's structure, as a pointer to its concrete type.
  func raw<Raw>(as type: Raw.Type = Raw.self) -> UnsafeMutablePointer<Raw> {
    UnsafeMutableRawPointer(handle).assumingMemoryBound(to: Raw.self)
  }

  /// True if the loop keeps running as long as this handle is active; true by default.
  public var keepsLoopAlive: Bool {
    get { !isClosed && uv_has_ref(handle) != 0 }
    set {
      guard !isClosed else { return }
      loop.checkOwner()
      if newValue { uv_ref(handle) } else { uv_unref(handle) }
    }
  }

  /// Stops the handle permanently. Idempotent; after this returns, the handler is not called.
  public func close() {
    guard !isClosed else { return }
    if !loop.isClosed { loop.checkOwner() }
    isClosed = true
    handle.pointee.data = nil
    Self.closeAndFree(handle)
    releaseHandler()
  }

  /// Closes the handle, as ``close()`` does.
  public func cancel() { close() }

  /// Releases the handler, whose type depends on the kind of handle.
  func releaseHandler() {}

  static func closeAndFree(_ handle: UnsafeMutablePointer<uv_handle_t>) {
    uv_close(handle) { UnsafeMutableRawPointer($0!).deallocate() }
  }

  /// The object of a libuv handle, for libuv's callbacks. libuv makes no such calls after `uv_close`.
  static func of<Raw>(_ raw: UnsafeMutablePointer<Raw>!) -> Self {
    let data = uvHandle(raw).pointee.data!
    // Safe because each class starts its own kind of libuv handle with its own callback.
    return unsafeDowncast(Unmanaged<LoopHandle>.fromOpaque(data).takeUnretainedValue(), to: Self.self)
  }
}

/// A pointer to one of libuv's handles, as libuv's functions for all kinds of handles take it.
// Safe because every handle's structure begins with the members of `uv_handle_t`.
func uvHandle<Raw>(_ raw: UnsafeMutablePointer<Raw>) -> UnsafeMutablePointer<uv_handle_t> {
  UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_handle_t.self)
}
