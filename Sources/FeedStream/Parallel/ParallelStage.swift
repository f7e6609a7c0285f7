/// The stage of `parallel`: sends values to those pipelines on other loops that have demand, and delivers the results.
// @unchecked: used only at the stream's home; work on the loops returns there before it uses the stage.
@usableFromInline
final class ParallelStage<Input: Sendable, Output: Sendable, Failure: Error>:
  Stage<Output, Failure>, Subscriber, HomedStage, @unchecked Sendable
{
  @usableFromInline typealias Assemble = (RailInlet<Input, Failure>, RailOutlet<Output, Failure>) -> Void
  private typealias Pipeline = RailPipeline<Input, Output, Failure>

  /// The home's view of one loop.
  private struct Rail {
    let pipeline: Pipeline
    var asked = Subscribers.Demand.none
    /// The number of values in transit to the loop.
    var away = 0
    /// True if the pipeline accepts no more values.
    var isDeaf = false
    var isDone = false
    /// True if the pipeline's completion has arrived; it may wait for the demand for earlier results.
    var hasCompleted = false
    /// True if work was lost because the loop has been closed, and the pipeline hasn't reported its last results yet.
    var isClosing = false
    /// The number of the pipeline's results that have been delivered since the last request.
    var delivered = 0
  }

  /// The results of one loop that have arrived.
  private struct Arrival {
    let rail: Int
    var outputs: ContiguousArray<Output>.SubSequence
    let completion: Subscribers.Completion<Failure>?
  }

  private let crew: ParallelCrew
  private let limit: Int
  private let window: Int
  /// Makes a pipeline on its loop. Safe to carry, because it captures only a `Sendable` closure.
  private let assemble: Carried<Assemble>

  private var rails: [Rail] = []
  private var waiting = FIFO<Input>()
  private var arrivals = FIFO<Arrival>()
  /// The number of further values that may be requested from upstream.
  private var room: Int
  private var demand = Subscribers.Demand.none
  private var ending: Subscribers.Completion<Failure>?
  /// The completion to deliver when all pipelines are done: upstream's failure, if a closed loop has lost it.
  private var outcome = Subscribers.Completion<Failure>.finished
  private var hasToldEnding = false
  private var isFilling = false
  private var isDraining = false
  /// Retains this stage from upstream's completion until its own, because the pipelines' results need it.
  private var untilOver: ParallelStage?

  @usableFromInline init(
    _ down: ErasedSubscriber<Output, Failure>, _ crew: ParallelCrew, _ limit: Int, _ assemble: @escaping Assemble
  ) {
    self.crew = crew
    self.limit = limit
    window = max(1, limit / crew.rails.count)
    self.assemble = Carried(uncheckedly: assemble)
    room = limit
    super.init(down)
  }

  // MARK: Upstream

  @usableFromInline var ownLane: CrossedHome? { crew.home.ownLane }

  override func began() {
    crew.home.handDown {
      self.beginHere()
    } then: {
      if self.isLive { self.beginRails() }
    }
  }

  private func beginHere() {
    confinement = crew.home.confinement
    super.began()
  }

  private func beginRails() {
    rails = crew.rails.indices.map { index in
      Rail(
        pipeline: Pipeline(crew.rails[index].domain) { [crew, weak self] news in
          crew.atHome { [weak self] in self?.hear(news, of: index) }
        } whenClosed: { [crew, weak self] in
          crew.atHome { [weak self] in self?.lose(index) }
        })
    }
    // Only now, because a closed loop is lost during the call.
    for index in rails.indices where isLive {
      let pipeline = rails[index].pipeline
      crew.send(to: index) { [assemble, window] in
        pipeline.begin(window: window, assemble.value)
      } done: {
      } lost: {
        self.lose(index)
      }
    }
    fill()
  }

  @usableFromInline func receive(_ input: Input) -> Subscribers.Demand {
    crew.arrived { self.accept(input) }
    return .none
  }

  private func accept(_ input: Input) {
    guard isLive, ending == nil else { return }
    waiting.append(input)
    if !isFilling { dispatch() }
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    crew.arrived {
      guard self.isLive, self.ending == nil else { return }
      self.ending = completion
      discard(self.up.take())
      self.updateStaying()
      if !self.isFilling { self.dispatch() }
    }
  }

  private func fill() {
    guard isLive, !isFilling, ending == nil, room > 0 else { return }
    isFilling = true
    let count = room
    room = 0
    up?.request(.max(count))
    isFilling = false
    if isLive { dispatch() }
  }

  // MARK: The loops

  /// Sends values to the pipelines with demand; after the last value, completes their input.
  private func dispatch() {
    while !waiting.isEmpty, let index = freeRail() {
      var count = min(crew.share(of: waiting.count), window - rails[index].away)
      if let most = rails[index].asked.max { count = min(count, most) }
      let values = ContiguousArray((0..<count).map { _ in waiting.removeFirst() })
      rails[index].asked -= count
      rails[index].away += count
      let pipeline = rails[index].pipeline
      send(to: index, count) {
        pipeline.deliver(values)
      } lost: { [crew] in
        for value in values { crew.lost(value, "Parallel") }
      }
    }
    updateStaying()
    guard isLive, let ending, waiting.isEmpty, !hasToldEnding else { return }
    hasToldEnding = true
    for index in rails.indices where !rails[index].isDeaf {
      let pipeline = rails[index].pipeline
      send(to: index, 0) {
        pipeline.end(ending)
      } lost: {
      }
    }
  }

  private func send(
    to index: Int, _ count: Int, _ work: @escaping @Sendable () -> Void, lost: @escaping @Sendable () -> Void
  ) {
    crew.send(to: index, work) {
      self.returned(count, by: index)
    } lost: {
      lost()
      self.close(index)
      self.returned(count, by: index)
    }
  }

  /// Called when a loop has taken, or lost, `count` values.
  private func returned(_ count: Int, by index: Int) {
    rails[index].away -= count
    room += count
    guard isLive else { return }
    dispatch()
    if room >= max(1, limit / 4) || waiting.isEmpty { fill() }
  }

  /// Called when work for a loop is lost: after its last results, the pipeline reports that the loop has been closed.
  private func close(_ index: Int) {
    guard isLive, !rails[index].isDone else { return }
    rails[index].isDeaf = true
    rails[index].isClosing = true
    updateStaying()
    if rails.allSatisfy(\.isDeaf) { noMore() }
  }

  /// Keeps the home's loop running while values wait for a pipeline, while a pipeline still has results of a closed
  /// loop, and after upstream's completion: the home doesn't count the work inside the pipelines.
  private func updateStaying() {
    guard isLive else { return }
    if ending != nil { untilOver = self }
    crew.stay(ending != nil || !waiting.isEmpty || rails.contains(where: \.isClosing))
  }

  /// The pipeline with the least work among those with demand.
  private func freeRail() -> Int? {
    var best: Int?
    for index in rails.indices {
      let rail = rails[index]
      guard !rail.isDeaf, rail.asked > .none, rail.away < window else { continue }
      if best.map({ rail.away < rails[$0].away }) ?? true { best = index }
    }
    return best
  }

  private func hear(_ news: Pipeline.News, of index: Int) {
    guard isLive else { return }
    rails[index].asked += news.asked
    if news.isDeaf { rails[index].isDeaf = true }
    if news.completion != nil { rails[index].hasCompleted = true }
    if !news.outputs.isEmpty || news.completion != nil {
      arrivals.append(Arrival(rail: index, outputs: news.outputs[...], completion: news.completion))
      drain()
    }
    guard isLive else { return }
    if rails.allSatisfy(\.isDeaf) { return noMore() }
    dispatch()
  }

  /// Called when no pipeline accepts another value: cancels upstream, and drops waiting values.
  private func noMore() {
    up.take()?.cancel()
    if ending == nil { ending = .finished }
    hasToldEnding = true
    while let value = waiting.popFirst() { StreamDiagnostics.dropped(value, "Parallel", .terminated) }
    updateStaying()
  }

  /// Called when a loop is closed, and its pipeline with it.
  private func lose(_ index: Int) {
    guard isLive, !rails[index].isDone else { return }
    if let ending, !rails[index].hasCompleted { outcome = ending }
    rails[index].isDeaf = true
    rails[index].isDone = true
    rails[index].isClosing = false
    updateStaying()
    if rails.allSatisfy(\.isDeaf) { noMore() }
    drain()
  }

  // MARK: Downstream

  override func requested(_ demand: Subscribers.Demand) {
    crew.atHome {
      self.demand += demand
      self.drain()
    }
  }

  override func cancelled() { crew.cancelAtHome { self.over() } }

  private func over() { super.cancelled() }

  override func forget() {
    untilOver = nil
    crew.stay(false)
    waiting = FIFO()
    arrivals = FIFO()
    for index in rails.indices where !rails[index].isDone {
      let pipeline = rails[index].pipeline
      crew.send(to: index) {
        pipeline.cancel()
      } done: {
      } lost: {
      }
    }
  }

  /// Delivers arrived results on demand, and the completion when all pipelines have completed.
  private func drain() {
    guard !isDraining else { return }
    isDraining = true
    defer { isDraining = false }
    while isLive, !arrivals.isEmpty {
      let rail = arrivals[0].rail
      if let output = arrivals[0].outputs.first {
        guard demand > .none else { return }
        arrivals[0].outputs.removeFirst()
        demand.takeOne()
        demand += down.receive(output)
        if isLive { delivered(of: rail) }
        continue
      }
      guard let arrival = arrivals.popFirst(), let completion = arrival.completion else { continue }
      rails[rail].isDone = true
      rails[rail].isDeaf = true
      if case .failure = completion { return stop(completion) }
      if rails.allSatisfy(\.isDeaf) { noMore() }
    }
    if isLive, rails.allSatisfy(\.isDone), !rails.isEmpty { stop(outcome) }
  }

  /// Requests as many results from a pipeline as have been delivered, once they make up a quarter of the window.
  private func delivered(of rail: Int) {
    rails[rail].delivered += 1
    guard rails[rail].delivered >= max(1, window / 4) else { return }
    let count = rails[rail].delivered
    rails[rail].delivered = 0
    let pipeline = rails[rail].pipeline
    crew.send(to: rail) {
      pipeline.request(count)
    } done: {
    } lost: {
      self.close(rail)
    }
  }

  override var description: String { "Parallel" }
}
