import CLibrary
import Synchronization

/// A subscriber at the end of a chain, which reports whether events can still arrive.
@usableFromInline protocol LiveSubscriber: AnyObject {
  /// False after the completion and after a cancellation. Read it only on the stream's thread.
  var isLive: Bool { get }
  /// The lane in which the subscriber lives, if its values arrive on a queue.
  var lane: (any StreamLane)? { get }
  /// False while another thread may be storing the subscription. Don't read `upstream` then.
  var hasArrived: Bool { get }
  /// The subscriber's subscription, if it is an object, for the map. Read it only on the stream's thread.
  var upstream: AnyObject? { get }
  /// False if a publisher above, which may deliver on any thread, delivers on a thread other than the calling one.
  var mayBeRead: Bool { get }
}

extension LiveSubscriber {
  @usableFromInline var hasArrived: Bool { true }
  @usableFromInline var mayBeRead: Bool { true }
  /// True when the subscriber lives on a queue, and its values arrive there.
  var isOnQueue: Bool { lane != nil }
}

/// A subscriber whose `isLive` property any thread may read.
protocol LiveAnywhere: LiveSubscriber {
  /// True until the completion or the cancellation, even while nothing is awaited.
  var mayReceive: Bool { get }
}

/// Keeps track of the streams that are started on a loop, while warnings are on.
protocol StreamStarts: AnyObject {
  /// - Parameter watch: shows whether the subscriber has received anything.
  func note(_ subscriber: any LiveAnywhere, at place: String, _ watch: SubscriptionWatch?)
}

/// Watches a subscription that a method such as `sink` makes and returns, while warnings or the live map are on.
@usableFromInline final class SubscriptionWatch {
  let place: SourcePlace
  /// True when warnings are on; false when only the map is.
  @usableFromInline let warns = Warnings.areOn
  /// Counts arriving events while the map is on, unless another member counts them.
  private(set) var tally: Tally?
  /// True if an operator above has requested that the loop not wait for this subscription.
  private var isExpendable = false
  /// The watch of the enclosing subscription, while this one is being made.
  private var outer: UnsafeMutableRawPointer?
  private weak var subscriber: (any LiveSubscriber)?
  private let hasReceived = Atomic(false)
  private let hasAnyEvent = Atomic(false)
  private var madeAt = ContinuousClock.now
  private let thread = currentThread()
  /// True once the subscription has been made. Used only on the thread that makes it.
  private var isMade = false

  private init(_ place: SourcePlace) { self.place = place }

  /// Begins to watch the subscription that the caller is about to make; `nil` when warnings and the map are off.
  @inlinable @inline(__always)
  static func begin(_ file: StaticString, _ line: UInt) -> SubscriptionWatch? {
    Warnings.watch ? make(SourcePlace(file, line)) : nil
  }

  @inline(never) @usableFromInline static func make(_ place: SourcePlace) -> SubscriptionWatch {
    let watch = SubscriptionWatch(place)
    watch.outer = pthread_getspecific(Self.making)
    pthread_setspecific(Self.making, Unmanaged.passUnretained(watch).toOpaque())
    return watch
  }

  /// A function like `receiveValue` that also counts values. Not inlinable: an unspecialized closure passes the value
  /// on in place, whereas a specialized one would copy it to its own stack.
  @usableFromInline
  func counting<Input>(_ receiveValue: @escaping (Input) -> Void) -> (Input) -> Void {
    let tally = startCounting()
    return { value in
      guard tally.countIsCurrent() else { return Self.passing(value, to: receiveValue, tally) }
      receiveValue(value)
    }
  }

  /// Receives the first value of a turn. This is a separate function, so that the closure above saves no registers for
  /// it.
  @inline(never) private static func passing<Input>(_ value: Input, to receiveValue: (Input) -> Void, _ tally: Tally) {
    tally.stamp()
    receiveValue(value)
  }

  @usableFromInline @discardableResult func startCounting() -> Tally {
    let tally = Tally()
    self.tally = tally
    return tally
  }

  /// Called when the subscription has been made and the caller returns it.
  @inline(never) @usableFromInline func made(_ subscriber: any LiveSubscriber) {
    self.subscriber = subscriber
    pthread_setspecific(Self.making, outer)
    if LiveMap.isOn, subscriber.isOnQueue || subscriber.isLive {
      (subscriber.lane?.map ?? LiveMap.here()).add(subscriber, place, tally)
    }
    guard warns else { return }
    // Read the subscriber's properties only in its home. If the subscriber lives on a queue, this thread isn't its
    // home.
    guard subscriber.isOnQueue || subscriber.isLive else { return }
    pthread_setspecific(Self.latest, Unmanaged.passUnretained(self).toOpaque())
    madeAt = .now
    isMade = true
    if !isExpendable, !subscriber.isOnQueue {
      let domain = CurrentDomain.get() ?? CurrentDomain.resting()
      let subscriptions = domain == nil && !SubjectConfinement.isInTask ? .beforeLoop : domain?.subscriptions
      subscriptions?.add(subscriber, place, self)
    }
  }

