/// Subscribes a stream that lives in a lane to a subject, and moves the subject's values to the stream's home.
///
/// The subject is touched only on its own thread, where it receives unlimited demand. A cancellation on another thread
/// reaches the subject through the main queue if the subject lives there, and otherwise with the next value.
/// **Demand:** counted in the subscriber's home. A value that was not requested is dropped and reported, unless the
/// subject keeps values: then the value waits.
@usableFromInline final class SubjectCrossing<Input, Failure: Error>: GuardedSubscription, Subscriber {
  private let name: StaticString
  private let home: SerialLane
  private let waits: Bool

  // Used on the subject's thread.
  @exclusivity(unchecked) private var up: (any Subscription)?
  private var bridge: MapBridge?
  private let thread = CurrentDomain.threadNumber
  private let isOnMainQueue = MainQueueCode.isRunning
  private let isCancelled = Locked(false)

  // Used in the home.
  /// `nil` when the subscription is over: the subject may keep this object until its next value.
  @exclusivity(unchecked) private var down: ErasedSubscriber<Input, Failure>?
  @exclusivity(unchecked) private var demand = Subscribers.Demand.none
  @exclusivity(unchecked) private var isLive = true
  @exclusivity(unchecked) private var waiting = FIFO<Input>()
  @exclusivity(unchecked) private var ending: Subscribers.Completion<Failure>?
  @exclusivity(unchecked) private var isDelivering = false

  @usableFromInline
  init(_ name: StaticString, _ down: ErasedSubscriber<Input, Failure>, home: SerialLane, waits: Bool) {
    self.name = name
    self.down = down
    self.home = home
    self.waits = waits
    super.init()
    confinement = Confinement(home: home)
  }

  // MARK: The subject's side, on its thread

  @usableFromInline func receive(subscription: any Subscription) {
    up = subscription
    bridge = .make(description, subscription)
    home.perform { [self] in down?.receive(subscription: self) }
    up?.request(.unlimited)
  }

  @usableFromInline func receive(_ input: Input) -> Subscribers.Demand {
    if isCancelled.withLock({ $0 }) { up.take()?.cancel() } else { home.post { [self] in deliver(input) } }
    return .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    discard(up.take())
    home.post { [self] in
      guard isLive, ending == nil else { return }
      ending = completion
      serve()
    }
  }

  // MARK: The subscriber's side, in its home

  private func deliver(_ input: Input) {
    guard isLive else { return }
    guard waits || demand > .none else { return StreamDiagnostics.dropped(input, name, .noDemand) }
    waiting.append(input)
    serve()
  }

  private func serve() {
    guard !isDelivering else { return }
    isDelivering = true
    while isLive, demand > .none, let down, let input = waiting.popFirst() {
      demand.takeOne()
      demand += down.receive(input)
    }
    isDelivering = false
    if isLive, waiting.isEmpty, let ending {
      isLive = false
      down.take()?.receive(completion: ending)
    }
  }

  override func requested(_ demand: Subscribers.Demand) {
    guard isLive else { return }
    self.demand += demand
    serve()
  }

  override func cancelled() {
    guard isLive else { return }
    isLive = false
    let old = (down.take(), waiting.take())
    isCancelled.withLock { $0 = true }
    // Any thread may run the main queue's code, and other queues' code afterwards.
    if isOnMainQueue ? MainQueueCode.isRunning : CurrentDomain.threadNumber == thread {
      CurrentDomain.outside { up.take()?.cancel() }
    } else if isOnMainQueue {
      // The subject holds this object, and its subscription holds the subject. Without this cancellation, a subject
      // that sends nothing more would never be released.
      MainQueueCode.run { [self] in up.take()?.cancel() }
    }
    discard(old)
  }

  override func tell(_ facts: inout StreamFacts) {
    // The subject is a node of its own, in its home.
    facts.isTransparent = true
    facts.upstreams = [bridge].compactMap { $0 }
  }

  override var description: String { "\(name)" }
}
