import Synchronization

/// Values in transit to a loop, and their results in transit back.
// @unchecked: one thread at a time uses a batch: the home fills it and passes it to a loop, which passes it back. The
// results needn't be `Sendable`: they come from a `@Sendable` closure, which has nothing else to share with the home. The
// home empties the batch, because the loop's thread may be the last to release it.
@usableFromInline final class ParallelBatch<Input: Sendable, Output, RuleError: Error>: @unchecked Sendable {
  @exclusivity(unchecked) @usableFromInline var inputs: ContiguousArray<Input>
  @exclusivity(unchecked) @usableFromInline var outputs = ContiguousArray<Output>()
  @exclusivity(unchecked) @usableFromInline var error: RuleError?
  /// The number of values, and the times at which the work began and ended.
  @exclusivity(unchecked) @usableFromInline var work: (count: Int, began: UInt64, ended: UInt64) = (0, 0, 0)
  /// True if the loop has returned the batch.
  @exclusivity(unchecked) @usableFromInline var isDone = false
  /// The number of results that have been delivered.
  @exclusivity(unchecked) @usableFromInline var delivered = 0

  @inlinable init(_ inputs: ContiguousArray<Input>) { self.inputs = inputs }

  @inlinable func run(
    unless isCancelled: ParallelFlag, _ transform: @Sendable (Input) throws(RuleError) -> Output
  ) {
    let inputs = self.inputs.take()
    var outputs = ContiguousArray<Output>()
    outputs.reserveCapacity(inputs.count)
    let began = ParallelCrew.now
    do throws(RuleError) {
      for input in inputs where !isCancelled.isSet { outputs.append(try transform(input)) }
    } catch {
      self.error = error
    }
    work = (outputs.count, began, ParallelCrew.now)
    self.outputs = outputs
  }
}

/// Tells the loops that the stream is over.
@usableFromInline final class ParallelFlag: Sendable {
  private let flag = Atomic(false)

  @usableFromInline init() {}
  @usableFromInline var isSet: Bool { flag.load(ordering: .relaxed) }
  func set() { flag.store(true, ordering: .relaxed) }
}

