internal import CLibUV
import Synchronization

/// One piece of work on its way to the thread pool and back.
// @unchecked: the work is touched by the owner before and after libuv has the request, and by one thread of the pool
// meanwhile, with libuv's locks between; the rest by the owner only.
@usableFromInline
class Offload: Cancellable, @unchecked Sendable {
  private enum State { case waiting, queued, over }

  // Unsafe is right: the loop is used only before the work is over, and a loop that closes ends all its work first.
  private unowned(unsafe) let loop: EventLoop
  private let gate: OffloadGate
  // libuv's until it has called back, which keeps this object until then.
  private let request = UnsafeMutablePointer<uv_work_t>.allocate(capacity: 1)
  @exclusivity(unchecked)
  private var state = State.waiting

  @usableFromInline
  init(on loop: EventLoop) {
    self.loop = loop
    gate = loop.gate
  }

  deinit { request.deallocate() }

  // MARK: What the generic subclass does with its types

  /// Runs the work. On a thread of the pool.
  @usableFromInline
  func perform() {}

  /// Lets go of everything and hands over the result. On the loop.
  @usableFromInline
  func complete() {}

  /// Lets go of the completion. On the loop, also while the work runs.
  @usableFromInline
  func dropCompletion() {}

  /// Lets go of the work and its result. On the loop, never while the work runs.
  @usableFromInline
  func dropWork() {}

  // MARK: Its way

  /// Hands the work to libuv.
  final func start() {
    guard state == .waiting else { return }
    state = .queued
    request.pointee.data = Unmanaged.passRetained(self).toOpaque()
    let code = uv_queue_work(
      loop.uv, request,
      {
        let offload = Unmanaged<Offload>.fromOpaque($0!.pointee.data)
        offload._withUnsafeGuaranteedRef { if !$0.gate.isClosed { $0.perform() } }
      },
      { request, _ in Unmanaged<Offload>.fromOpaque(request!.pointee.data).takeRetainedValue().finish() })
    precondition(code == 0, "EventLoop.offload: \(String(cString: uv_strerror(code)))")
  }

  @usableFromInline
  final func cancel() {
    guard state != .over else { return }
    loop.checkOwner()
    if state == .waiting { return abandon() }
    state = .over
    // Succeeds only when the work has not begun; either way libuv calls back on the loop.
    _ = request.withMemoryRebound(to: uv_req_t.self, capacity: 1) { uv_cancel($0) }
    dropCompletion()
  }

  /// Does the work here and now. On the loop, for lack of threads.
  final func runOnLoop() {
    guard state == .waiting else { return }
    state = .queued
    perform()
    finish()
  }

  /// Forgets work that was never started.
  final func abandon() {
    state = .over
    dropWork()
    dropCompletion()
  }

  private func finish() {
    if state == .queued, !gate.isClosed {
      state = .over
      complete()
    } else {
      abandon()
    }
  }
}

/// The work with its types, specialized where it is asked for.
// @unchecked: as `Offload`, whose owner, pool thread and libuv's locks between them are the same for what is added here.
@usableFromInline
final class OffloadOf<T: Sendable>: Offload, @unchecked Sendable {
  @exclusivity(unchecked)
  @usableFromInline
  var work: (@Sendable () -> T)?
  @exclusivity(unchecked)
  @usableFromInline
  var completion: ((T) -> Void)?
  @exclusivity(unchecked)
  @usableFromInline
  var result: T?

  @inlinable
  init(on loop: EventLoop, _ work: @escaping @Sendable () -> T, _ completion: @escaping (T) -> Void) {
    self.work = work
    self.completion = completion
    super.init(on: loop)
  }

  @inlinable
  override func perform() {
    result = work?()
    // What only the work still holds (a large body) is let go of here: on the loop that would take the loop's time.
    work = nil
  }

  @inlinable
  override func complete() {
    guard let completion, let result else { return }
    dropWork()
    dropCompletion()
    completion(result)
  }

  @inlinable
  override func dropCompletion() { completion = nil }

  @inlinable
  override func dropWork() {
    work = nil
    result = nil
  }
}

/// Tells threads of the pool that their loop is closing, so that queued work ends at once.
final class OffloadGate: Sendable {
  private let closed = Atomic<Bool>(false)
  var isClosed: Bool { closed.load(ordering: .acquiring) }
  func close() { closed.store(true, ordering: .releasing) }
}
