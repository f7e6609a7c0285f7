import CLibrary
import Synchronization

/// A home of streams: an event loop, virtual time, or a `SerialLane`.
package protocol StreamDomain: AnyObject, Sendable {
  /// True when the calling thread may use objects that live here.
  var isHere: Bool { get }

  /// True if the domain may run on any thread, one thread at a time, so that code on any thread may use objects that
  /// live here. A closed loop's objects may be released anywhere.
  var isForAnyThread: Bool { get }

  /// True for virtual time: while it doesn't advance, the task of a test may use its streams from any thread.
  var isVirtual: Bool { get }

  /// True for a loop that the program has released without closing it.
  var isReleased: Bool { get }

  /// The reference that streams keep to the domain: for a loop, its entrance, so that streams don't keep the loop
  /// alive.
  var reference: any StreamDomain { get }

  /// The domain that `reference` refers to. Read it on the domain's thread only.
  var domainHere: any StreamDomain { get }

  /// True if a queue, possibly the main queue, runs the domain's work.
  var isOnQueue: Bool { get }

  /// Schedules `action` to run here; drops it without a warning if the domain is closed. Safe to use from any thread.
  func bring(_ action: @escaping @Sendable () -> Void)

  /// Does the same as `bring(_:)`, but actions run in the order of the calls, even if different threads make the calls.
  func bringInOrder(_ action: @escaping @Sendable () -> Void)

  /// Schedules `cancel`, which cancels or releases something, as `bring(_:)` does. If the domain is closed, the thread
  /// that finds it closed runs `cancel`; only one such call runs at a time. Safe to use from any thread.
  func bringCancellation(_ cancel: @escaping @Sendable () -> Void)

  /// The subscriptions that live here, for warnings; `nil` if they aren't checked.
  var subscriptions: LiveSubscriptions? { get }

  /// The executor of the tasks that an operator starts; `nil` for the global pool.
  var taskExecutor: (any TaskExecutor)? { get }

  /// Keeps the thread's loop running for a live stream that waits for an event, until `stopWaiting()` has been called
  /// the same number of times. Call it on this thread only.
  func beginWaiting()
  func stopWaiting()

  /// Keeps the thread's loop running for a value in transit to `place`, until `letGo(_:)` has been called the same
  /// number of times. Safe to use from any thread.
  func hold(_ place: HoldingPlace)
  func letGo(_ place: HoldingPlace)

  /// The current time in nanoseconds; `nil` if there is no clock. Safe to use from any thread.
  var instant: Int64? { get }

  /// The name of the thread; `nil` if other threads can't read it. Safe to use from any thread.
  var knownName: String? { get }

  /// The name of the thread, for the map. Read it on this thread only.
  var label: String { get }

  /// Called on this thread when the map begins to show the domain's streams: from then on, a loop counts its turns.
  func mapBegan()

  /// Runs `action` when the domain closes permanently; `nil` removes the action. Call it on this thread only.
  func whenClosed(_ key: ObjectIdentifier, _ action: (() -> Void)?)

  /// Runs `subscribe`, which begins a separate stream, while the domain may be handing down the subscription of another
  /// stream. Call it on this thread only.
  func apart(_ subscribe: () -> Void)
}

extension StreamDomain {
  package func bringInOrder(_ action: @escaping @Sendable () -> Void) { bring(action) }
  package func bringCancellation(_ cancel: @escaping @Sendable () -> Void) { bring(cancel) }
  package var isForAnyThread: Bool { false }
  package var isVirtual: Bool { false }
  package var isReleased: Bool { false }
  package var reference: any StreamDomain { self }
  package var domainHere: any StreamDomain { self }
  package var isOnQueue: Bool { false }
  package var subscriptions: LiveSubscriptions? { nil }
  package var taskExecutor: (any TaskExecutor)? { nil }
  package var instant: Int64? { nil }
  package var knownName: String? { nil }
  package var label: String { "a scheduler" }
  package func mapBegan() {}
  package func beginWaiting() {}
  package func stopWaiting() {}
  package func hold(_ place: HoldingPlace) {}
  package func letGo(_ place: HoldingPlace) {}
  package func whenClosed(_ key: ObjectIdentifier, _ action: (() -> Void)?) {}
  package func apart(_ subscribe: () -> Void) { subscribe() }
}

/// The destination of a value in transit out of a loop.
package enum HoldingPlace: Sendable {
  /// The main queue, or a task, which may run on the main actor. While code on the main queue runs a loop, the main
  /// queue and the main actor wait until the loop returns.
  case mainQueueOrTask
  case queue
}

/// Checks that a stream stays in the domain where it was made (`CONTRACT.md`, rule 1). Without a domain, a
/// `SubjectConfinement` finds the stream's home. Costs nothing in release builds.
@usableFromInline struct Confinement {
  #if DEBUG
    // Weak: a check must not keep the loop alive.
    private weak var home: (any StreamDomain)?
    private var threads = SubjectConfinement()
    private var isAnywhere = false

    @usableFromInline init() { home = CurrentDomain.get() }
    init(home: any StreamDomain) { self.home = home }

    /// The confinement of a stream that any thread may use.
    static var anywhere: Self {
      var confinement = Self()
      confinement.isAnywhere = true
      return confinement
    }

    /// Makes the calling code's domain, where the subscription is being delivered, the stream's home.
    ///
    /// - Parameter gate: the stage's gate, if it has one. Any thread may request and cancel unless the stage lives on a
    ///   loop, because the gate moves requests and cancellations.
    @usableFromInline mutating func follow(_ gate: (any EntryGate)?) {
      self = gate?.takesAnyThread == true ? .anywhere : Confinement()
    }

