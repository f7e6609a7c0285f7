/// The base class of this library's subscriptions: the single entry point for requests and cancellation.
///
/// `request(_:)` and `cancel()` are final. They check that the stream is used on its own thread and that the demand is
/// more than zero (`CONTRACT.md`, rules 1 and 3); no subclass can skip these checks. A subclass implements the effects
/// of a request and a cancellation. Other modules of this package, which cannot subclass this class, use
/// ``PullSubscription``, ``ResultSubscription`` and ``CancellationSubscription``.
@usableFromInline
package class GuardedSubscription: Subscription, CustomStringConvertible, CustomPlaygroundDisplayConvertible,
  CustomReflectable
{
  @exclusivity(unchecked) @usableFromInline final var confinement = Confinement()
  /// The gate of a stage that takes events from several publishers, which may deliver on different threads. Requests
  /// and the cancellation enter this gate, too. `nil` for other stages.
  @exclusivity(unchecked) @usableFromInline final var joint: (any EntryGate)?

  @inlinable init() {}

  // MARK: For subclasses

  /// Handles a request from the subscriber.
  @usableFromInline func requested(_ demand: Subscribers.Demand) {}

  /// Handles the subscriber's cancellation.
  @usableFromInline func cancelled() {}

  /// True if a request for zero values does not trap, as in Combine: the request is passed on to the publisher that
  /// serves it, or ignored.
  @usableFromInline var takesNone: Bool { false }

  /// True if any thread may request values, and a request made in upstream's home takes effect before it returns.
  @usableFromInline var takesRequestsAnywhere: Bool { false }

  /// Decides what a cancellation may touch; `nil` if upstream delivers only in the stream's home.
  @usableFromInline var cancellationGate: (any CancellationGate)? { nil }

  /// Handles the subscriber's cancellation on a thread that must not touch this stage, because upstream delivers on
  /// another thread.
  @usableFromInline func cancelledFromElsewhere() { cancellationGate?.cancelUpstream() }

  /// False if the subscription's publisher, or one above it, may deliver on any thread.
  @usableFromInline package var _isConfined: Bool { true }

  /// The gate through which events from several threads enter one at a time, at this subscription or above it.
  @usableFromInline package var gateAbove: (any EntryGate)? {
    guard let joint else { return cancellationGate?.gateAbove }
    return joint.isHomed ? nil : joint
  }

  /// Called before the first request if the subscriber is a stage that takes events from several publishers through
  /// `gate`, and if that stage has no home, or a home that another thread runs. A subject above then sends its values
  /// through the gate, and accepts requests and cancellations from other threads. A stage without a gate of its own
  /// passes the call on to its upstream.
  @usableFromInline func joined(by gate: any EntryGate) {}

  /// Reports the upstreams, the subscriber, and the held values to the map. Called on the stream's thread only.
  @usableFromInline func tell(_ facts: inout StreamFacts) {}

  // MARK: The subscriber's side

  @usableFromInline package final func request(_ demand: Subscribers.Demand) {
    if !confinement.isFree { confinement.check(self, .request) }
    if demand == .none, !takesNone { demand.assertPositive(self) }
    guard let joint else { return requested(demand) }
    guard joint.enter() else { return joint.perform { [self] in requested(demand) } }
    requested(demand)
    joint.leave()
  }

  @usableFromInline package final func cancel() {
    if !confinement.isFree { confinement.check(self, .cancel) }
    if let joint { return cancel(through: joint) }
    guard let gate = cancellationGate else { return cancelled() }
    if !gate.touch(cancelled) { cancelledFromElsewhere() }
  }

  private func cancel(through joint: any EntryGate) {
    guard joint.enter() else { return joint.revoke { [self] in cancelled() } }
    cancelled()
    joint.leave()
  }

  // MARK: Descriptions

  @usableFromInline package var combineIdentifier: CombineIdentifier { CombineIdentifier(self) }
  @usableFromInline package var description: String { operatorName(of: type(of: self)) }
  @usableFromInline package final var playgroundDescription: Any { description }
  @usableFromInline package var customMirror: Mirror { mirror([:]) }

  /// A mirror with `children`, but without the properties that every subscription has.
  final func mirror(_ children: KeyValuePairs<String, Any>) -> Mirror {
    Mirror(self, children: children, ancestorRepresentation: .suppressed)
  }
}

/// Decides what a cancellation may touch in a stream whose upstream may deliver on any thread.
@usableFromInline protocol CancellationGate: AnyObject {
  /// Called when the stream is cancelled. Runs `cancel`, unless another thread may be using the stream.
  ///
  /// - Returns: false if `cancel` was not run.
  func touch(_ cancel: () -> Void) -> Bool

  /// Cancels upstream. Safe to use from any thread.
  func cancelUpstream()

  /// The gate through which upstream's events arrive, if several threads take turns entering it.
  var gateAbove: (any EntryGate)? { get }

  /// True if no event has arrived on another thread.
  var mayBeRead: Bool { get }
}

/// Admits one thread at a time.
@usableFromInline package protocol EntryGate: AnyObject {
  /// - Returns: true when the calling thread may use what the gate protects; call `leave()` afterwards.
  func enter() -> Bool
  func leave()
  /// Runs `action` as soon as it may enter the gate, unless the stage has been cancelled by then.
  func perform(_ action: @escaping () -> Void)
  /// Runs `cancel` as soon as it may enter the gate, and drops the waiting actions.
  func revoke(_ cancel: @escaping () -> Void)
  /// True if everything that the gate protects happens in one home, even when other threads make the calls.
  var isHomed: Bool { get }
  /// True if the gate moves requests and cancellations to where they belong, whichever thread makes them.
  var takesAnyThread: Bool { get }
  /// True if the calling thread isn't the one that runs what the gate protects: a subject that lives on the calling
  /// thread then sends its values through the gate.
  var isAway: Bool { get }
}

extension EntryGate {
  @usableFromInline package var isAway: Bool { !isHomed }
}

extension Subscription {
  /// Tells the subscription that its subscriber takes events through `gate`; see
  /// ``GuardedSubscription/joined(by:)``.
  @inline(never) @usableFromInline func join(_ gate: any EntryGate) {
    if gate.isAway { (self as? GuardedSubscription)?.joined(by: gate) }
  }
}

/// A subscription that passes on the events of a gate above it; see ``GuardedSubscription/gateAbove``.
@usableFromInline package protocol GateBearer {
  var gateAbove: (any EntryGate)? { get }
}

extension GuardedSubscription: GateBearer {}

/// The operator's name for messages: "DropWhileStage<Int, Never>" becomes "DropWhile".
@usableFromInline func operatorName(of type: Any.Type) -> String {
  let name = String(describing: type).prefix { $0 != "<" }
  return name.hasSuffix("Stage") ? String(name.dropLast(5)) : String(name)
}
