/// Wraps a subscriber and reports its events to the observers. To all other code, the wrapper looks like the subscriber
/// itself.
final class Probe<Base: Subscriber>: Subscriber {
  let base: Base

  init(_ base: Base) { self.base = base }

  func receive(subscription: any Subscription) {
    Introspection.report { $0.willReceive(subscriber: base, subscription: subscription) }
    base.receive(subscription: ProbedSubscription(subscription))
    Introspection.report { $0.didReceive(subscriber: base, subscription: subscription) }
  }

  func receive(_ input: Base.Input) -> Subscribers.Demand {
    Introspection.report { $0.willReceive(subscriber: base, input: input) }
    let demand = base.receive(input)
    Introspection.report { $0.didReceive(subscriber: base, input: input, resultingDemand: demand) }
    return demand
  }

  func receive(completion: Subscribers.Completion<Base.Failure>) {
    Introspection.report { $0.willReceive(subscriber: base, completion: completion) }
    base.receive(completion: completion)
    Introspection.report { $0.didReceive(subscriber: base, completion: completion) }
  }

  var combineIdentifier: CombineIdentifier { base.combineIdentifier }
}

/// The subscription that a ``Probe`` passes on.
private final class ProbedSubscription: Subscription, MapMember {
  let base: any Subscription

  init(_ base: any Subscription) { self.base = base }

  func request(_ demand: Subscribers.Demand) {
    Introspection.report { $0.willRequest(subscription: base, demand) }
    base.request(demand)
    Introspection.report { $0.didRequest(subscription: base, demand) }
  }

  func cancel() {
    Introspection.report { $0.willCancel(subscription: base) }
    base.cancel()
    Introspection.report { $0.didCancel(subscription: base) }
  }

  var _isConfined: Bool { base._isConfined }

  var description: String { String(describing: base) }

  func tell(_ facts: inout StreamFacts) {
    facts.isTransparent = true
    facts.upstreams = [base]
  }

  var combineIdentifier: CombineIdentifier { base.combineIdentifier }
}

// MARK: - Disguise

/// A wrapper with the description of the wrapped object.
private protocol Disguise: CustomStringConvertible, CustomPlaygroundDisplayConvertible, CustomReflectable {
  associatedtype Base
  var base: Base { get }
}

extension Disguise {
  var description: String { String(describing: base) }
  var playgroundDescription: Any {
    (base as? any CustomPlaygroundDisplayConvertible)?.playgroundDescription ?? description
  }
  var customMirror: Mirror { Mirror(reflecting: base) }
}

extension Probe: Disguise {}
extension ProbedSubscription: Disguise {}

/// True when `subscriber` is a probe, type-erased or not.
func isWatched(_ subscriber: Any) -> Bool { unerased(subscriber) is any ProbeMark }

/// `subscriber` without its type erasure.
func unerased(_ subscriber: Any) -> Any {
  if let link = subscriber as? any ErasedLink { return unerased(link.below) }
  return subscriber
}

/// A non-generic protocol to which all probes conform.
private protocol ProbeMark {}
extension Probe: ProbeMark {}
