/// The beginning of a pipeline on one loop: the subscription that delivers values there.
// @unchecked: used only on its loop after the initializer.
@usableFromInline final class RailInlet<Output: Sendable, Failure: Error>: GuardedSubscription, @unchecked Sendable {
  @exclusivity(unchecked) private var down: ErasedSubscriber<Output, Failure>?
  /// The pipeline's demand that has not been reported to the home.
  @exclusivity(unchecked) private var asked = Subscribers.Demand.none
  @exclusivity(unchecked) private(set) var isLive = true
  @exclusivity(unchecked) private(set) var isDelivering = false
  /// True once the pipeline has subscribed.
  @exclusivity(unchecked) private var isAttached = false
  /// The completion that arrived before the pipeline subscribed.
  @exclusivity(unchecked) private var early: Subscribers.Completion<Failure>?
  /// Reports a change on this loop to the home.
  private let tell: () -> Void

  init(tell: @escaping () -> Void) { self.tell = tell }

  @usableFromInline func attach(_ subscriber: ErasedSubscriber<Output, Failure>) {
    precondition(
      !isAttached,
      """
      parallel: a pipeline may subscribe to its input only once; write retry and repeat below parallel, or in a flatMap in the \
      pipeline, and use share() in the pipeline for several subscribers
      """)
    isAttached = true
    down = subscriber
    subscriber.receive(subscription: self)
    if let early = early.take() { end(early) }
  }

  override func requested(_ demand: Subscribers.Demand) {
    guard isLive else { return }
    asked += demand
    if !isDelivering { tell() }
  }

  override func cancelled() {
    guard isLive else { return }
    isLive = false
    discard(down.take())
    if !isDelivering { tell() }
  }

  func takeAsked() -> Subscribers.Demand {
    defer { asked = .none }
    return asked
  }

  /// - Returns: the `values` that the pipeline has not accepted, because it is over.
  func deliver(_ values: ContiguousArray<Output>) -> ArraySlice<Output> {
    isDelivering = true
    defer { isDelivering = false }
    var left = values.count
    for value in values {
      guard isLive, let down else { break }
      left -= 1
      let more = down.receive(value)
      if isLive { asked += more }
    }
    return ArraySlice(values.suffix(left))
  }

  func end(_ completion: Subscribers.Completion<Failure>) {
    guard isLive else { return }
    guard isAttached else {
      early = completion
      return
    }
    isLive = false
    down.take()?.receive(completion: completion)
  }

  override var description: String { "Parallel" }
}

/// The end of a pipeline on one loop: collects its results for the home.
// @unchecked: used only on its loop after the initializer.
@usableFromInline final class RailOutlet<Input: Sendable, Failure: Error>: Subscriber, @unchecked Sendable {
  @exclusivity(unchecked) private var up: (any Subscription)?
  @exclusivity(unchecked) private var outputs = ContiguousArray<Input>()
  @exclusivity(unchecked) private var completion: Subscribers.Completion<Failure>?
  @exclusivity(unchecked) private var isLive = true
  private let window: Int
  private let tell: () -> Void

  /// - Parameter window: the number of results that may be in transit at the same time.
  init(window: Int, tell: @escaping () -> Void) {
    self.window = window
    self.tell = tell
  }

  @usableFromInline func receive(subscription: any Subscription) {
    guard up == nil, isLive else { return subscription.cancel() }
    up = subscription
    subscription.request(.max(window))
  }

  @usableFromInline func receive(_ input: Input) -> Subscribers.Demand {
    guard isLive else { return .none }
    outputs.append(input)
    tell()
    return .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard isLive else { return }
    isLive = false
    discard(up.take())
    self.completion = completion
    tell()
  }

  func take() -> (ContiguousArray<Input>, Subscribers.Completion<Failure>?) { (outputs.take(), completion.take()) }

  func request(_ count: Int) { up?.request(.max(count)) }

  func cancel() {
    isLive = false
    discard(outputs.take())
    up.take()?.cancel()
  }
}
