/// Delivers hints on demand, and keeps each distinct waiting hint once.
final class HintSubscription<Hint: Hashable>: GuardedSubscription {
  private var down: ErasedSubscriber<Hint, SystemError>?
  private let scheduler: any LoopScheduler
  private let merge: (inout [Hint], Hint) -> Void
  private let begin: (HintSubscription) throws(SystemError) -> any Cancellable
  private var demand = Subscribers.Demand.none
  private var waiting: [Hint] = []
  private var isServing = false
  private var hasBegun = false
  private var source: (any Cancellable)?

  /// - Parameters:
  ///   - merge: adds a hint to those that wait, none of which is equal to it; by default, appends it.
  ///   - begin: called at the first request; calls ``add(_:)`` for each hint from then on.
  init(
    _ down: ErasedSubscriber<Hint, SystemError>, on scheduler: any LoopScheduler,
    merging merge: @escaping (inout [Hint], Hint) -> Void = { $0.append($1) },
    _ begin: @escaping (HintSubscription) throws(SystemError) -> any Cancellable
  ) {
    self.down = down
    self.scheduler = scheduler
    self.merge = merge
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
        source = scheduler.once(after: .zero) { [self] in fail(error) }
      }
      // The subscriber may have cancelled while `begin` delivered a hint.
      if down == nil { source.take()?.cancel() }
    }
    serve()
  }

  func add(_ hint: Hint) {
    guard down != nil, !waiting.contains(hint) else { return }
    merge(&waiting, hint)
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

  /// Ends the stream, and drops the waiting hints.
  func fail(_ error: SystemError) {
    let down = self.down
    release()
    down?.receive(completion: .failure(error))
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
