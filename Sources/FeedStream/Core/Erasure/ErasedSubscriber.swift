/// A subscriber with its type erased: the object that holds it, and its methods as functions that take that object.
///
/// The nesting of a chain's types starts over here.
@frozen @usableFromInline struct ErasedSubscriber<Input, Failure: Error>: Subscriber, CustomStringConvertible {
  /// The subscriber itself, or a ``SubscriberHolder`` that holds it.
  @usableFromInline let holder: AnyObject
  @usableFromInline let methods: SubscriberMethods<Input, Failure>

  @inlinable init<S: Subscriber>(_ subscriber: S) where S.Input == Input, S.Failure == Failure {
    if let erased = subscriber as? Self {
      // `subscriber` is already erased. The compiler resolves this check where the initializer is specialized.
      self = erased
    } else if LiveMap.isOn {
      self = Self.counting(subscriber)
    } else if S.self is AnyObject.Type {
      // Safe because the type was checked just above; a cast would first look for a bridged type.
      holder = unsafeBitCast(subscriber, to: AnyObject.self)
      methods = SubscriberMethods(ofObject: S.self)
    } else {
      holder = SubscriberBox(subscriber)
      methods = SubscriberMethods(of: SubscriberBox<S>.self)
    }
  }

  @inlinable init(_ holder: AnyObject, _ methods: SubscriberMethods<Input, Failure>) {
    self.holder = holder
    self.methods = methods
  }

  /// Erases the type of `subscriber`, and counts the events that arrive at it.
  @inlinable @inline(never)
  static func counting<S: Subscriber>(_ subscriber: S) -> Self where S.Input == Input, S.Failure == Failure {
    Self(TallyBox(subscriber), SubscriberMethods(counting: TallyBox<S>.self))
  }

  @inlinable @inline(__always) func receive(_ input: Input) -> Subscribers.Demand { methods.next(holder, input) }

  // Always inlined: unspecialized code would look up the type of this subscriber for each call.
  @inlinable @inline(__always)
  func receive(subscription: any Subscription) { methods.begin(holder, subscription) }

  /// Delivers a stage. Unspecialized code would look up the type of a generic stage to pass it as `any Subscription`.
  @inlinable @inline(__always)
  func receive(subscription: GuardedSubscription) { methods.begin(holder, subscription) }

  @inlinable @inline(__always)
  func receive(completion: Subscribers.Completion<Failure>) { methods.end(holder, completion) }

  @usableFromInline var subscriber: Any { (holder as? SubscriberHolder)?.held ?? holder }

  @usableFromInline var combineIdentifier: CombineIdentifier {
    (subscriber as? any CustomCombineIdentifierConvertible)?.combineIdentifier ?? CombineIdentifier()
  }

  /// The subscriber's own description, or else the name of its type.
  @usableFromInline var description: String {
    let subscriber = self.subscriber
    return (subscriber as? any CustomStringConvertible)?.description ?? String(describing: type(of: subscriber))
  }
}

/// A subscriber's methods as functions. They take the object that is the subscriber or holds it.
///
/// They are created here, in an inlinable function where the subscriber's concrete type is known, so that they are
/// specialized; a call through `any Subscriber` or a generic class's vtable never is. They capture nothing: with
/// closures that capture the object, passing on or releasing an erased subscriber would change three more reference
/// counts. `next` is the hot path. `end` and `begin` are called once per subscription. They are two functions rather
/// than one that takes an enum, because the enum would be copied, and its type would be looked up wherever it is
/// unknown.
@frozen @usableFromInline struct SubscriberMethods<Input, Failure: Error> {
  @usableFromInline let next: (AnyObject, Input) -> Subscribers.Demand
  @usableFromInline let end: (AnyObject, Subscribers.Completion<Failure>) -> Void
  @usableFromInline let begin: (AnyObject, any Subscription) -> Void

  /// The methods of a subscriber that a `Holder` holds.
  @inlinable init<Holder: SubscriberHolding>(of holder: Holder.Type)
  where Holder.Target.Input == Input, Holder.Target.Failure == Failure {
    next = { unsafeDowncast($0, to: Holder.self).target.receive($1) }
    end = { unsafeDowncast($0, to: Holder.self).target.receive(completion: $1) }
    begin = { unsafeDowncast($0, to: Holder.self).target.receive(subscription: $1) }
  }

  /// The methods of a subscriber of type `S`, which must be a class.
  @inlinable init<S: Subscriber>(ofObject subscriber: S.Type) where S.Input == Input, S.Failure == Failure {
    next = { _unsafeReferenceCast($0, to: S.self).receive($1) }
    end = { _unsafeReferenceCast($0, to: S.self).receive(completion: $1) }
    begin = { _unsafeReferenceCast($0, to: S.self).receive(subscription: $1) }
  }
}

/// An object that holds a subscriber without being one.
@usableFromInline protocol SubscriberHolding: AnyObject {
  associatedtype Target: Subscriber
  var target: Target { get }
}

/// Holds the subscriber of an ``ErasedSubscriber`` if the subscriber is not an object itself.
@usableFromInline class SubscriberHolder {
  @inlinable init() {}

  /// The subscriber, for descriptions and mirrors.
  @usableFromInline var held: Any { () }
}

@usableFromInline final class SubscriberBox<S: Subscriber>: SubscriberHolder, SubscriberHolding {
  @usableFromInline let target: S

  @inlinable init(_ target: S) { self.target = target }

  override var held: Any { target }
}

extension Subscribers {
  /// The number of stateless operators that nest their types before one erases its downstream.
  ///
  /// Nesting makes chains faster: when the limit was four, 16 alternating `map`s and `filter`s took 31 ns per value,
  /// compared with 51 ns without nesting. But deeper nesting defeats the optimizer: without a limit, a chain of eight
  /// operators of one kind is many times slower.
  @inlinable public static var fusionLimit: Int { @inline(__always) get { 3 } }
}
