internal import CLibUV
internal import Dispatch

/// The main queue, which runs the main actor's code. A loop that runs on the main thread serves this queue, as
/// Foundation's run loop does. Otherwise, a task of the main actor would wait at least until the loop returns, and
/// possibly forever.
enum MainQueue {
  private static let mark: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  /// True for the main queue.
  static func isMain(_ queue: DispatchQueue) -> Bool { queue.getSpecific(key: mark) != nil }

  /// True on the main thread, and in code on the main queue when another thread serves it, as for an asynchronous
  /// `main`.
  static var isHere: Bool { DispatchQueue.getSpecific(key: mark) != nil }

  #if os(Linux)
    /// A descriptor that is readable when the queue has work; `nil` if the process can't open it.
    // Dispatch opens the descriptor on first use and keeps it open. If that fails, Dispatch ends the process, so check
    // first.
    static func descriptor() -> Int32? {
      if let known = known.withLock({ $0 }) { return known }
      guard clibuv_may_open() else { return nil }
      let descriptor = mainQueueHandle()
      known.withLock { $0 = descriptor }
      return descriptor
    }
    private static let known = Locked<Int32?>(nil)

    /// True while `serve` runs the queue's work.
    // Used only on the main thread.
    nonisolated(unsafe) private(set) static var isServing = false

    /// Runs the queue's work. Call this on the main thread; during the queue's own work, it does nothing.
    ///
    /// - Returns: true if there was any work.
    static func serve(_ descriptor: Int32) -> Bool {
      guard !isServing, clibuv_take_event(descriptor) else { return false }
      isServing = true
      drainMainQueue(nil)
      isServing = false
      return true
    }

    /// Serves the queue, and returns true on success. Serving fails if a run loop is already serving the queue and
    /// waits for the current call to return.
    static func canServe(_ descriptor: Int32) -> Bool {
      let hasRun = Locked(false)
      DispatchQueue.main.async { hasRun.withLock { $0 = true } }
      return serve(descriptor) && hasRun.withLock { $0 }
    }
  #endif
}

#if os(Linux)
  // The functions with which CoreFoundation's run loops serve the main queue ("4CF").
  @_silgen_name("_dispatch_get_main_queue_handle_4CF") private func mainQueueHandle() -> Int32
  @_silgen_name("_dispatch_main_queue_callback_4CF") private func drainMainQueue(_ unused: UnsafeMutableRawPointer?)
#endif

/// A loop's watch on the main queue.
struct MainQueueService {
  // Freed in the handle's close callback, like all handles of a loop.
  fileprivate var watch: UnsafeMutablePointer<uv_poll_t>?
  fileprivate var descriptor: Int32 = -1
  /// The thread that last ran the loop, and whether it is the main thread.
  fileprivate var thread: UInt = 0
  fileprivate(set) var isOnMainThread = false
  fileprivate(set) var isServing = false
  /// True if the current run blocks the main queue, because code on that queue called `run(_:)`.
  fileprivate(set) var isBlocked = false
}

extension EventLoop {
  /// Called when a run begins, on the thread that runs the loop.
  func updateMainQueueService(for mode: RunMode) {
    #if os(Linux)
      let thread = currentThread()
      if mainQueue.thread != thread {
        mainQueue.thread = thread
        mainQueue.isOnMainThread = clibuv_is_main_thread()
      }
      mainQueue.isServing =
        mainQueue.isOnMainThread && !MainQueue.isServing && watchMainQueue()
        && (mode == .oneTurn || MainQueue.canServe(mainQueue.descriptor))
      mainQueue.isBlocked = !mainQueue.isServing && MainQueue.isHere
      // Stop watching: the descriptor would stay readable, because this loop doesn't read it.
      if !mainQueue.isServing, let watch = mainQueue.watch { uv_poll_stop(watch) }
    #endif
  }

  #if os(Linux)
    /// - Returns: true if the loop wakes up for the main queue.
    private func watchMainQueue() -> Bool {
      if mainQueue.watch == nil {
        guard let descriptor = MainQueue.descriptor() else { return false }
        let watch = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
        guard uv_poll_init(uv, watch, descriptor) == 0 else {
          watch.deallocate()
          return false
        }
        watch.pointee.data = nil
        uv_unref(uvHandle(watch))
        mainQueue.watch = watch
        mainQueue.descriptor = descriptor
      }
      if uv_is_active(uvHandle(mainQueue.watch!)) != 0 { return true }
      return uv_poll_start(mainQueue.watch, Int32(UV_READABLE.rawValue)) { watch, _, _ in
        EventLoop.of(watch!.pointee.loop).serveMainQueue()
      } == 0
    }
  #endif

  /// Runs the work on the main queue, if this loop serves it.
  ///
  /// - Returns: true if there was any work.
  @discardableResult func serveMainQueue() -> Bool {
    #if os(Linux)
      mainQueue.isServing && MainQueue.serve(mainQueue.descriptor)
    #else
      false
    #endif
  }
}
