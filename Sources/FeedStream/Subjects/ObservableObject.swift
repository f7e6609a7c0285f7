/// A class that signals before it changes.
///
/// A class with ``Published`` properties need not do anything: its ``objectWillChange`` signals before any of them is
/// set.
public protocol ObservableObject: AnyObject {
  associatedtype ObjectWillChangePublisher: Publisher = ObservableObjectPublisher
  where ObjectWillChangePublisher.Failure == Never

  /// Signals before the object changes.
  var objectWillChange: ObjectWillChangePublisher { get }
}

extension ObservableObject where ObjectWillChangePublisher == ObservableObjectPublisher {
  /// Signals before a ``Published`` property is set; one publisher for all properties, including those of superclasses.
  ///
  /// An object without such properties gets a new publisher on each call.
  public var objectWillChange: ObservableObjectPublisher {
    var properties: [any ObservedProperty] = []
    var mirror: Mirror? = Mirror(reflecting: self)
    while let level = mirror {
      properties += level.children.compactMap { $0.value as? any ObservedProperty }
      mirror = level.superclassMirror
    }
    let publisher = properties.lazy.compactMap(\.objectWillChange).first ?? ObservableObjectPublisher()
    for property in properties { property.objectWillChange = publisher }
    return publisher
  }
}

/// Signals that an object is about to change. It never completes.
///
///     send()      --x--x--
///     subscriber  --x--x--
///
/// **Demand, policy:** a subscriber that has not requested a signal misses it. **Failure:** none. **Cancellation:** a
/// subscriber cancels its own subscription only.
public final class ObservableObjectPublisher: Publisher {
  public typealias Output = Void
  public typealias Failure = Never

  @usableFromInline let conduits = SubscriberList<Void, Never>("ObservableObjectPublisher")

  public init() {}

  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Void, S.Failure == Never {
    conduits.add(subscriber, to: self)
  }

  /// Signals to the subscribers.
  @inlinable public func send() { _ = conduits.send(()) }
}

private protocol ObservedProperty {
  var objectWillChange: ObservableObjectPublisher? { get nonmutating set }
}

extension Published: ObservedProperty {
  fileprivate var objectWillChange: ObservableObjectPublisher? {
    get { state.objectWillChange }
    nonmutating set { state.objectWillChange = newValue }
  }
}
