import CLibrary
public import CThread

/// Checks that a subject, or an operator that waits for its scheduler, stays where it lives (`CONTRACT.md`, rule 1),
/// even in release builds: in one domain, whose thread may change, or on one thread.
///
/// The home is the loop of the thread that first touches the object, even before the loop runs, or the thread itself if
/// it has no loop. A thread without a loop may not touch an object that was made on the thread of a loop. A task may
/// change threads. Its code is therefore checked only against a loop that does not run the task, and against a thread
/// that is using the object at that moment. The compiler checks the rest.
///
/// Any thread may touch a closed loop's objects: a program closes a thread's loop, then cancels the thread's streams.
/// While no other thread advances virtual time, a task may touch the objects that were first touched in that time: the
/// task of a test may continue on another thread.
@usableFromInline struct SubjectConfinement {
  /// The last thread that touched the object; 0 before the first touch.
  @usableFromInline var thread: UInt = 0
  /// The number of the thread that made the object; 0 for a task, which may continue on another thread.
  private let maker: UInt
  /// The domain in which the object was first touched.
  private var home: ObjectIdentifier?
  /// True if that domain is an event loop. Once the loop is closed, any thread may touch the object.
  private var isOnLoop = false
  /// True if that domain is virtual time.
  private var isInVirtualTime = false
  /// True when a task touched the object first; a task may continue on another thread.
  private var isOfTask = false
  /// True when code on the main queue touched the object first; `dispatchMain()` moves that code to other threads.
  private var isOfMainQueue = false

  #if DEBUG
    private var firstUse: UsePlace?
  #else
    private var firstUse: UsePlace? { nil }
  #endif

  /// True when a gate admits one thread at a time to the object.
  @usableFromInline var isGated = false

  @usableFromInline init() { maker = Self.isInTask ? 0 : CurrentDomain.threadNumber }

  /// Checks an object whose name is costly to create.
  @inline(__always) mutating func check(_ use: StreamUse, _ name: () -> String) {
    if thread != currentThread() { moved(name()) { ThreadTrap.advice(use, of: name(), after: $0) } }
  }

  /// Checks the thread on which a subject's values are requested: by a subscriber, or by an operator that joins streams.
  @inline(__always)
  func checkRequest(_ name: StaticString, madeAt made: @autoclosure () -> SourcePlace?, byJoin isByJoin: Bool) {
    if thread != currentThread() { requestMoved(name, made(), isByJoin) }
  }

  @inline(never)
  private func requestMoved(_ name: StaticString, _ made: @autoclosure () -> SourcePlace?, _ isByJoin: Bool) {
    // A request doesn't decide where the subject lives.
    var copy = self
    copy.moved("\(name)", madeAt: made()) { _ in
      isByJoin
        ? Self.adviceOnRequests
        : """
        In a subscriber of your own, \(Self.adviceToSubscribers). Without a loop, mapAsync and parallelMap also request values on \
        other threads: make an EventLoop on this thread before you subscribe, and call its run() last.
        """
    }
  }

  /// Checks the thread on which a scheduler calls an operator.
  @inlinable @inline(__always) mutating func checkScheduled(_ name: @autoclosure () -> StaticString) {
    if thread != currentThread() { moved("\(name())") { _ in Self.adviceOnSchedulers } }
  }

  /// Checks the thread on which an operator's deadline fires; the message names the operator's scheduler.
  @inline(__always) mutating func checkScheduled(by scheduler: Any.Type) {
    if thread != currentThread() {
      moved("an operator that uses the scheduler \(scheduler)") { _ in Self.adviceOnSchedulers }
    }
  }

  /// Checks a subscriber's request on a thread other than the one that subscribed. Code in a task or on the main queue
  /// may have moved to that thread, and so may code on a loop or in a lane.
  ///
  /// - Parameter mayMove: true if the stream lives on a loop or in a lane, or enters a gate.
  @inline(never) static func checkRequest(of name: @autoclosure () -> String, mayMove: Bool) {
    guard !isInTask, !MainQueueCode.isRunning else { return }
    // A lane without a queue belongs to an operator, which brings its own requests.
    if let domain = CurrentDomain.get(), mayMove || domain.isForAnyThread { return }
    halt(
      """
      \(name()): values were requested on a different thread than the one that subscribed (CONTRACT, rule 1: a stream lives on one \
      thread). In a subscriber of your own, \(adviceToSubscribers).
      """)
  }

