extension Future {
  /// Starts work that fulfills the future by calling a promise, on any thread.
  ///
  ///     Future<Data, any Error> { promise in
  ///       download(url) { promise($0) }     // on any thread
  ///     }
  ///
  /// The result is delivered where the future was made: on the loop that the thread runs or owns. While a subscriber
  /// waits and the promise is still retained, the loop keeps running, unless ``Publisher/keepsLoopAlive(_:)`` said
  /// otherwise where the future was made. A future made without a loop is fulfilled on the thread that calls the
  /// promise.
  ///
  /// **Bad input:** a second result, and a result for a closed loop, are dropped and reported to
  /// ``StreamDiagnostics/onDrop(_:)``. If the promise is released without being called, subscribers keep waiting, as in
  /// Combine, but they no longer keep the loop running.
  ///
  /// - Parameter attemptToFulfill: runs immediately; calls the promise it receives, now or later.
  public convenience init(_ attemptToFulfill: (@escaping Promise) -> Void) {
    let waits = OutsideWaits()
    self.init(waits)
    let promise = HeldPromise(self, waits)
    attemptToFulfill { promise.fulfill($0) }
  }
}

extension Future {
  /// Runs `work` in a task that starts immediately, and delivers its result.
  ///
  ///     let answer = Future { await model.answer(to: question) }
  ///     let page = Future { try await session.page(at: url) }
  ///     let typed = Future { () async throws(Refusal) in try await ask() }
  ///
  /// The result is delivered where the future was made, as with a promise. The loop keeps running until the task has
  /// ended, unless ``Publisher/keepsLoopAlive(_:)`` said otherwise where the future was made.
  ///
  /// **Cancellation:** a subscriber cancels only its own subscription; when the future is released and has no
  /// subscribers, its task is cancelled. **Policy:** a result for a closed loop is dropped and reported to
  /// ``StreamDiagnostics/onDrop(_:)``.
  public convenience init(_ work: @escaping @Sendable () async throws(Failure) -> sending Output) {
    let waits = OutsideWaits()
    self.init(waits)
    let home = waits.home
    // Weak, so that the task doesn't keep alive a future that has neither an owner nor a subscriber.
    let future = WeakFuture(self)
    home.beginWaiting()
    waits.task = home.task {
      let result: Carried<Result<Output, Failure>>
      do throws(Failure) {
        result = Carried(.success(try await work()))
      } catch {
        result = Carried(.failure(error))
      }
      let hasArrived = await home.perform {
        // Fulfill first, then stop waiting: a result on its way to a queue keeps the loop running in turn.
        future.future?.fulfill(result.value)
        home.stopWaiting()
      }
      // Don't report a cancelled task's result: nothing was waiting for it.
      if !hasArrived, !Task.isCancelled { StreamDiagnostics.dropped(result.value, "Future", .terminated) }
    }
  }
}

/// The state of a future whose result comes from outside the stream.
private final class OutsideWaits: FutureWaits {
  // A lane can't be the home: code on a queue may give the future to another queue. In a lane without a queue, the
  // thread that brings the result would also run all the work that waits in the lane.
  let home = StreamHome.ofAnyThread ?? .current
  /// The task that fulfills the future; cancelled when the future is released.
  var task: Task<Void, Never>?
  /// True while the promise may still be called.
  private var isHeld = false
  /// The number of subscribers that wait for the result.
  private var awaiting = 0
  private var isFulfilled = false
  private var isWaiting = false
  /// Guards the four properties above, if any thread may fulfill the future. Otherwise, they are used on its loop.
  private let mutex = SystemMutex()
  private let isOfAnyThread: Bool

  override init() { isOfAnyThread = home.domain == nil }

  deinit { task?.cancel() }

  override var isElsewhere: Bool { home.domain.map { !$0.isHere } ?? true }

  override func awaited(_ number: Int) {
    guard isElsewhere, !isOfAnyThread else { return change { $0.awaiting += number } }
    let waits = Carried(uncheckedly: self)
    home.run { waits.value.change { $0.awaiting += number } }
  }

  override func fulfilled() {
    change { $0.isFulfilled = true }
  }

  func held(_ isHeld: Bool) {
    change { $0.isHeld = isHeld }
  }

  private func change(_ body: (OutsideWaits) -> Void) {
    if isOfAnyThread { mutex.lock() }
    body(self)
    update()
    if isOfAnyThread { mutex.unlock() }
  }

  private func update() {
    guard (isHeld && awaiting > 0 && !isFulfilled) != isWaiting else { return }
    isWaiting.toggle()
    if isWaiting { home.beginWaiting() } else { home.stopWaiting() }
  }
}

/// A promise that any thread may call. It retains its future, as in Combine.
// @unchecked: the objects that it holds are used and released only at the future's home.
private final class HeldPromise<Output, Failure: Error>: @unchecked Sendable {
  private let home: StreamHome
  private let held: Held

  // @unchecked: for the same reason as the promise.
  private final class Held: @unchecked Sendable {
    var future: Future<Output, Failure>?
    let waits: OutsideWaits
    init(_ future: Future<Output, Failure>, _ waits: OutsideWaits) { (self.future, self.waits) = (future, waits) }

    func release() {
      waits.held(false)
      discard(future.take())
    }
  }

  init(_ future: Future<Output, Failure>, _ waits: OutsideWaits) {
    home = waits.home
    held = Held(future, waits)
    waits.held(true)
  }

  deinit { home.runCancellation { [held] in held.release() } }

  func fulfill(_ result: Result<Output, Failure>) {
    guard let domain = home.domain, !domain.isCurrent else { return deliver(result) }
    // Safe to carry, because the caller has given the result away.
    let given = Carried(uncheckedly: result)
    let errand = LoopErrand {
      self.deliver(given.value)
    } dropped: {
      StreamDiagnostics.dropped(given.value, "Future", .terminated)
    }
    home.run { errand.run() }
  }

  private func deliver(_ result: Result<Output, Failure>) { held.future?.fulfill(result) }
}

/// A weak reference to a future, for the future's task.
// @unchecked: used only where the future lives.
private struct WeakFuture<Output, Failure: Error>: @unchecked Sendable {
  weak var future: Future<Output, Failure>?
  init(_ future: Future<Output, Failure>) { self.future = future }
}
