internal import CLibUV
import Synchronization

/// Checks for available threads before libuv starts its pool: libuv aborts the process if it can't start the threads.
enum ThreadPool {
  private static let hasStarted = Atomic<Bool>(false)

  /// True if the pool has its threads, or if the system has enough threads left to start it now.
  ///
  /// The check starts and ends as many threads as the pool will have, and is not repeated once it has succeeded. Other
  /// code could still take the threads before libuv starts its own, but libuv offers no better way.
  static var isAvailable: Bool {
    if hasStarted.load(ordering: .acquiring) { return true }
    guard canStartThreads(size) else { return false }
    hasStarted.store(true, ordering: .releasing)
    return true
  }

  /// The number of threads that libuv will start, as `uv_queue_work` documents and libuv's `threadpool.c` implements.
  private static var size: Int {
    var buffer = [CChar](repeating: 0, count: 32)
    var length = buffer.count
    guard uv_os_getenv("UV_THREADPOOL_SIZE", &buffer, &length) == 0 else { return 4 }
    let text = String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return min(max(Int(text) ?? 1, 1), 1024)
  }

  private static func canStartThreads(_ count: Int) -> Bool {
    let gate = UnsafeMutablePointer<uv_sem_t>.allocate(capacity: 1)
    guard uv_sem_init(gate, 0) == 0 else { return false }
    var threads: [uv_thread_t] = []
    for _ in 0..<count {
      var thread = uv_thread_t()
      guard uv_thread_create(&thread, { uv_sem_wait($0!.assumingMemoryBound(to: uv_sem_t.self)) }, gate) == 0 else {
        break
      }
      threads.append(thread)
    }
    for _ in threads { uv_sem_post(gate) }
    for var thread in threads { uv_thread_join(&thread) }
    uv_sem_destroy(gate)
    gate.deallocate()
    return threads.count == count
  }
}
