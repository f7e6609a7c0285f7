import Synchronization

/// Takes the place of a loop for streams without one: runs work from several threads one piece at a time.
///
/// No thread blocks. A lane with a queue runs its work there. Without a queue, a thread that finds the lane free runs
/// the work, and a thread that finds the lane busy leaves its work to the thread that is running there. If that thread
/// never catches up with the others, it leaves the rest to the next thread that adds work, or to a task.
// @unchecked: a lock guards the state, and pieces of work run one at a time, on any thread. Only the thread that hands
// down the subscription uses `handing`, before other code has access to the lane.
@usableFromInline package final class SerialLane: StreamDomain, @unchecked Sendable {
  struct State {
    var work = FIFO<() -> Void>()
    var isBusy = false
    /// True if the lane is busy because its last thread has left work to others.
    var isLeft = false
    /// True if another thread has added work during the current turn.
    var isFed = false
    /// Cancellations that haven't run yet, in order.
    var cancellations = FIFO<() -> Void>()
    /// True if the lane's loop is closed: no more work runs, except cancellations, on any thread.
    var isClosed = false
    var whenClosed: (() -> Void)?
    /// The number of results for which streams in the lane wait.
    var waits = 0
    /// The lane's streams, once the live map has any.
    var map: LoopMap?
    /// Reads of the map that wait for the queue.
    var looks: [@Sendable (Bool) -> Void] = []
    var isLooking = false

    /// Makes the calling thread the one that runs the lane's work, unless another thread already runs it.
    mutating func takeOver() -> Duty {
      guard isLeft || !isBusy else { return .none }
      defer { (isBusy, isLeft, isFed) = (true, false, false) }
      return isBusy ? .goOn : .begin
    }
  }

  /// The number of pieces of work that run before the queue, or another thread, gets a turn.
  static let turn = 128
  /// The time after which a piece of work with many values lets the queue have a turn.
  static let turnDuration = Duration.milliseconds(1)

  let state = Locked(State())
  let runner = Atomic<UInt>(0)
  /// The conditions that a piece of work with many values checks after each value.
  let signals = Atomic<Signals.RawValue>(0)
  /// The time at which the lane began to run on its queue, and whether the queue gets a turn after the current piece of
  /// work. Used in the lane.
  var (began, turnEnds) = (ContinuousClock.now, false)
  /// Starts the work on the lane's queue; `nil` for a lane without one.
  let start: ((@escaping () -> Void) -> Void)?
  /// True if the lane starts its work again when the queue drops it.
  let restarts: Bool
  /// True on the thread that serves the lane's queue, if only one does.
  private let isOnThread: (@Sendable () -> Bool)?
  /// The name of the lane's queue, for messages.
  let name: String
  /// The loop that keeps running while the lane has work.
  private let holder: (any StreamDomain)?
  let place: HoldingPlace
  /// True if another thread may make requests in this lane while the lane is free. Set before other code has access to
  /// the lane.
  var takesRequests = false
  /// The `reference` of the loop to which the lane belongs, if another thread runs that loop.
  private(set) weak var loop: (any StreamDomain)?
  /// The home of the stream that receives the lane's values; set while the subscription is delivered.
  var handing: Handing?
  /// True while the thread that hands down the subscription subscribes to another stream. Only that thread uses it.
  var isApart = false
  /// The number of gates in which a thread keeps the lane occupied. Only that thread uses it.
  var keepers = 0
  /// True while the thread that runs the lane is inside ``drain()`` or a similar function, which frees the lane later.
  /// Only that thread uses it.
  var isRunning = false
  /// True if the loop is held for a lane that a gate keeps occupied. Only the occupying thread uses it.
  var isHeld = false

  /// The duty of a thread that has added work to the lane: nothing, beginning to run the work of a free lane, or
  /// running the work that another thread has left.
  enum Duty { case none, begin, goOn }

  @usableFromInline struct Signals: OptionSet, Sendable {
    @usableFromInline let rawValue: UInt8
    @usableFromInline init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Waiting events must not be delivered.
    @usableFromInline static var revoked: Self { Self(rawValue: 1) }
    /// Other work waits in the lane.
    @usableFromInline static var hasWork: Self { Self(rawValue: 2) }
    /// A cancellation is among the work that waits. Changed under the lock.
    static var hasCancellation: Self { Self(rawValue: 4) }
  }

  /// - Parameters:
  ///   - name: the queue's name, for messages.
  ///   - start: runs an action on the queue, once.
  ///   - isOnThread: true on the queue's own thread, for a queue that has one.
  ///   - mayBeOnMainQueue: true for a third-party scheduler, which may use the main queue.
  ///   - restarts: true for a queue that may drop work and then continue.
  ///   - holder: the loop that keeps running while the lane has work.
  package init(
    _ name: String = "", start: ((@escaping () -> Void) -> Void)? = nil, isOnThread: (@Sendable () -> Bool)? = nil,
    mayBeOnMainQueue: Bool = false, restarts: Bool = false, holder: (any StreamDomain)? = nil
  ) {
    self.holder = holder?.reference
    self.restarts = restarts
    self.name = name
    self.start = start
    self.isOnThread = isOnThread
    place = isOnThread == nil && !mayBeOnMainQueue ? .queue : .mainQueueOrTask
  }

  /// A lane on a loop of another thread.
  init(on loop: any ElsewhereScheduler, holder: (any StreamDomain)?) {
    self.holder = holder?.reference
    restarts = false
    // The stream doesn't keep the loop alive.
    let reference = loop.reference
    name = reference.knownName ?? "an event loop"
    start = { action in
      let action = Carried(uncheckedly: action)
      reference.bring { action.value() }
    }
    isOnThread = { reference.isHere }
    place = .queue
    self.loop = reference
  }

  package var isHere: Bool { runner.load(ordering: .relaxed) == currentThread() || ownsThread }

  /// True for a lane without a queue.
  package var isForAnyThread: Bool { start == nil }

  package var isOnQueue: Bool { start != nil }

  /// True for a lane on a loop of another thread.
  var isOfLoop: Bool { isOnThread != nil && place == .queue }

  /// True when the main queue, or another queue served by one thread, may run the lane's work.
  @usableFromInline var mayBeOnMainQueue: Bool { place == .mainQueueOrTask }

  /// True when the calling thread is the one on which everything in the lane runs.
  var ownsThread: Bool { isOnThread?() ?? false }

  package func bring(_ action: @escaping @Sendable () -> Void) { post(action) }

  /// Runs `action` in the lane; its captured state then belongs to the lane.
  func post(_ action: @escaping () -> Void) {
    let duty = state.withLock { state in
      guard !state.isClosed else { return Duty.none }
      append(action, to: &state)
      return state.takeOver()
    }
    perform(duty)
  }

  func append(_ action: @escaping () -> Void, to state: inout State) {
    state.work.append(action)
    signals.bitwiseOr(Signals.hasWork.rawValue, ordering: .relaxed)
    if state.isBusy, !state.isFed { state.isFed = runner.load(ordering: .relaxed) != currentThread() }
  }

  func perform(_ duty: Duty) {
    switch duty {
    case .none: return
    case .begin: begin()
    case .goOn: drain()
    }
  }

  /// Runs `request` immediately, on this thread, if the lane is free and any thread may make requests in it; otherwise,
  /// runs it like `perform(_:)`. As in Combine, a request made before a value is sent then counts for that value.
  func pass(_ request: @escaping () -> Void) {
    // The objects of a lane with a thread of its own belong to that thread even while the lane is free.
    if !takesRequests || isOnThread != nil || !runIfFree(request) { perform(request) }
  }

  /// Runs `action` immediately, on this thread.
  ///
  /// - Returns: false if the lane isn't free, and nothing has happened.
  func runIfFree(_ action: () -> Void) -> Bool {
    let isMine = state.withLock { state in
      guard !state.isClosed, !state.isBusy else { return false }
      state.isBusy = true
      return true
    }
    guard isMine else { return false }
    isRunning = true
    inside(action)
    stopRunning()
    return true
  }

  // The same loop keeps running for a lane that is created within this one.
  package func hold(_ place: HoldingPlace) { holder?.hold(place) }
  package func letGo(_ place: HoldingPlace) { holder?.letGo(place) }
  // The result that a stream in the lane waits for comes from another thread, whichever thread serves the lane.
  package func beginWaiting() { if changeWaits(by: 1) { hold(place) } }
  package func stopWaiting() { if changeWaits(by: -1) { letGo(place) } }

  /// - Returns: false if the lane is closed and no longer keeps its loop running.
  private func changeWaits(by number: Int) -> Bool {
    state.withLock { state in
      state.waits += number
      return !state.isClosed
    }
  }

  /// The lane in which the calling code runs.
  @usableFromInline static var current: SerialLane? {
    CurrentDomain.hasQueues ? CurrentDomain.get() as? SerialLane : nil
  }

  /// The lane in which the calling code runs, unless it is `lane`.
  @inline(never) @usableFromInline static func other(than lane: SerialLane?) -> SerialLane? {
    guard let current, current !== lane else { return nil }
    return current
  }

  /// Runs `body` outside the lane in which the calling code runs, unless it is `lane`.
  @inline(never) @usableFromInline static func leavingOthers(than lane: SerialLane?, _ body: () -> Void) {
    if other(than: lane) == nil { body() } else { CurrentDomain.outside(body) }
  }
}
