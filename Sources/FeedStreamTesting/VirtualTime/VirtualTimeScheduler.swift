import FeedStream
import Synchronization

/// A scheduler whose time advances only when a test tells it to.
///
/// It replaces an `EventLoop`: code for `any LoopScheduler` runs on either. It is also a Swift `Clock`, a
/// `SerialExecutor` and a `TaskExecutor`. One call to `advance` runs operators, `Task.sleep`, actors and async closures
/// in one total order, on the calling thread, without yields or real waits:
///
///     let time = VirtualTimeScheduler()
///     Task(executorPreference: time) {
///       try await Task.sleep(for: .seconds(5), clock: time)
///       print("five seconds later")
///     }
///     time.advance(by: .seconds(5))
///
/// Work that is due at the same instant runs in the order in which it was scheduled. Work that is scheduled while time
/// advances, and due at or before the target, runs in the same call. Work scheduled for the past runs now, once. On an
/// event loop, work for the present or the past may run before work without a time that was scheduled earlier: use
/// ``Order/seeded(_:)`` to test both orders.
///
/// **Thread:** streams on the scheduler belong to the thread that advances it. Tasks may resume on it from any thread;
/// resumptions are queued in the order in which they arrive.
// @unchecked: the test that owns the scheduler sets its properties, before time advances or from work that runs in it.
// A precondition traps if a second thread advances time.
public final class VirtualTimeScheduler: @unchecked Sendable {
  /// The order of work that is due at the same instant.
  public enum Order: Sendable {
    /// In the order in which it was scheduled, as on an event loop, except that a loop may run work for the present or
    /// the past before work without a time.
    case scheduled
    /// In an order that the seed determines. Work scheduled without a time still keeps its order, because every
    /// scheduler guarantees that.
    case seeded(UInt64)

    var seed: UInt64? {
      if case .seeded(let seed) = self { seed } else { nil }
    }
  }

  /// The order of work that is due at the same instant.
  public let order: Order

  /// The maximum number of pieces of work at one instant, or in one call to ``run(fileID:filePath:line:column:)``; more
  /// work than that counts as endless. A million by default.
  @exclusivity(unchecked) public var workLimit = 1_000_000

  /// The time that ``offload(_:completion:)`` takes to deliver a result; zero by default.
  @exclusivity(unchecked) public var offloadLatency: StreamInstant.Stride = 0

  /// True to record the function that scheduled each piece of work. Off by default, because walking the stack takes
  /// half a millisecond each time. Nothing is traced while the process maps files that may change, such as a SQLite
  /// database, because reading the debug information could then crash the process.
  @exclusivity(unchecked) public var tracesOrigins = false

  let agenda: SharedAgenda
  private let mover = Mover()
  let audit = Audit()
  let actors: ActorLane
  /// True once time has been advanced, or work has run.
  @exclusivity(unchecked) private(set) var hasMoved = false
  /// An object that a higher layer attaches to the scheduler.
  @exclusivity(unchecked) var attachment: AnyObject?
  private lazy var pass = CurrentDomain.Token(self)

  /// - Parameters:
  ///   - start: the initial value of `now`.
  ///   - order: the order of work that is due at the same instant.
  public init(startingAt start: StreamInstant = StreamInstant(nanoseconds: 0), order: Order = .scheduled) {
    self.order = order
    agenda = SharedAgenda(Agenda(now: start, seed: order.seed))
    actors = ActorLane(agenda)
    Movers.add(mover, of: ObjectIdentifier(self))
  }

  deinit { Movers.remove(of: ObjectIdentifier(self)) }

  public var now: StreamInstant { agenda.now }

  /// The waiting work, in the order in which it is due. With ``Order/seeded(_:)``, future work that is due at the same
  /// instant is listed in the order in which it was scheduled.
  public var pending: [PendingWork] { agenda.pending }

  /// The origin of the current call.
  var callerOrigin: OriginNote { tracesOrigins ? OriginNote(StackTrace.caller()) : .untraced }

  // MARK: Moving time

