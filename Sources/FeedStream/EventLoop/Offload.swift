internal import CLibUV
import Synchronization

/// One piece of work on the thread pool.
// @unchecked: the loop's thread uses the work before and after libuv has the request; in between, one thread of the
// pool uses it. libuv's locks separate these uses. Only the loop's thread uses the rest.
@usableFromInline class Offload: Cancellable, @unchecked Sendable {
  private enum State { case waiting, queued, over }

  // Safe because the loop is used only until the work is over, and a closing loop ends all its work first.
  private unowned(unsafe) let loop: EventLoop
  private let gate: OffloadGate
  // libuv owns the request until it calls back, and the request retains this object until then.
  private let request = UnsafeMutablePointer<uv_work_t>.allocate(capacity: 1)
  @exclusivity(unchecked) private var state = State.waiting
  private let steps: Steps

  /// The steps that need the generic subclass's types, as functions that are created where the types are known. Methods
  /// would look up the types at run time, five times per piece of work.
  @frozen @usableFromInline struct Steps {
    /// Runs the work. Called on a thread of the pool.
    @usableFromInline let perform: (Offload) -> Void
    /// Releases everything and delivers the result. Called on the loop.
    @usableFromInline let complete: (Offload) -> Void
    /// Releases the completion. Called on the loop, even while the work runs.
    @usableFromInline let dropCompletion: (Offload) -> Void
    /// Releases the work and its result. Called on the loop, never while the work runs.
    @usableFromInline let dropWork: (Offload) -> Void

    @inlinable init<T>(of offload: OffloadOf<T>.Type) {
      perform = { unsafeDowncast($0, to: OffloadOf<T>.self).perform() }
      complete = { unsafeDowncast($0, to: OffloadOf<T>.self).complete() }
      dropCompletion = { unsafeDowncast($0, to: OffloadOf<T>.self).completion = nil }
      dropWork = { unsafeDowncast($0, to: OffloadOf<T>.self).dropWork() }
    }
  }

  @usableFromInline init(on loop: EventLoop, _ steps: Steps) {
    self.loop = loop
    self.steps = steps
    gate = loop.gate
  }

  deinit { request.deallocate() }

  // MARK: From start to completion

  /// Passes the work to libuv.
  final func start() {
    guard state == .waiting else { return }
    state = .queued
    request.pointee.data = Unmanaged.passRetained(self).toOpaque()
    let code = uv_queue_work(
      loop.uv, request,
      {
        let offload = Unmanaged<Offload>.fromOpaque($0!.pointee.data)
        offload._withUnsafeGuaranteedRef { if !$0.gate.isClosed { $0.steps.perform($0) } }
      },
      { request, _ in
        // The loop still exists: it waits for all its requests before it closes.
        EventLoop.of(request!.pointee.loop).offloadsInPool -= 1
        Unmanaged<Offload>.fromOpaque(request!.pointee.data).takeRetainedValue().finish()
      })
    precondition(code == 0, "EventLoop.offload: \(String(cString: uv_strerror(code)))")
    loop.offloadsInPool += 1
  }

  @usableFromInline final func cancel() {
    guard state != .over else { return }
    loop.checkOwner()
    if state == .waiting { return abandon() }
    state = .over
    // Succeeds only if the work has not begun. Either way, libuv calls back on the loop.
    _ = request.withMemoryRebound(to: uv_req_t.self, capacity: 1) { uv_cancel($0) }
    steps.dropCompletion(self)
  }

  /// Runs the work now, on the loop, because there are no threads.
  final func runOnLoop() {
    guard state == .waiting else { return }
    state = .queued
    steps.perform(self)
    finish()
  }

  /// Drops work that was never started.
  final func abandon() {
    state = .over
    steps.dropWork(self)
    steps.dropCompletion(self)
  }

  private func finish() {
    if state == .queued, !gate.isClosed {
      state = .over
      steps.complete(self)
    } else {
      abandon()
    }
  }
}

/// The work with its types, specialized where it is requested.
// @unchecked: the properties added here follow the same rule as those of `Offload`.
@usableFromInline final class OffloadOf<T>: Offload, @unchecked Sendable {
  @exclusivity(unchecked) @usableFromInline var work: (@Sendable () -> T)?
  @exclusivity(unchecked) @usableFromInline var completion: ((T) -> Void)?
  /// Boxed, because releasing an optional `T` would look up its type at run time.
  @exclusivity(unchecked) @usableFromInline var result: Box<T>?

  @inlinable init(on loop: EventLoop, _ work: @escaping @Sendable () -> T, _ completion: @escaping (T) -> Void) {
    self.work = work
    self.completion = completion
    super.init(on: loop, Steps(of: OffloadOf<T>.self))
  }

  @inlinable func perform() {
    result = work.map { Box($0()) }
    // Release objects that only the work still holds (such as a large body) on this thread, because doing so on the
    // loop would take time.
    work = nil
  }

  @inlinable func complete() {
    guard let completion, let result else { return }
    dropWork()
    self.completion = nil
    completion(result.value)
  }

  @inlinable func dropWork() {
    work = nil
    result = nil
  }
}

/// Tells the pool's threads that their loop is closing, so that queued work ends immediately.
final class OffloadGate: Sendable {
  private let closed = Atomic<Bool>(false)
  var isClosed: Bool { closed.load(ordering: .acquiring) }
  func close() { closed.store(true, ordering: .releasing) }
}
