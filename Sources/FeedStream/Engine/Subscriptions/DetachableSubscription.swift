/// A stage's subscription for subscribers that retain it: once cancelled or completed, it releases the stage, and the
/// subscriber with it.
@usableFromInline
final class DetachableSubscription: Subscription, CustomStringConvertible, CustomPlaygroundDisplayConvertible,
  CustomReflectable
{
  private let name: StaticString
  @usableFromInline let combineIdentifier: CombineIdentifier
  /// Locked, because a stage below a user's publisher may complete on one thread while another thread cancels.
  private let held: Locked<(any Subscription)?>

  init(_ name: StaticString, _ stage: any Subscription) {
    self.name = name
    held = Locked(Carried(uncheckedly: stage).value)
    combineIdentifier = stage.combineIdentifier
  }

  @usableFromInline func request(_ demand: Subscribers.Demand) { stage?.request(demand) }

  @usableFromInline func cancel() { take()?.cancel() }

  @usableFromInline var _isConfined: Bool { stage?._isConfined ?? true }

  @usableFromInline func release() { _ = take() }

  private var stage: (any Subscription)? { held.withLock { Carried(uncheckedly: $0) }.value }
  private func take() -> (any Subscription)? { held.withLock { Carried(uncheckedly: $0.take()) }.value }

  @usableFromInline var description: String { "\(name)" }
  @usableFromInline var playgroundDescription: Any { description }
  @usableFromInline
  var customMirror: Mirror { stage.map { Mirror(reflecting: $0) } ?? Mirror(self, children: EmptyCollection()) }
}

extension DetachableSubscription: GateBearer {
  @usableFromInline package var gateAbove: (any EntryGate)? { (stage as? any GateBearer)?.gateAbove }
}

extension DetachableSubscription: MapMember {
  @usableFromInline func tell(_ facts: inout StreamFacts) {
    facts.isTransparent = true
    facts.upstreams = [stage].compactMap { $0 }
  }
}

extension DetachableSubscription: Traceable {
  @usableFromInline var below: Any { stage ?? () }
}
