internal import CLibUV
import Synchronization

extension EventLoop {
  /// Runs blocking or heavy work on libuv's thread pool and hands its result back on the loop.
  ///
  /// The pool is the process's, of four threads unless the environment variable `UV_THREADPOOL_SIZE` says otherwise when
  /// it is first used; work that finds all of them busy waits its turn. When the system has no threads to give, the work
  /// waits until it has.
  ///
  /// The loop runs until the work has ended, even when it was cancelled. Dropping the result does not cancel.
  ///
  /// - Parameters:
  ///   - work: runs on a thread of the pool.
  ///   - completion: runs on the loop afterwards, unless cancelled before.
  /// - Returns: prevents `completion`, and `work` too if it has not begun.
  @discardableResult
  public func offload<T: Sendable>(
    _ work: @escaping @Sendable () -> T, completion: @escaping (T) -> Void
  ) -> any Cancellable {
    checkOwner()
    let result = OffloadResult<T>()
    let offload = Offload(
      on: self,
      work: { result.value = work() },
      completion: { completion(result.value!) })
    guard !isClosed else {
      offload.abandon()
      return offload
    }
    guard waitingForThreads.isEmpty, ThreadPool.isAvailable else {
      if waitingForThreads.isEmpty { retryOffloading() }
      waitingForThreads.append(offload)
      return offload
    }
    offload.start()
    return offload
  }

  /// Starts what waits for threads, as soon as there are some.
  private func retryOffloading() {
    _ = addTimer(at: now.advanced(by: .milliseconds(50))) { [unowned self] in
      guard ThreadPool.isAvailable else { return retryOffloading() }
      let waiting = waitingForThreads
      waitingForThreads = []
      for offload in waiting { offload.start() }
    }
  }
}

/// One piece of work on its way to the thread pool and back.
// @unchecked: `work` is touched by the owner before and after libuv has the request, and by one thread of the pool
// meanwhile, with libuv's locks between; the rest by the owner only.
final class Offload: Cancellable, @unchecked Sendable {
  private unowned let loop: EventLoop
  private let gate: OffloadGate
  private let request: UnsafeMutablePointer<uv_work_t>
  private var work: (() -> Void)?
  private var completion: (() -> Void)?
  private var isStarted = false

  init(on loop: EventLoop, work: @escaping () -> Void, completion: @escaping () -> Void) {
    self.loop = loop
    gate = loop.gate
    self.work = work
    self.completion = completion
    request = .allocate(capacity: 1)
  }

  deinit { request.deallocate() }

  /// Hands the work to libuv, which keeps this object until it has called back.
  func start() {
    guard completion != nil else { return }
    isStarted = true
    request.pointee.data = Unmanaged.passRetained(self).toOpaque()
    let code = uv_queue_work(
      loop.uv, request,
      { Unmanaged<Offload>.fromOpaque($0!.pointee.data).takeUnretainedValue().perform() },
      { request, _ in Unmanaged<Offload>.fromOpaque(request!.pointee.data).takeRetainedValue().finish() })
    precondition(code == 0, "EventLoop.offload: \(String(cString: uv_strerror(code)))")
  }

  func cancel() {
    guard completion != nil else { return }
    loop.checkOwner()
    completion = nil
    guard isStarted else { return }
    // Succeeds only when the work has not begun; either way libuv calls back on the loop.
    _ = request.withMemoryRebound(to: uv_req_t.self, capacity: 1) { uv_cancel($0) }
  }

  /// Forgets work that was never started.
  func abandon() {
    work = nil
    completion = nil
  }

  private func perform() {
    if !gate.isClosed { work?() }
  }

  private func finish() {
    work = nil
    let completion = self.completion
    self.completion = nil
    if !gate.isClosed { completion?() }
  }
}

/// Where a result travels from the pool's thread to the loop's.
// @unchecked: written before libuv's lock passes it on, read after.
private final class OffloadResult<T>: @unchecked Sendable {
  var value: T?
}

/// Tells threads of the pool that their loop is closing, so that queued work ends at once.
final class OffloadGate: Sendable {
  private let closed = Atomic<Bool>(false)
  var isClosed: Bool { closed.load(ordering: .acquiring) }
  func close() { closed.store(true, ordering: .releasing) }
}
