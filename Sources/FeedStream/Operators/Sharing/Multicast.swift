extension Publisher {
  /// Feeds all subscribers from one subscription to this publisher, through the subject that `createSubject` makes.
  ///
  ///     upstream           --1--2--3--|
  ///     connect()          ^
  ///     first subscriber   --1--2--3--|
  ///     second subscriber      -2--3--|
  ///
  /// Nothing happens until ``ConnectablePublisher/connect()``; each call subscribes to upstream again, through the
  /// same subject. **Demand:** a connection requests everything from upstream, once a subscriber has requested anything
  /// (with a ``CurrentValueSubject``, immediately); the subject decides what happens to a value that a subscriber has
  /// not requested. **Failure:** passes through. **Cancellation:** a subscriber cancels only its own subscription;
  /// cancelling the connection stops upstream, without a completion. **Policy:** the same as the subject's.
  ///
  /// - Parameter createSubject: runs once, when the subject is first needed.
  @inlinable public func multicast<S: Subject>(
    _ createSubject: @escaping () -> S
  ) -> Publishers.Multicast<Self, S> where S.Output == Output, S.Failure == Failure {
    Publishers.Multicast(upstream: self, createSubject: createSubject)
  }

  /// Feeds all subscribers from one subscription to this publisher, through `subject`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/multicast(_:)``.
  @inlinable public func multicast<S: Subject>(
    subject: S
  ) -> Publishers.Multicast<Self, S> where S.Output == Output, S.Failure == Failure {
    multicast { subject }
  }
}

extension Publisher where Failure == Never {
  /// Makes this publisher wait for ``ConnectablePublisher/connect()``, so that several subscribers can attach first.
  ///
  ///     upstream           --1--2--|
  ///     connect()          ^
  ///     each subscriber    --1--2--|
  ///
  /// **Demand, cancellation:** as in ``Publisher/multicast(_:)``. **Failure:** none. **Policy:** drops values that a
  /// subscriber has not requested, and reports them.
  @inlinable
  public func makeConnectable() -> Publishers.MakeConnectable<Self> { Publishers.MakeConnectable(upstream: self) }
}

extension Publishers {
  /// See ``Publisher/multicast(_:)``.
  public final class Multicast<Upstream: Publisher, SubjectType: Subject>: ConnectablePublisher, _JoinsPublishers
  where Upstream.Output == SubjectType.Output, Upstream.Failure == SubjectType.Failure {
    public typealias Output = Upstream.Output
    public typealias Failure = Upstream.Failure

    public let upstream: Upstream
    public let createSubject: () -> SubjectType

    @usableFromInline private(set) lazy var subject = createSubject()
    /// The connection that is being made.
    @usableFromInline var connecting: (any Cancellable)?
    /// True when a connection has completed.
    @usableFromInline var hasCompleted = false

    @inlinable public init(upstream: Upstream, createSubject: @escaping () -> SubjectType) {
      self.upstream = upstream
      self.createSubject = createSubject
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      subject.subscribe(MulticastStage<Output, Failure>(ErasedSubscriber(subscriber)))
    }

    @inlinable public func connect() -> any Cancellable {
      let subscriber = SubjectSubscriber(subject) { [weak self] in self?.hasCompleted = true }
      let outer = connecting
      connecting = subscriber
      // Needed even in a process without queues: upstream may be a `Deferred` that makes the first stream with a queue.
      let atHome = HomeSubscriber(subscriber)
      if let subject = subject as? any UpstreamCancelling {
        // Leave the subscriber's lane, which may run on any thread: upstream must deliver where the subject lives.
        SerialLane.leavingOthers(than: subject.lane) { upstream.receive(subscriber: atHome) }
      } else {
        upstream.receive(subscriber: atHome)
      }
      connecting = outer
      return AnyCancellable(subscriber)
    }
  }

  /// See ``Publisher/makeConnectable()``.
  public struct MakeConnectable<Upstream: Publisher>: ConnectablePublisher, _JoinsPublishers
  where Upstream.Failure == Never {
    public typealias Output = Upstream.Output
    public typealias Failure = Never

    @usableFromInline let multicast: Multicast<Upstream, PassthroughSubject<Output, Never>>

    @inlinable public init(upstream: Upstream) {
      multicast = upstream.multicast(subject: PassthroughSubject(of: "MakeConnectable"))
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
      multicast.subscribe(subscriber)
    }

    @inlinable public func connect() -> any Cancellable { multicast.connect() }
  }
}

extension Publishers.Multicast: OwnConnectable {
  @usableFromInline func stopConnecting() { connecting?.cancel() }
}

extension Publishers.MakeConnectable: OwnConnectable {
  @usableFromInline var hasCompleted: Bool { multicast.hasCompleted }
  @usableFromInline func stopConnecting() { multicast.stopConnecting() }
}

/// Gives a subject's subscription the operator's name. Passes the subscriber's demand to the subject as requests, never
/// as the return value of a delivery.
@usableFromInline final class MulticastStage<Input, Failure: Error>: Stage<Input, Failure>, Subscriber {
  @inlinable override init(_ down: ErasedSubscriber<Input, Failure>) { super.init(down) }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents else { return .none }
    let more = down.receive(input)
    if more > .none { up?.request(more) }
    return .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) { finish(completion) }

  // The subject decides what a request for zero values means.
  override var takesNone: Bool { true }

  override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    if let subject = up as? Conduit, subject.isUnfed {
      facts.reasonAbove = StreamFacts.notConnected
    }
  }

  override var customMirror: Mirror { mirror([:]) }
}
