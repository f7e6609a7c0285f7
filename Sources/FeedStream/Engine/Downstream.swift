/// A subscriber with its type erased to closures.
///
/// They are formed here, in an inlinable function that knows the concrete subscriber, and so are specialized; a call
/// through `any Subscriber` or a generic class's vtable never is (DESIGN, section 4). `next` is the hot path; `end` and
/// `begin` are called once in a subscription's life, and apart, because an enum of what they carry would be copied on the
/// way, and its type looked up wherever it is not known.
@frozen
@usableFromInline
struct Downstream<Input, Failure: Error> {
  @usableFromInline
  let next: (Input) -> Subscribers.Demand
  @usableFromInline
  let end: (Subscribers.Completion<Failure>) -> Void
  @usableFromInline
  let begin: (any Subscription) -> Void
  /// The subscriber, or a ``SubscriberHolder`` with it.
  @usableFromInline
  let holder: AnyObject

  /// Made of closures; goes by `name`.
  @usableFromInline
  init(
    _ name: String, next: @escaping (Input) -> Subscribers.Demand,
    end: @escaping (Subscribers.Completion<Failure>) -> Void, begin: @escaping (any Subscription) -> Void
  ) {
    self.next = next
    self.end = end
    self.begin = begin
    holder = NameHolder(name)
  }

  @inlinable
  init<S: Subscriber>(_ subscriber: S) where S.Input == Input, S.Failure == Failure {
    if let link = subscriber as? Link<Input, Failure> {
      // Erased before. Known at compile time where this is specialized.
      self = link.downstream
    } else if S.self is AnyObject.Type {
      // A closure that captures one object needs no context of its own.
      next = { subscriber.receive($0) }
      end = { subscriber.receive(completion: $0) }
      begin = { subscriber.receive(subscription: $0) }
      // Right because it is one, as was asked just now; a cast would look for a bridge first.
      holder = unsafeBitCast(subscriber, to: AnyObject.self)
    } else {
      // One box for all closures, and no other context.
      let box = SubscriberBox(subscriber)
      next = { box.subscriber.receive($0) }
      end = { box.subscriber.receive(completion: $0) }
      begin = { box.subscriber.receive(subscription: $0) }
      holder = box
    }
  }

  @inlinable
  @inline(never)
  func receive(subscription: any Subscription) { begin(subscription) }

  @inlinable
  @inline(never)
  func receive(completion: Subscribers.Completion<Failure>) { end(completion) }

  @usableFromInline
  var subscriber: Any { (holder as? SubscriberHolder)?.held ?? holder }

  /// What the subscriber says of itself, or else the name of its type.
  @usableFromInline
  var label: String {
    let subscriber = self.subscriber
    return (subscriber as? any CustomStringConvertible)?.description ?? String(describing: type(of: subscriber))
  }
}

/// Holds what a ``Downstream`` was made of, when that is not an object itself.
@usableFromInline
class SubscriberHolder {
  @inlinable
  init() {}

  /// The subscriber, for descriptions and mirrors.
  @usableFromInline
  var held: Any { () }
}

@usableFromInline
final class SubscriberBox<S: Subscriber>: SubscriberHolder {
  @usableFromInline
  let subscriber: S

  @inlinable
  init(_ subscriber: S) { self.subscriber = subscriber }

  @usableFromInline
  override var held: Any { subscriber }
}

private final class NameHolder: SubscriberHolder {
  private let name: String

  init(_ name: String) { self.name = name }

  override var held: Any { name }
}

/// The way back: a subscriber made of an erased one, where a chain's nesting of types starts afresh.
@frozen
@usableFromInline
struct Link<Input, Failure: Error>: Subscriber, CustomStringConvertible {
  @usableFromInline
  let downstream: Downstream<Input, Failure>

  @inlinable
  init(_ downstream: Downstream<Input, Failure>) { self.downstream = downstream }

  @inlinable
  func receive(subscription: any Subscription) { downstream.receive(subscription: subscription) }
  @inlinable
  func receive(_ input: Input) -> Subscribers.Demand { downstream.next(input) }
  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) { downstream.receive(completion: completion) }

  @usableFromInline
  var combineIdentifier: CombineIdentifier {
    (downstream.subscriber as? any CustomCombineIdentifierConvertible)?.combineIdentifier ?? CombineIdentifier()
  }
  @usableFromInline
  var description: String { downstream.label }
}

extension Subscribers {
  /// How many stateless operators nest their types before one erases its downstream.
  ///
  /// Deeper nesting defeats the optimizer: 16 alternating `map`s and `filter`s cost 31 ns a value with a limit of four,
  /// 51 ns without fusion, and chains of eight of one kind fall off a cliff without a limit.
  @inlinable
  public static var fusionLimit: Int { @inline(__always) get { 3 } }
}
