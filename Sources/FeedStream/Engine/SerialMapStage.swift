/// One publisher at a time, made of upstream's values: what `switchToLatest`, `flatMapFirst` and `concatMap` share. They
/// differ in what becomes of a value that arrives while a publisher runs.
@usableFromInline
final class SerialMapStage<Input, Output, Failure: Error>: SerialStage<Output, Failure>, Subscriber {
  /// What a value that arrives while a publisher runs does.
  @usableFromInline
  enum WhenBusy {
    /// It takes over.
    case replaces
    /// It is dropped, and reported.
    case isDropped
    /// It waits for its turn.
    case waits
  }

  @usableFromInline
  let attach: (Input, Inlet<SerialPort<Output, Failure>>) -> Void
  private let whenBusy: WhenBusy
  @exclusivity(unchecked)
  private var up: (any Subscription)?
  @exclusivity(unchecked)
  private var isFinished = false
  /// Whether upstream's ending was passed on. As in Combine's `switchToLatest`, an upstream that breaks the rules and ends
  /// again after that is not corrected.
  @exclusivity(unchecked)
  private var endsWithUpstream = false
  /// Whether a publisher runs, or is about to.
  @exclusivity(unchecked)
  private var isBusy = false
  @exclusivity(unchecked)
  private var waiting = FIFO<Input>()

  @usableFromInline
  init(
    _ name: StaticString, _ down: Downstream<Output, Failure>, _ whenBusy: WhenBusy,
    _ attach: @escaping (Input, Inlet<SerialPort<Output, Failure>>) -> Void
  ) {
    self.whenBusy = whenBusy
    self.attach = attach
    super.init(name, down)
  }

  @usableFromInline
  func receive(subscription: any Subscription) {
    guard isActive, up == nil, !isFinished else { return subscription.cancel() }
    up = subscription
    subscription.request(.unlimited)
  }

  @usableFromInline
  func receive(_ input: Input) -> Subscribers.Demand {
    guard isActive, !isFinished else { return .none }
    switch whenBusy {
    case .isDropped where isBusy: StreamDiagnostics.dropped(input, name, .busy)
    case .waits where isBusy: waiting.append(input)
    default: start(input)
    }
    return .none
  }

  private func start(_ input: Input) {
    isBusy = true
    subscribe { [attach] in attach(input, $0) }
  }

  @usableFromInline
  func receive(completion: Subscribers.Completion<Failure>) {
    if endsWithUpstream { return down.receive(completion: completion) }
    guard isActive, !isFinished else { return }
    up = nil
    isFinished = true
    if case .finished = completion, isBusy { return }
    reportWaiting()
    cancel()
    endsWithUpstream = whenBusy == .replaces
    down.receive(completion: completion)
  }

  @usableFromInline
  override func ended(_ completion: Subscribers.Completion<Failure>) {
    guard case .finished = completion else {
      reportWaiting()
      return end(completion)
    }
    isBusy = false
    if let next = waiting.popFirst() { return start(next) }
    if isFinished { end(.finished) }
  }

  /// A failure comes before the turn of what waits.
  private func reportWaiting() {
    while let input = waiting.popFirst() { StreamDiagnostics.dropped(input, name, .terminated) }
  }

  /// As in Combine's `switchToLatest`.
  @usableFromInline
  override var leavesLate: Bool { whenBusy == .replaces }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    demand.assertPositive(self)
    super.request(demand)
  }

  @usableFromInline
  override func cancel() {
    endsWithUpstream = false
    let up = self.up.take()
    super.cancel()
    waiting.removeAll()
    up?.cancel()
  }
}
