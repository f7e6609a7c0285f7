/// Publishes a property of a class: `$property` is its publisher.
///
///     final class Search {
///       @Published var text = ""
///     }
///     let search = Search()
///     let subscription = search.$text.sink { print($0) }     // "", then every new text
///     search.text = "sea"                                          // Prints "", "sea"
///
/// The publisher delivers a new value just before the property is set, so code that reads the property during the
/// delivery sees the old value. If a subscriber sets the property during the delivery, the newer value remains, and the
/// subscribers that haven't received the earlier value receive only the newer one. **Demand, policy:** as in
/// ``CurrentValueSubject``. **Confinement:** not `Sendable`, and neither is the class.
@propertyWrapper
public struct Published<Value> {
  @usableFromInline let state: PublishedState<Value>

  public init(wrappedValue: Value) { state = PublishedState(wrappedValue) }
  public init(initialValue: Value) { self.init(wrappedValue: initialValue) }

  /// The property's publisher.
  public var projectedValue: Publisher {
    get { Publisher(state: state) }
    // Needed for `assign(to: &$property)`, which writes the same publisher back.
    nonmutating set { _ = newValue }
  }

  @available(*, unavailable, message: "@Published can be used only on properties of classes")
  public var wrappedValue: Value {
    get { fatalError("@Published can be used only on properties of classes") }
    nonmutating set { fatalError("@Published can be used only on properties of classes") }
  }

  public static subscript<Owner: AnyObject>(
    _enclosingInstance owner: Owner,
    wrapped wrapped: ReferenceWritableKeyPath<Owner, Value>,
    storage storage: ReferenceWritableKeyPath<Owner, Published<Value>>
  ) -> Value {
    @inlinable get { owner[keyPath: storage].state.read() }
    @inlinable set { owner[keyPath: storage].state.set(newValue) }
  }

  /// Delivers a published property's value, and every new one just before it is set. It never completes.
  ///
  ///     property    a---b---c--
  ///     subscriber    a-b---c--
  ///
  /// **Demand, policy:** as in ``CurrentValueSubject``. **Failure:** none. **Cancellation:** a subscriber cancels only
  /// its own subscription.
  public struct Publisher: FeedStream.Publisher, _DeliversAtHome {
    public typealias Output = Value
    public typealias Failure = Never

    @usableFromInline let state: PublishedState<Value>

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Value, S.Failure == Never {
      state.subject.receive(subscriber: subscriber)
    }
  }
}

extension Publisher where Failure == Never {
  /// Assigns each value to a published property.
  ///
  ///     names.assign(to: &model.$name)
  ///
  ///     upstream    --a--b--|
  ///     property    --a--b----
  ///
  /// **Demand:** requests everything immediately. **Failure:** none. **Cancellation:** happens when the property's
  /// owner, and each `$property` that you keep, is released; there is no cancellable to keep. **Policy:** values that
  /// arrive after the release are not delivered.
  @inlinable public func assign(to published: inout Published<Output>.Publisher) {
    subscribe(PublishedSubscriber(published.state))
  }
}

/// The state that a published property and its publisher share.
@usableFromInline final class PublishedState<Value> {
  @usableFromInline let subject: CurrentValueSubject<Value, Never>
  @exclusivity(unchecked) @usableFromInline var value: Value
  @exclusivity(unchecked) @usableFromInline var changes = 0
  /// The owner's publisher, once it has been requested.
  @exclusivity(unchecked) @usableFromInline var objectWillChange: ObservableObjectPublisher?

  @usableFromInline init(_ value: Value) {
    self.value = value
    subject = CurrentValueSubject(value, of: "@Published", at: nil)
    subject.conduits.skipsOutdated = true
  }

  // Subscribers of the property keep the subject, but not this object, after its owner has been released.
  deinit { subject.conduits.upstreams.cancel() }

  @inlinable func read() -> Value {
    subject.conduits.checkReading()
    return value
  }

  @inlinable func set(_ newValue: Value) {
    // Send first: a subscriber may set this property, too, and that assignment is complete before this one begins.
    objectWillChange?.send()
    changes += 1
    let change = changes
    let _: Delivery = subject.send(newValue)
    // A subscriber may have set a newer value when it received this one.
    if changes == change { discard(exchange(&value, with: newValue)) }
  }
}

/// Sets a published property. The property retains the subscription until the completion, and cancels it on
/// deallocation.
@usableFromInline final class PublishedSubscriber<Input>: Subscriber {
  @usableFromInline typealias Failure = Never

  @usableFromInline weak var state: PublishedState<Input>?
  /// The subscription, which upstream may complete on one thread while another thread releases the property.
  private var upstream: UnconfinedUpstream?
  /// True after the completion. The property takes no more values from this subscriber.
  @exclusivity(unchecked) @usableFromInline var isOver = false

  @usableFromInline init(_ state: PublishedState<Input>) { self.state = state }

  @usableFromInline func receive(subscription: any Subscription) {
    guard self.upstream == nil, let subject = state?.subject else { return subscription.cancel() }
    let upstream = UnconfinedUpstream()
    self.upstream = upstream
    subject.send(subscription: upstream.attach(subscription))
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    if !isOver { state?.set(input) }
    return .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Never>) {
    guard let upstream else { return }
    isOver = true
    upstream.releaseUpstream()
  }
}
