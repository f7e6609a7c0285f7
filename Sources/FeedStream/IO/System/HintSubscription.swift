/// Delivers hints on demand. Keeps each distinct waiting hint once, or keeps only the latest hint.
final class HintSubscription<Hint: Hashable>: GuardedSubscription {
  private var down: ErasedSubscriber<Hint, SystemError>?
  private let scheduler: any LoopScheduler
  private let keepsLatest: Bool
  private let begin: (HintSubscription) throws(SystemError) -> any Cancellable
  private var demand = Subscribers.Demand.none
  private var waiting: [Hint] = []
  private var isServing = false
  private var hasBegun = false
  private var source: (any Cancellable)?

  /// - Parameter begin: called at the first request; calls ``add(_:)`` for each hint from then on.
  init(
    _ down: ErasedSubscriber<Hint, SystemError>, on scheduler: any LoopScheduler, keepsLatest: Bool = false,
    _ begin: @escaping (HintSubscription) throws(SystemError) -> any Cancellable
  ) {
    self.down = down
    self.scheduler = scheduler
    self.keepsLatest = keepsLatest
    self.begin = begin
  }

  override func requested(_ demand: Subscribers.Demand) {
    self.demand += demand
    if !hasBegun, down != nil {
      hasBegun = true
      do throws(SystemError) {
        source = try begin(self)
      } catch {
        let error = error
        // Report later, because no failure is delivered during a request.
        source = scheduler.once(after: .zero) { [self] in
          let down = self.down
          release()
          down?.receive(completion: .failure(error))
        }
      }
    }
    serve()
  }

  func add(_ hint: Hint) {
    guard down != nil, !waiting.contains(hint) else { return }
    if keepsLatest { waiting = [hint] } else { waiting.append(hint) }
    serve()
  }

  private func serve() {
    guard !isServing else { return }
    isServing = true
    while demand > .none, !waiting.isEmpty, let down {
      demand -= 1
      demand += down.receive(waiting.removeFirst())
    }
    isServing = false
  }

  override func tell(_ facts: inout StreamFacts) {
    facts.delivers(to: down)
    facts.demand = demand
    facts.held = waiting.count
    facts.isOver = down == nil
  }

  deinit { release() }

  override func cancelled() { release() }

  private func release() {
    down = nil
    waiting = []
    source.take()?.cancel()
  }
}

/// Several cancellables that are cancelled together.
final class CancellableGroup: Cancellable {
  private var members: [any Cancellable]

  init(_ members: [any Cancellable]) { self.members = members }

  func cancel() { for member in members.take() { member.cancel() } }
}