  /// Called when the cancellable is released without having been cancelled.
  @inline(never) @usableFromInline func released() {
    guard pthread_getspecific(Self.latest) == Unmanaged.passUnretained(self).toOpaque() else { return }
    Self.somethingHappens()
    // The code may have waited for another thread in the meantime, without using streams on this one.
    guard !hasReceived.load(ordering: .relaxed), madeAt.duration(to: .now) < .milliseconds(250) else { return }
    guard let subscriber, subscriber.isOnQueue || subscriber.isLive else { return }
    Warnings.warn(
      .releasedAtOnce, at: "\(place)",
      """
      the subscription was released as soon as it was made, which cancels it; keep the cancellable that this call returns, for example with \
      .store(in: &cancellables)
      """)
  }

  /// Runs `cancel`, which cancels the subscription. A trap in it names the place where the subscription was made.
  @inline(never) func cancelling(_ cancel: () -> Void) {
    let outer = pthread_getspecific(Self.cancelled)
    pthread_setspecific(Self.cancelled, Unmanaged.passUnretained(self).toOpaque())
    cancel()
    pthread_setspecific(Self.cancelled, outer)
  }

  /// True when an event has arrived. Only a sink's watch records this. Safe to use from any thread.
  var hasEvents: Bool { hasAnyEvent.load(ordering: .relaxed) }

  /// Called when an event of the stream arrives, on any thread.
  func somethingArrives(isLast: Bool = false) {
    hasAnyEvent.store(true, ordering: .relaxed)
    // An event that arrives within the call that subscribes doesn't show that the caller kept the result.
    if isLast || thread != currentThread() || isMade { hasReceived.store(true, ordering: .relaxed) }
    if !isLast { tally?.note() }
    Self.somethingHappens()
  }

  // MARK: The thread's subscriptions

  // Written once, by their initializers. The slots hold addresses that are only compared, or only used while the watch
  // is being made.
  private static let making = CurrentDomain.newSlot()
  /// The watch of the subscription that was made most recently on this thread, if no stream has been used since.
  fileprivate static let latest = CurrentDomain.newSlot()
  /// The watch of the subscription that is being cancelled. The call that cancels it retains the watch.
  private static let cancelled = CurrentDomain.newSlot()

  /// The place of the subscription that this thread is making; `nil` while warnings and the map are off.
  static var placeBeingMade: SourcePlace? { place(in: making) }

  /// The place of the subscription that this thread is cancelling, if it is known.
  static var cancelledPlace: SourcePlace? { place(in: cancelled) }

  private static func place(in slot: pthread_key_t) -> SourcePlace? {
    pthread_getspecific(slot).map { Unmanaged<SubscriptionWatch>.fromOpaque($0).takeUnretainedValue().place }
  }

  /// Called when the stream that is being subscribed to does not keep its loop running.
  static func isNotWaitedFor() {
    guard Warnings.areOn, let watch = pthread_getspecific(making) else { return }
    // A call that is in progress retains the watch.
    Unmanaged<SubscriptionWatch>.fromOpaque(watch).takeUnretainedValue().isExpendable = true
  }

  /// Called when anything happens on this thread other than the release of the latest subscription.
  @usableFromInline static func somethingHappens() {
    if pthread_getspecific(latest) != nil { pthread_setspecific(latest, nil) }
  }
}

/// Detects that a handle, such as an ``OnLoop``, is released in the statement that makes it.
final class HandleWatch: Sendable {
  private let place: SourcePlace
  private let madeAt = ContinuousClock.now
  private let isUsed = Atomic(false)

  private init(_ place: SourcePlace) { self.place = place }

  /// Begins to watch the handle that the calling code is making; `nil` while warnings are off.
  static func begin(_ file: StaticString, _ line: UInt) -> HandleWatch? {
    guard Warnings.areOn else { return nil }
    let watch = HandleWatch(SourcePlace(file, line))
    pthread_setspecific(SubscriptionWatch.latest, Unmanaged.passUnretained(watch).toOpaque())
    return watch
  }

  /// Called when the loop makes the handle's state, and when the handle is used or cancelled, on any thread.
  func used() { isUsed.store(true, ordering: .relaxed) }

  /// Called when the handle is released.
  func released() {
    guard pthread_getspecific(SubscriptionWatch.latest) == Unmanaged.passUnretained(self).toOpaque() else { return }
    SubscriptionWatch.somethingHappens()
    guard !isUsed.load(ordering: .relaxed), madeAt.duration(to: .now) < .milliseconds(250) else { return }
    Warnings.warn(
      .releasedAtOnce, at: "\(place)",
      """
      the OnLoop was released as soon as it was made, which releases its state and cancels the subscriptions in it; keep the OnLoop that \
      this call returns, for example in a property
      """)
  }
}