    /// Lets any thread request values and cancel, because upstream may deliver on any thread. Has no effect if the
    /// stream has a home.
    @usableFromInline mutating func relax() { if home == nil { isAnywhere = true } }

    /// True if any thread may use the stream. Read this before ``check(_:_:)``, which several threads must not call at
    /// the same time.
    @usableFromInline var isFree: Bool {
      SubscriptionWatch.somethingHappens()
      return isAnywhere
    }

    @usableFromInline
    mutating func check(_ touched: @autoclosure () -> some CustomStringConvertible, _ use: StreamUse) {
      guard let home else {
        // Any thread may run a lane without a queue, but only one thread at a time does. Therefore, every thread that
        // runs a lane may use the operators above a join that has no home.
        if CurrentDomain.get()?.isForAnyThread != true { threads.check(use) { placed(touched()) } }
        return
      }
      guard !home.isHere, !home.isForAnyThread else { return }
      let name = placed(touched())
      let first = home.reference.knownName.map { "on the loop of \($0)" }
      ThreadTrap.stop(
        name, "touched on a thread that does not run its loop", madeAt: nil, first, ThreadTrap.advice(use, of: name))
    }
  #else
    @inlinable init() {}
    init(home: any StreamDomain) {}
    static var anywhere: Self { Self() }
    @inlinable @inline(__always) func follow(_ gate: (any EntryGate)?) {}
    @inlinable @inline(__always) func relax() {}
    @inlinable @inline(__always) var isFree: Bool { true }
    @inlinable @inline(__always)
    func check(_ touched: @autoclosure () -> some CustomStringConvertible, _ use: StreamUse) {}
  #endif
}

/// Finds the domain that the calling thread is running.
@usableFromInline package enum CurrentDomain {
  // Written once, by its initializer. The slot is reached through functions that are opaque to the optimizer. After a
  // suspension, a task may continue on another thread, where a cached address of a thread-local variable would be
  // wrong.
  private static let key = newSlot()

  @inline(never) package static func get() -> (any StreamDomain)? {
    pthread_getspecific(key).map { Unmanaged<Token>.fromOpaque($0).takeUnretainedValue().domain }
  }

  /// The loop that the calling thread owns, even if it isn't running.
  // Set once by the event loop's code, before the first loop exists.
  nonisolated(unsafe) static var resting: @Sendable () -> (any StreamDomain)? = { nil }

  /// True when the thread with this number owns a loop. Set together with `resting`, as is `isOpen`.
  nonisolated(unsafe) static var hasLoop: @Sendable (_ threadNumber: UInt) -> Bool = { _ in false }

  /// True if the loop with this `reference` is open.
  nonisolated(unsafe) static var isOpen: @Sendable (_ loop: ObjectIdentifier) -> Bool = { _ in false }

  /// True while a thread other than the calling one advances this virtual time. Set by the code of virtual time, before
  /// the first one exists.
  nonisolated(unsafe) package static var isAdvancing: @Sendable (_ virtualTime: ObjectIdentifier) -> Bool = { _ in
    false
  }

  /// The calling thread's number, which is unique in the process. The system, in contrast, reuses thread identifiers.
  static var threadNumber: UInt {
    if let number = pthread_getspecific(numbers) { return UInt(bitPattern: number) }
    let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    pthread_setspecific(numbers, UnsafeRawPointer(bitPattern: number))
    return number
  }

  private static let lastNumber = Atomic<UInt>(0)
  private static let numbers = newSlot()

  /// Makes `domain` the domain that the calling thread runs.
  ///
  /// - Returns: the token for ``leave(_:)``, which restores the thread's previous domain.
  package static func enter(_ domain: any StreamDomain) -> UnsafeMutableRawPointer? { enter(Token(domain)) }

  /// Makes the domain of `pass` the one that the calling thread runs. Intended for a domain that enters so often that
  /// it keeps its token.
  package static func enter(_ pass: Token) -> UnsafeMutableRawPointer? {
    let outer = pthread_getspecific(key)
    pthread_setspecific(key, Unmanaged.passRetained(pass).toOpaque())
    somethingHappens()
    return outer
  }

  /// Called when a domain begins or ends a piece of work.
  package static func somethingHappens() { if Warnings.watch { watch() } }

  @inline(never) private static func watch() {
    if Warnings.areOn { SubscriptionWatch.somethingHappens() }
    LiveMap.turnBegins()
  }

  /// Runs `subscribe`, which begins a separate stream. If another stream's subscription is being handed down, the new
  /// stream must not mistake that subscription's lane for its own.
  @inline(never) @usableFromInline static func apart(_ subscribe: () -> Void) {
    if let domain = get() { domain.apart(subscribe) } else { subscribe() }
  }

  /// True once the process has used a queue as a scheduler.
  @inline(never) @usableFromInline static var hasQueues: Bool { queues.load(ordering: .relaxed) }
  @usableFromInline static func noteQueue() { queues.store(true, ordering: .relaxed) }
  private static let queues = Atomic(false)

  /// Runs `body` outside any domain.
  static func outside(_ body: () -> Void) {
    let outer = pthread_getspecific(key)
    pthread_setspecific(key, nil)
    body()
    pthread_setspecific(key, outer)
  }

  package static func leave(_ outer: UnsafeMutableRawPointer?) {
    let inner = pthread_getspecific(key)
    pthread_setspecific(key, outer)
    inner.map { Unmanaged<Token>.fromOpaque($0).release() }
  }

  /// Holds the data that a thread needs about the domain that it runs. Does not retain the domain, which lives at least
  /// as long as the thread runs it.
  package final class Token: Sendable {
    fileprivate unowned let domain: any StreamDomain
    package init(_ domain: any StreamDomain) { self.domain = domain }
  }
}
