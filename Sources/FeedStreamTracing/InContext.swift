#if Tracing
  public import FeedStream
  public import Tracing

  extension Publisher {
    /// Propagates a context through a stream, across threads, timers and connections.
    ///
    ///     numbers
    ///       .receive(on: queue)
    ///       .inContext()              // code below sees the context of the code that subscribes
    ///       .mapAsync(limit: 8) { try await lookUp($0) }
    ///
    /// `ServiceContext.current` is the context in all code below this operator while a value or the completion is
    /// delivered. It is also the context in all code above this operator while a subscriber subscribes to it, requests
    /// values, or cancels. Code that a timer, a thread or a connection calls has no context of its own, so put this
    /// operator directly below `receive(on:)`, `delay`, `debounce`, or a source such as
    /// ``FeedStream/Publishers/Interval``. A closure of `mapAsync` and a `Task` inherit the context.
    ///
    /// **Demand, failure, cancellation:** pass through. **Policy:** forwards.
    ///
    /// - Parameter context: the context; by default, `ServiceContext.current` at the time of the subscription. If there
    ///   is none, the code below sees no context.
    public func inContext(_ context: ServiceContext? = nil) -> some Publisher<Output, Failure> {
      withTaskLocal(ServiceContext.$current) { context ?? ServiceContext.current }
    }

    /// Propagates a task-local value through a stream, across threads, timers and connections, as ``inContext(_:)``
    /// does with a context.
    ///
    /// **Demand, failure, cancellation:** pass through. **Policy:** forwards.
    ///
    /// - Parameters:
    ///   - local: the task-local value, such as `Request.$current`.
    ///   - value: returns the value; called once per subscription, when the subscription begins. By default, the value
    ///     at that time.
    public func withTaskLocal<Value: Sendable>(
      _ local: TaskLocal<Value>, _ value: (() -> Value)? = nil
    ) -> some Publisher<Output, Failure> {
      BoundStream(upstream: self, local: local, value: value)
    }
  }

  /// A stream with a task-local value; see ``FeedStream/Publisher/withTaskLocal(_:_:)``.
  struct BoundStream<Upstream: Publisher, Value: Sendable>: Publisher {
    typealias Output = Upstream.Output
    typealias Failure = Upstream.Failure

    let upstream: Upstream
    let local: TaskLocal<Value>
    let value: (() -> Value)?

    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let value = value?() ?? local.get()
      local.withValue(value) {
        upstream.receive(subscriber: BoundSubscriber(subscriber: subscriber, local: local, value: value))
      }
    }
  }

  private struct BoundSubscriber<Downstream: Subscriber, Value: Sendable>: Subscriber {
    let subscriber: Downstream
    let local: TaskLocal<Value>
    let value: Value

    var combineIdentifier: CombineIdentifier { subscriber.combineIdentifier }

    func receive(subscription: any Subscription) {
      local.withValue(value) {
        subscriber.receive(subscription: BoundSubscription(subscription: subscription, local: local, value: value))
      }
    }

    func receive(_ input: Downstream.Input) -> Subscribers.Demand {
      local.withValue(value) { subscriber.receive(input) }
    }

    func receive(completion: Subscribers.Completion<Downstream.Failure>) {
      local.withValue(value) { subscriber.receive(completion: completion) }
    }
  }

  extension BoundSubscriber: PassingSubscriber {
    package var passed: Any { subscriber }
  }

  private struct BoundSubscription<Value: Sendable>: PassingSubscription, GateBearer {
    package var passed: any Subscription { subscription }
    let subscription: any Subscription
    let local: TaskLocal<Value>
    let value: Value

    var combineIdentifier: CombineIdentifier { subscription.combineIdentifier }
    var _isConfined: Bool { subscription._isConfined }
    package var gateAbove: (any EntryGate)? { (subscription as? any GateBearer)?.gateAbove }

    func request(_ demand: Subscribers.Demand) { local.withValue(value) { subscription.request(demand) } }
    func cancel() { local.withValue(value) { subscription.cancel() } }
  }
#endif