/// The stage of `parallelMap`: sends waiting values to free loops, and delivers the results.
// @unchecked: used only at the stream's home; work on the loops returns there before it uses the stage.
@usableFromInline
final class ParallelMapStage<Input: Sendable, Output, Mode: Publishers.FailureMode>:
  Stage<Output, Mode.Failure>, Subscriber, HomedStage, @unchecked Sendable
{
  @usableFromInline typealias Failure = Mode.UpstreamFailure
  @usableFromInline typealias Batch = ParallelBatch<Input, Output, Mode.RuleError>

  @usableFromInline let crew: ParallelCrew
  @usableFromInline let limit: Int
  @usableFromInline let ordering: AsyncOrder
  @usableFromInline let transform: @Sendable (Input) throws(Mode.RuleError) -> Output
  @usableFromInline let isCancelled = ParallelFlag()
  /// Calls `settle`. Created where the types are known, so that the call is specialized.
  @usableFromInline let settled: @Sendable (ParallelMapStage, Batch) -> Void
  /// Calls `drain`. Created where the types are known, too.
  @usableFromInline let resumed: (ParallelMapStage) -> Void

  @exclusivity(unchecked) @usableFromInline var waiting = FIFO<Input>()
  /// With `.preserved`, all batches that were sent; with `.asCompleted`, only those that have been returned.
  @exclusivity(unchecked) @usableFromInline var batches = FIFO<Batch>()
  /// The number of values that wait or are being processed, plus the number of results that wait.
  @exclusivity(unchecked) @usableFromInline var held = 0
  /// The number of further values that may be requested from upstream.
  @exclusivity(unchecked) @usableFromInline var room: Int
  @exclusivity(unchecked) @usableFromInline var demand = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline var ending: Subscribers.Completion<Mode.Failure>?
  @exclusivity(unchecked) @usableFromInline var isFilling = false
  @exclusivity(unchecked) @usableFromInline var isDraining = false

  @inlinable init(
    _ down: ErasedSubscriber<Output, Mode.Failure>, _ crew: ParallelCrew, _ limit: Int, _ ordering: AsyncOrder,
    _ transform: @escaping @Sendable (Input) throws(Mode.RuleError) -> Output
  ) {
    self.crew = crew
    self.limit = limit
    self.ordering = ordering
    self.transform = transform
    room = limit
    settled = { $0.settle($1) }
    resumed = { $0.drain() }
    super.init(down)
  }

  // MARK: Upstream

  @usableFromInline var ownLane: CrossedHome? { crew.home.ownLane }

  override func began() {
    crew.home.handDown {
      self.beginHere()
    } then: {
      self.isFilling = false
      if self.isLive { self.resumed(self) }
    }
  }

  private func beginHere() {
    confinement = crew.home.confinement
    // A request that arrives in the meantime must not yet request values from upstream.
    isFilling = true
    super.began()
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    if crew.isHome { accept(input) } else { crew.arrived { self.accept(input) } }
    return .none
  }

  @inlinable func accept(_ input: Input) {
    guard isLive, ending == nil else { return }
    waiting.append(input)
    held &+= 1
    if !isFilling { dispatch() }
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    crew.arrived {
      guard self.isLive, self.ending == nil else { return }
      self.ending = completion.mapError(Mode.failure(ofUpstream:))
      if !self.isFilling { self.resumed(self) }
    }
  }

  /// Requests as many values from upstream as there is room for.
  @inlinable @inline(never) func fill() {
    guard !isFilling, room > 0 else { return }
    isFilling = true
    let count = room
    room = 0
    // Values that arrive during the request are dispatched together.
    up?.request(.max(count))
    isFilling = false
    if isLive { dispatch() }
  }

  // MARK: The loops

  /// Sends waiting values to free loops.
  @inlinable @inline(never) func dispatch() {
    while !waiting.isEmpty, let rail = crew.free() {
      var inputs = ContiguousArray<Input>()
      let count = crew.share(of: waiting.count, within: limit)
      inputs.reserveCapacity(count)
      for _ in 0..<count { inputs.append(waiting.removeFirst()) }
      let batch = Batch(inputs)
      if ordering == .preserved { batches.append(batch) }
      crew.send(to: rail, count: count) { [transform, isCancelled] in
        batch.run(unless: isCancelled, transform)
      } done: {
        self.settle(batch)
      } lost: {
        self.lose(batch)
      }
    }
  }

  @inlinable @inline(never) func settle(_ batch: Batch) {
    guard isLive else {
      batch.outputs = []
      return
    }
    batch.isDone = true
    crew.noteWork(batch.work.count, from: batch.work.began, to: batch.work.ended)
    if ordering == .asCompleted { batches.append(batch) }
    dispatch()
    drain()
  }

  /// Reports values for a closed loop. Once all loops are closed, cancels upstream and reports the waiting values.
  @usableFromInline func lose(_ batch: Batch) {
    guard isLive else { return }
    held -= batch.inputs.count
    room += batch.inputs.count
    for input in batch.inputs { crew.lost(input, "ParallelMap") }
    if crew.hasEnded {
      up.take()?.cancel()
      if ending == nil { ending = .finished }
      held -= waiting.count
      while let input = waiting.popFirst() { crew.lost(input, "ParallelMap") }
    }
    settled(self, batch)
  }

  // MARK: Downstream

  override func requested(_ demand: Subscribers.Demand) {
    crew.atHome {
      self.demand += demand
      self.resumed(self)
    }
  }

  override func cancelled() {
    crew.cancelAtHome { self.over() }
  }

  private func over() {
    super.cancelled()
  }

  override func forget() {
    isCancelled.set()
    waiting.removeAll()
    while let batch = batches.popFirst() {
      if batch.isDone { batch.outputs = [] }
    }
  }

  /// Delivers the results that are ready and requested, in order, then the completion.
  @inlinable @inline(never) func drain() {
    guard !isDraining else { return }
    isDraining = true
    defer { isDraining = false }
    deliverReady()
    while isLive, ending == nil, !isFilling, room > 0, room >= limit / 4 || held == 0 {
      fill()
      // If loops have been closed, values that were sent to them have been lost, and later results may be ready.
      deliverReady()
    }
    if isLive, let ending, held == 0 { finish(ending) }
  }

  @inlinable @inline(__always) func deliverReady() {
    while isLive, !batches.isEmpty, batches[0].isDone {
      let batch = batches[0]
      if batch.delivered < batch.outputs.count {
        guard demand > .none else { break }
        let output = batch.outputs[batch.delivered]
        batch.delivered &+= 1
        held &-= 1
        room &+= 1
        demand.takeOne()
        demand += down.receive(output)
      } else if let error = batch.error {
        reportReady()
        return stop(.failure(Mode.failure(ofRule: error)))
      } else {
        batches.popFirst()?.outputs = []
      }
    }
  }

  /// Reports ready results that come after the failure as dropped.
  @usableFromInline func reportReady() {
    while let batch = batches.popFirst() {
      for output in batch.outputs.dropFirst(batch.delivered) {
        StreamDiagnostics.dropped(output, "ParallelMap", .terminated)
      }
      if batch.isDone { batch.outputs = [] }
    }
  }

  override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    (facts.held, facts.demand) = (held, demand)
    let away = held - waiting.count
    if away > 0 { facts.note = "values on the group's loops, or waiting for the results of earlier values: \(away)" }
  }

  override var description: String { (Mode.throwsErrors ? "Try" : "") + super.description }
}
