// @unchecked: used only at the stream's home; tasks return there before they use it.
@usableFromInline
final class MapAsyncStage<Input: Sendable, Output, Mode: Publishers.FailureMode>:
  Stage<Output, Mode.Failure>, Subscriber, HomedStage, @unchecked Sendable
{
  @usableFromInline typealias Failure = Mode.UpstreamFailure

  /// A value's position in the order of results.
  // @unchecked: for the same reason as the stage.
  private final class Place: @unchecked Sendable {
    var result: Result<Output, Mode.RuleError>?
    /// The task's result in transit. The home takes it, so that the task, which retains this place for longer, can't be
    /// the last to release it: results needn't be `Sendable`.
    var arriving: Result<Output, Mode.RuleError>?
    var task: Task<Void, Never>?
  }

  private let limit: Int
  private let order: AsyncOrder
  private let transform: @Sendable (Input) async throws(Mode.RuleError) -> sending Output
  private let home = StreamHome.currentOrLane
  private let line = EventLine()
  /// With `.preserved`, the places of all values; with `.asCompleted`, only the places that have a result.
  private var places = FIFO<Place>()
  private var working: [ObjectIdentifier: Place] = [:]
  private var demand = Subscribers.Demand.none
  private var ending: Subscribers.Completion<Mode.Failure>?
  private var isDraining = false
  private var isWaiting = false

  @usableFromInline init(
    _ down: ErasedSubscriber<Output, Mode.Failure>, _ limit: Int, _ order: AsyncOrder,
    _ transform: @escaping @Sendable (Input) async throws(Mode.RuleError) -> sending Output
  ) {
    self.limit = limit
    self.order = order
    self.transform = transform
    super.init(down)
  }

  @usableFromInline var ownLane: CrossedHome? { home.ownLane }

  // Begin at home: later requests may come from the threads on which tasks end.
  override func began() {
    home.handDown {
      self.beginHere()
    } then: {
      if self.isLive { self.up?.request(.max(self.limit)) }
    }
  }

  private func beginHere() {
    confinement = home.confinement
    super.began()
  }

  @usableFromInline func receive(_ input: Input) -> Subscribers.Demand {
    home.run(after: line) { self.begin(input) }
    return .none
  }

  private func begin(_ input: Input) {
    guard isLive, ending == nil else { return }
    let place = Place()
    working[ObjectIdentifier(place)] = place
    updateWaiting()
    if order == .preserved { places.append(place) }
    place.task = home.task { [self, transform, home] in
      do throws(Mode.RuleError) {
        place.arriving = .success(try await transform(input))
      } catch {
        place.arriving = .failure(error)
      }
      let hasArrived = await home.perform { self.settle(place) }
      if !hasArrived, !Task.isCancelled { self.lose(place) }
    }
  }

  /// Reports a result for a closed loop.
  private func lose(_ place: Place) {
    if case .success(let output) = place.arriving { StreamDiagnostics.dropped(output, "MapAsync", .terminated) }
  }

  private func settle(_ place: Place) {
    let result = place.arriving.take()
    guard working.removeValue(forKey: ObjectIdentifier(place)) != nil else { return }
    // Update after the delivery, which may start more work that the loop must wait for.
    defer { updateWaiting() }
    guard isLive else { return }
    place.result = result
    if order == .asCompleted { places.append(place) }
    drain()
  }

  override func requested(_ demand: Subscribers.Demand) {
    home.run {
      self.demand += demand
      self.drain()
    }
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    home.run(after: line) {
      guard self.isLive, self.ending == nil else { return }
      self.ending = completion.mapError(Mode.failure(ofUpstream:))
      self.drain()
    }
  }

  override func cancelled() {
    home.runCancellation { self.leave() }
  }

  private func leave() {
    endStage()
    abandon()
  }

  override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    let count = working.count
    if count > 0 {
      facts.reason =
        "\(count) of at most \(limit) \(limit == 1 ? "task" : "tasks") \(count == 1 ? "is" : "are") running"
    }
  }

  /// Keeps the loop running while the stage needs the result of a running task.
  private func updateWaiting() {
    guard working.isEmpty == isWaiting else { return }
    isWaiting.toggle()
    if isWaiting { home.beginWaiting() } else { home.stopWaiting() }
  }

  private func endStage() { super.cancelled() }

  /// Delivers the results that are ready and requested, in order, then the completion.
  private func drain() {
    guard !isDraining else { return }
    isDraining = true
    defer { isDraining = false }
    while isLive, !places.isEmpty, let result = places[0].result {
      switch result {
      case .success(let output):
        guard demand > .none else { return }
        places.popFirst()?.result = nil
        demand.takeOne()
        demand += down.receive(output)
        if isLive { up?.request(.max(1)) }
      case .failure(let error):
        abandon(isFailure: true)
        return stop(.failure(Mode.failure(ofRule: error)))
      }
    }
    if let ending, places.isEmpty, working.isEmpty { finish(ending) }
  }

  /// - Parameter isFailure: true to report finished results as dropped.
  private func abandon(isFailure: Bool = false) {
    let working = self.working.take()
    updateWaiting()
    while let place = places.popFirst() {
      if isFailure, case .success(let output) = place.result {
        StreamDiagnostics.dropped(output, "MapAsync", .terminated)
      }
      place.result = nil
    }
    for place in working.values { place.task?.cancel() }
  }

  override var description: String { (Mode.throwsErrors ? "Try" : "") + super.description }
}