  /// Stops the program because a stream was cancelled on one thread while another was delivering its values.
  @inline(never) static func haltCancellation(of name: String) -> Never {
    halt(
      """
      \(name): cancelled while another thread was delivering its values (CONTRACT, rule 1: a stream lives on one thread). \
      Write .subscribe(on: DispatchQueue.global()) directly below \(name): any thread may then cancel the stream. Or cancel on the thread \
      that subscribed.
      """)
  }

  private static let adviceToSubscribers = """
    return the demand from receive(_:), or write .receive(on:) with a queue directly above the subscriber: it may then request values on \
    any thread
    """

  /// - Parameters:
  ///   - made: the place where the object was made, if it is known.
  ///   - isInUse: true if the object is being used, for a check of code that may change threads.
  ///   - advice: the last part of the message. Its argument is the place of the first use, if it is known.
  @inline(never) @usableFromInline mutating func moved(
    _ name: @autoclosure () -> String, madeAt made: @autoclosure () -> SourcePlace? = nil, isInUse: Bool = false,
    _ advice: (UsePlace?) -> String
  ) {
    let isFirst = thread == 0
    thread = currentThread()
    guard !isGated else { return }
    let isInTask = Self.isInTask
    let domain = Self.domainHere
    let place = domain.map { ObjectIdentifier($0.reference) }
    if place == nil, home == nil, maker != 0, maker != CurrentDomain.threadNumber, CurrentDomain.hasLoop(maker) {
      ThreadTrap.stop(
        name(), "touched on a thread that does not run the loop on which it was made", madeAt: made(), nil, advice(nil))
    }
    if place != home, isOfClosedLoop {
      guard !isInUse else { Self.haltInUse(name(), madeAt: made()) }
      return
    }
    if isFirst {
      settle(in: domain, isInTask)
      isOnLoop = domain.map { $0.reference !== $0 } ?? false
      isOfMainQueue = (domain.map { $0.isOnQueue || $0.isForAnyThread } ?? true) && MainQueueCode.isRunning
      return
    }
    // Don't compare lanes: the main queue runs one piece of code at a time.
    let isOnMainQueue = isOfMainQueue && MainQueueCode.isRunning
    if isOnMainQueue || place == home && (place != nil || isOfTask || isInTask) {
      // Code outside of tasks made the object. A task and that code never belong to the same actor, except on the main
      // queue.
      let isShared = maker != 0 && place == nil && !isOnMainQueue && isOfTask != isInTask
      guard !isInUse, !isShared else { Self.haltInUse(name(), madeAt: made()) }
      return
    }
    if isOfTask, home == nil, maker == 0 {
      // A task may build a stream and then hand it over to a loop.
      settle(in: domain, isInTask)
      return
    }
    if isInVirtualTime, place == nil, isOfTask, isInTask, let home, !CurrentDomain.isAdvancing(home) {
      guard !isInUse else { Self.haltInUse(name(), madeAt: made()) }
      return
    }
    let first = firstUse
    ThreadTrap.stop(
      name(), "touched on a different thread than before", madeAt: made(), first?.rawValue, advice(first))
  }

  private mutating func settle(in domain: (any StreamDomain)?, _ isInTask: Bool) {
    home = domain.map { ObjectIdentifier($0.reference) }
    isInVirtualTime = domain?.isVirtual ?? false
    isOfTask = isInTask
    #if DEBUG
      firstUse = .here
    #endif
  }

  private var isOfClosedLoop: Bool { isOnLoop && home.map { !CurrentDomain.isOpen($0) } ?? false }

  /// Stops the program because of simultaneous use. Such use isn't always detected, because the threads don't wait for
  /// each other.
  private static func haltInUse(_ name: String, madeAt made: SourcePlace?) -> Never {
    ThreadTrap.stop(
      name, "touched while another thread was using it", madeAt: made, nil,
      """
      Let one actor use it: write the tasks as Task { @MainActor in … }, or make an EventLoop and send with subject.sender(on: loop). \
      The compiler finds such tasks in the Swift 6 language mode.
      """)
  }

