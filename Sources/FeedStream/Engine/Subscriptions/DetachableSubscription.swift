/// A stage's subscription for subscribers that retain it: once cancelled or completed, it releases the stage, and the
/// subscriber with it.
@usableFromInline
final class DetachableSubscription: Subscription, CustomStringConvertible, CustomPlaygroundDisplayConvertible,
  CustomReflectable
{
  private let name: StaticString
  @usableFromInline let combineIdentifier: CombineIdentifier
  @exclusivity(unchecked) private var stage: (any Subscription)?

  init(_ name: StaticString, _ stage: any Subscription) {
    self.name = name
    self.stage = stage
    combineIdentifier = stage.combineIdentifier
  }

  @usableFromInline func request(_ demand: Subscribers.Demand) { stage?.request(demand) }

  @usableFromInline func cancel() {
    stage.take()?.cancel()
  }

  @usableFromInline var _isConfined: Bool { stage?._isConfined ?? true }

  @usableFromInline func release() { stage = nil }

  @usableFromInline var description: String { "\(name)" }
  @usableFromInline var playgroundDescription: Any { description }
  @usableFromInline
  var customMirror: Mirror { stage.map { Mirror(reflecting: $0) } ?? Mirror(self, children: EmptyCollection()) }
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
