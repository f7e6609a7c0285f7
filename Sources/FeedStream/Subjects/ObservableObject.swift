/// A class whose objects signal before they change.
///
/// A class with ``Published`` properties needs no code for this, unless it has a mirror of its own: its
/// ``objectWillChange`` signals before any of them is set.
public protocol ObservableObject: AnyObject {
  associatedtype ObjectWillChangePublisher: Publisher = ObservableObjectPublisher
  where ObjectWillChangePublisher.Failure == Never

  /// Signals before the object changes.
  var objectWillChange: ObjectWillChangePublisher { get }
}

extension ObservableObject where ObjectWillChangePublisher == ObservableObjectPublisher {
  /// Signals before a ``Published`` property is set; one publisher serves all properties, including those of
  /// superclasses.
  ///
  /// An object without such properties has a publisher too; the object's own code must call its
  /// ``ObservableObjectPublisher/send()``. A class with a mirror of its own (`CustomReflectable`) must do so too, for
  /// each property whose storage (`_name`) isn't one of the mirror's children.
  public var objectWillChange: ObservableObjectPublisher {
    var properties: [any ObservedProperty] = []
    var mirror: Mirror? = Mirror(reflecting: self)
    while let level = mirror {
      properties += level.children.compactMap { $0.value as? any ObservedProperty }
      mirror = level.superclassMirror
    }
    if properties.isEmpty { return ObjectPublishers.publisher(of: self) }
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
/// subscriber cancels only its own subscription.
public final class ObservableObjectPublisher: Publisher, _DeliversAtHome {
  public typealias Output = Void
  public typealias Failure = Never

  @usableFromInline let conduits = SubscriberList<Void, Never>("ObservableObjectPublisher")

  public init() {}

  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Void, S.Failure == Never {
    conduits.add(subscriber, to: self)
  }

  /// Sends a signal to the subscribers.
  @inlinable public func send() { _ = conduits.send(()) }
}

/// The publishers of objects that have no ``Published`` property to store them.
private enum ObjectPublishers {
  // @unchecked: the table only stores the publishers. Each publisher is used only where its object is used.
  private struct Table: @unchecked Sendable {
    struct Entry {
      weak var object: AnyObject?
      let publisher: ObservableObjectPublisher
    }
    var entries: [ObjectIdentifier: Entry] = [:]
    /// The number of entries at which the entries of released objects are removed.
    var limit = 64
  }

  private static let table = Locked(Table())

  static func publisher(of object: AnyObject) -> ObservableObjectPublisher {
    let key = ObjectIdentifier(object)
    // Objects are released only outside of the lock, because releasing them may run code that calls this function.
    let (publisher, _) = table.withLock { table in
      var released: [Any?] = []
      // A new object at the address of a released one gets its own publisher.
      if let entry = table.entries[key], entry.object != nil {
        return Carried(uncheckedly: (entry.publisher, released))
      }
      if table.entries.count >= table.limit {
        // The check retains each object for a moment. An object that its own thread releases at that moment is
        // deallocated on this thread.
        for (key, entry) in table.entries {
          let object = entry.object
          released.append(object)
          if object == nil { released.append(table.entries.removeValue(forKey: key)) }
        }
        table.limit = max(64, 2 * table.entries.count)
      }
      let publisher = ObservableObjectPublisher()
      released.append(table.entries.updateValue(Table.Entry(object: object, publisher: publisher), forKey: key))
      return Carried(uncheckedly: (publisher, released))
    }.value
    return publisher
  }
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