  /// Advances time to the next piece of work, and runs all work that is due then.
  ///
  /// - Returns: true if there was work.
  @discardableResult public func advanceToNextWork(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) -> Bool {
    let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    switch step(site) {
    case .nothing: return false
    case .moved: return true
    case .endless(let finding):
      report(finding, site)
      return true
    }
  }

  /// The result of advancing time by one step.
  enum Step {
    /// There is no work.
    case nothing
    case moved
    /// Work kept scheduling more work; the text names it.
    case endless(String)
  }

  /// The advice in a message about endless work.
  static let advice = "\nStop it, advance by an interval instead of running to the end, or raise workLimit."

  /// Advances time to the next piece of work, and runs all work that is due then.
  func step(_ site: CallSite) -> Step {
    guard let next = agenda.nextInstant else { return .nothing }
    return move(to: next, site).map { .endless($0) } ?? .moved
  }

  /// Runs the work due up to `target`, or all work.
  func drive(to target: StreamInstant?, _ site: CallSite) {
    if let finding = move(to: target, site) { report(finding, site) }
  }

  /// Runs all work.
  ///
  /// - Returns: a message about endless work and what to do about it, or `nil`.
  func runNoticing(_ site: CallSite) -> String? { move(to: nil, site).map { $0 + Self.advice } }

  private func report(_ finding: String, _ site: CallSite) { fail(finding + Self.advice, site) }

  /// Fails the test, unless a diagram could not be read: other failures are then a consequence.
  func fail(_ message: String, _ site: CallSite) {
    guard !audit.isUnreadable else { return }
    audit.noteFailure()
    site.fail(message + seedNote)
  }

  /// Runs the work due up to `target`, or all work.
  ///
  /// - Returns: a message about endless work, or `nil`.
  private func move(to target: StreamInstant?, _ site: CallSite) -> String? {
    precondition(
      mover.thread.exchange(currentThread(), ordering: .acquiring) == 0,
      "\(site): advance or run was called while time was already advancing; schedule later work instead")
    hasMoved = true
    let outer = CurrentDomain.enter(pass)
    defer {
      CurrentDomain.leave(outer)
      CurrentDomain.somethingHappens()
      mover.thread.store(0, ordering: .releasing)
    }
    var patience = Patience(limit: workLimit)
    let wasTracing = tracesOrigins
    var isNearlyOver = false
    while let item = agenda.next(upTo: target ?? StreamInstant(nanoseconds: .max)) {
      perform(item)
      switch patience.isOver(after: item, at: target == nil ? nil : now) {
      case .no:
        if isNearlyOver { (tracesOrigins, isNearlyOver) = (wasTracing, false) }
      case .nearly: (tracesOrigins, isNearlyOver) = (true, true)
      case .yes:
        tracesOrigins = wasTracing
        return patience.finding
      }
    }
    tracesOrigins = wasTracing
    if let target { agenda.move(to: target) }
    return nil
  }

  /// A sentence with the seed, so that the order of a failed test can be reproduced; empty if there is no seed.
  var seedNote: String {
    order.seed.map { "\nThe order was seeded. To repeat it, pass order: .seeded(\($0))." } ?? ""
  }

  private func perform(_ item: Agenda.Item) {
    CurrentDomain.somethingHappens()
    switch item {
    case .work: break  // The agenda has taken its action.
    case .action(let action, _): action()
    case .actorJob(let job):
      job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    case .taskJob(let job): job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}

extension VirtualTimeScheduler: StreamDomain {
  /// True when called from work that runs in virtual time.
  var isCurrent: Bool { CurrentDomain.get() === self }

  // While no thread advances time, the test may use the scheduler's streams, from any thread.
  package var isHere: Bool {
    if isCurrent { return true }
    let mover = mover.thread.load(ordering: .acquiring)
    // A lane that any thread may run is part of the work that is running in virtual time.
    return mover == 0 || mover == currentThread() && CurrentDomain.get()?.isForAnyThread == true
  }

  package var isVirtual: Bool { true }

  /// This scheduler, so that tasks run in virtual time.
  package var taskExecutor: (any TaskExecutor)? { self }

  package var instant: Int64? { now.nanoseconds }

  package func bring(_ action: @escaping @Sendable () -> Void) { agenda.add(.action(action, callerOrigin)) }
}