  static var isInTask: Bool { withUnsafeCurrentTask { $0 != nil } }

  /// The home of the calling code. In a task, a loop that doesn't run now is ignored, because a task may change threads.
  static var domainHere: (any StreamDomain)? { CurrentDomain.get() ?? (isInTask ? nil : CurrentDomain.resting()) }

  /// The number of the calling task, which no other task of the process gets; `nil` outside tasks. (Another task may get
  /// an ended task's address, from which Swift computes `hashValue`.)
  static var currentTask: UInt64? {
    withUnsafeCurrentTask { $0.map { swiftTaskNumber(unsafeBitCast($0, to: UnsafeRawPointer.self)) } }
  }

  @usableFromInline static let adviceOnSchedulers = """
    A stream can change threads only with a DispatchQueue, an OperationQueue, RunLoop.main, or a scheduler that declares \
    usesOtherThreads. If this scheduler runs its work on other threads, declare that: extension MyScheduler { public \
    static var usesOtherThreads: Bool { true } }. If it runs its work on one thread, as a RunLoop does, subscribe to \
    the stream on that thread. If it is an EventLoop, and a publisher above delivers on a queue or on its own threads, \
    write .receive(on: loop) directly above this operator.
    """

  private static let adviceOnRequests = """
    An operator below, such as flatMap(maxPublishers:), requested another value, because a publisher that it waited for had delivered \
    on a queue. A subject that keeps values can deliver them only on its own thread: write .receive(on: DispatchQueue.main) directly \
    below that publisher, or make an EventLoop on this thread before the stream, and call its run() last.
    """
}

/// Identifies the calling thread; never 0.
@inlinable @inline(__always) package func currentThread() -> UInt { cthread_self() }

/// Detects code that runs on the main queue.
enum MainQueueCode {
  /// True on the main thread outside all queues, and in code on the main queue or on a queue that targets it, whichever
  /// thread runs that code.
  static var isRunning: Bool {
    currentQueueLabel(nil).map { strcmp($0, "com.apple.main-thread") == 0 } ?? false || specific(mark) != nil
  }

  /// The label of the queue whose code the calling thread runs; a default queue's if it runs none.
  static var queueLabel: String { currentQueueLabel(nil).map { String(cString: $0) } ?? "" }

  /// Runs `action` on the main queue, if something serves that queue.
  static func run(_ action: @escaping () -> Void) {
    let work = Unmanaged.passRetained(Work(action: action)).toOpaque()
    asyncFunction(cthread_main_queue(), work) { work in
      if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().action() }
    }
  }

  private final class Work {
    let action: () -> Void
    init(action: @escaping () -> Void) { self.action = action }
  }

  /// The key of a value that is set on the main queue. Code on queues that target the main queue finds the value, too.
  // Written once, and never read: only its address matters.
  nonisolated(unsafe) private static let mark: UnsafeMutableRawPointer = {
    let mark = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
    setSpecific(cthread_main_queue(), mark, mark, nil)
    return mark
  }()
}

// Declared here, because this part of the library doesn't import Dispatch. With `nil`, the first function returns the
// label of the current queue. The last one looks in the current queue and in the queues that it targets.
@_silgen_name("dispatch_queue_get_label")
private func currentQueueLabel(_ queue: UnsafeRawPointer?) -> UnsafePointer<CChar>?

@_silgen_name("dispatch_queue_set_specific")
private func setSpecific(
  _ queue: UnsafeMutableRawPointer, _ key: UnsafeRawPointer, _ value: UnsafeMutableRawPointer?,
  _ destroy: UnsafeRawPointer?)

@_silgen_name("dispatch_async_f")
private func asyncFunction(
  _ queue: UnsafeMutableRawPointer, _ context: UnsafeMutableRawPointer?,
  _ work: @convention(c) (UnsafeMutableRawPointer?) -> Void)

@_silgen_name("dispatch_get_specific")
private func specific(_ key: UnsafeRawPointer) -> UnsafeMutableRawPointer?

// Exported by Swift's concurrency library for debuggers.
@_silgen_name("swift_task_getJobTaskId") private func swiftTaskNumber(_ task: UnsafeRawPointer) -> UInt64
