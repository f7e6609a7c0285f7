internal import CLibUV
import Synchronization

/// The part of a loop that other threads use, and that streams keep.
///
/// The entrance does not keep the loop alive. Therefore, other threads can't be the last to release a loop, and a loop
/// that the program has released is freed even if its streams still exist.
// @unchecked: `wakeUpDescriptor` and `openLoop` are set before other threads have access; the mailbox guards the use of
// the wake-up handle, and only the loop's own thread reads `openLoop`.
final class LoopEntrance: @unchecked Sendable {
  let mailbox = Mailbox()
  let firstRun = FirstRun()
  /// Runs the loop in place of its owner; see `EventLoop+Host.swift`.
  let host: (any LoopHost)?
  /// The name of the thread of an ``EventLoopThread``.
  let threadName: String?
  /// The process-wide unique number of the thread that owns the loop; 0 for a loop of an ``EventLoopThread`` before it
  /// runs, and for a loop with a host.
  let owner: Atomic<UInt>
  /// The task that made the loop; `nil` outside of tasks.
  private let maker = SubjectConfinement.currentTask
  /// True once the loop is closed: its thread no longer uses the objects that lived there, so any thread may release
  /// them.
  private let isClosed = Atomic(false)
  /// True once the program has released the loop without closing it.
  let wasReleased = Atomic(false)
  /// Runs the cancellations that arrive when the loop accepts no more work, once the loop is closed.
  private let afterwards = SerialLane()
  /// Counts the values in transit out of the loop (`EventLoop+Waiting.swift`).
  let holds = Holds()
  /// The handle by which other threads wake the loop, and on Linux its eventfd (`EventLoop+WakeUp.swift`).
  let wakeUp: UnsafeMutablePointer<WakeUpHandle> = .allocate(capacity: 1)
  var wakeUpDescriptor: Int32 = -1
  /// The loop; `nil` once it is closed, because any thread may then use the entrance. Reading this property retains the
  /// loop, so other threads mustn't read it.
  var loop: EventLoop? { isClosed.load(ordering: .acquiring) ? nil : openLoop }
  private weak var openLoop: EventLoop?

  init(owner: UInt, host: (any LoopHost)?, threadName: String?) {
    self.owner = Atomic(owner)
    self.host = host
    self.threadName = threadName
    afterwards.occupy(for: 0)
  }

  /// Called by the loop's initializer.
  func lead(to loop: EventLoop) { openLoop = loop }

  /// Called when everything on the loop is closed.
  func close() {
    isClosed.store(true, ordering: .releasing)
    afterwards.release()
  }

  var isHere: Bool {
    if isClosed.load(ordering: .acquiring) { return afterwards.isHere }
    return host?.isHere ?? (owner.load(ordering: .relaxed) == CurrentDomain.threadNumber)
  }

  /// True if streams that the calling code makes while no loop runs live on this loop.
  ///
  /// A thread of Swift's pool runs unrelated tasks. A loop that one of them made on that thread isn't the others' loop.
  /// Code on the main thread and the main queue belongs together.
  var isOfCallingCode: Bool {
    isHere && (host != nil || maker == SubjectConfinement.currentTask || MainQueueCode.isRunning)
  }

  /// Runs `action` on a later turn of the loop. Safe to use from any thread.
  ///
  /// - Returns: false if the loop is closed.
  func post(_ action: @escaping @Sendable () -> Void) -> Bool {
    if Warnings.areOn { watchFirstRun() }
    return mailbox.post({ $0.work.append(Action(run: action)) }, wake: { wake() })
  }

  /// Called when another thread sends work. Warns if the loop still has not run after a while.
  private func watchFirstRun() {
    guard host == nil, !firstRun.hasBegun.load(ordering: .relaxed) else { return }
    firstRun.expectForWork()
  }
}

extension LoopEntrance: StreamDomain {
  var isReleased: Bool { wasReleased.load(ordering: .relaxed) }
  var isForAnyThread: Bool { isClosed.load(ordering: .acquiring) }
  var isOnQueue: Bool { host != nil }

  func bring(_ action: @escaping @Sendable () -> Void) {
    if isHere, let loop { loop.bring(action) } else { _ = post(action) }
  }

  func bringInOrder(_ action: @escaping @Sendable () -> Void) { _ = post(action) }

  func bringCancellation(_ cancel: @escaping @Sendable () -> Void) {
    bring(cancel, dropped: { [afterwards] in afterwards.post(cancel) })
  }

  func hold(_ place: HoldingPlace) { holds.add(place) }

  func letGo(_ place: HoldingPlace) {
    guard holds.subtract(place) else { return }
    bring { [self] in loop?.updateWaiting() }
  }

  var instant: Int64? { Int64(bitPattern: uv_hrtime()) }

  var knownName: String? { threadName.map { "thread \($0)" } }

  // Read only on the loop's own thread:
  var domainHere: any StreamDomain { loop ?? self }
  var subscriptions: LiveSubscriptions? { loop?.subscriptions }
  var label: String { knownName ?? loop?.label ?? "an event loop" }
  func mapBegan() { loop?.mapBegan() }
  func beginWaiting() { loop?.beginWaiting() }
  func stopWaiting() { loop?.stopWaiting() }
  func whenClosed(_ key: ObjectIdentifier, _ action: (() -> Void)?) { loop?.whenClosed(key, action) }
}
