extension Publisher {
  /// Calls closures when events pass, without changing the events.
  ///
  ///     upstream    --a--b--|
  ///     handleEvents(receiveOutput: log)
  ///     downstream  --a--b--|       (log is called with a and with b, before each is delivered)
  ///
  /// After the first completion or cancellation, the closures are no longer called.
  ///
  /// **Demand, failure, cancellation:** pass through, each after its closure. **Policy:** forwards.
  ///
  /// - Parameters:
  ///   - receiveSubscription: called with upstream's subscription.
  ///   - receiveOutput: called with each value. If it cancels the stream, the value is not delivered.
  ///   - receiveCompletion: called with the completion.
  ///   - receiveCancel: called when the subscriber cancels.
  ///   - receiveRequest: called with each demand, including the demand returned after a value, unless it is `.none`.
  @inlinable public func handleEvents(
    receiveSubscription: ((any Subscription) -> Void)? = nil,
    receiveOutput: ((Output) -> Void)? = nil,
    receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)? = nil,
    receiveCancel: (() -> Void)? = nil,
    receiveRequest: ((Subscribers.Demand) -> Void)? = nil
  ) -> Publishers.HandleEvents<Self> {
    Publishers.HandleEvents(
      upstream: self, receiveSubscription: receiveSubscription, receiveOutput: receiveOutput,
      receiveCompletion: receiveCompletion, receiveCancel: receiveCancel, receiveRequest: receiveRequest)
  }
}

extension Publishers {
  /// See ``Publisher/handleEvents(receiveSubscription:receiveOutput:receiveCompletion:receiveCancel:receiveRequest:)``.
  @frozen public struct HandleEvents<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public var receiveSubscription: ((any Subscription) -> Void)?
    public var receiveOutput: ((Upstream.Output) -> Void)?
    public var receiveCompletion: ((Subscribers.Completion<Upstream.Failure>) -> Void)?
    public var receiveCancel: (() -> Void)?
    public var receiveRequest: ((Subscribers.Demand) -> Void)?

    @inlinable public init(
      upstream: Upstream,
      receiveSubscription: ((any Subscription) -> Void)? = nil,
      receiveOutput: ((Output) -> Void)? = nil,
      receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)? = nil,
      receiveCancel: (() -> Void)? = nil,
      receiveRequest: ((Subscribers.Demand) -> Void)? = nil
    ) {
      self.upstream = upstream
      self.receiveSubscription = receiveSubscription
      self.receiveOutput = receiveOutput
      self.receiveCompletion = receiveCompletion
      self.receiveCancel = receiveCancel
      self.receiveRequest = receiveRequest
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: TapStage<Output, Failure>(
          "HandleEvents", ErasedSubscriber(subscriber), reportsAfterEnd: false, onValue: receiveOutput, report: report))
    }

    @usableFromInline func report(_ event: TapStage<Output, Failure>.Event) {
      switch event {
      case .subscription(let subscription): receiveSubscription?(subscription)
      case .completion(let completion): receiveCompletion?(completion)
      case .cancel: receiveCancel?()
      case .request(let demand), .answer(let demand): receiveRequest?(demand)
      }
    }
  }
}
