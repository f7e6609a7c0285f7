import FeedStream

/// Simulates a loop on another thread in virtual time: streams on it are separate from those of its scheduler, although
/// both run on one thread.
///
/// Work on the loop is due immediately. With ``VirtualTimeScheduler/Order/seeded(_:)``, the seed decides which of
/// several loops runs first, so that a race between threads shows up as a failing seed. The loop has the files of its
/// scheduler, but no network, programs or terminal: use the scheduler itself for them.
///
/// Use the loop's streams only in work on the loop. Unlike the scheduler's streams, they don't belong to the test while
/// time rests.
///
///     let time = VirtualTimeScheduler(order: .seeded(7))
///     let group = EventLoopGroup(count: 3, on: time)
///     let loop = VirtualLoop(on: time)
public final class VirtualLoop: LoopScheduler, Sendable {
  let time: VirtualTimeScheduler
  private let work = Locked(FIFO<Work>())

  // @unchecked: pieces of work run on the thread that advances time, one after another.
  private struct Work: @unchecked Sendable {
    let run: () -> Void
  }

  /// - Parameter time: the scheduler that runs the loop.
  public init(on time: VirtualTimeScheduler) { self.time = time }

  public var now: StreamInstant { time.now }
  public var minimumTolerance: StreamInstant.Stride { time.minimumTolerance }

  public func schedule(options: Never?, _ action: @escaping () -> Void) { add(Work(run: action)) }

  public func schedule(
    after date: StreamInstant, tolerance: StreamInstant.Stride, options: Never?, _ action: @escaping () -> Void
  ) {
    time.schedule(after: date, tolerance: tolerance, options: nil) { [self] in inside(action) }
  }

  public func schedule(
    after date: StreamInstant, interval: StreamInstant.Stride, tolerance: StreamInstant.Stride, options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    time.schedule(after: date, interval: interval, tolerance: tolerance, options: nil) { [self] in inside(action) }
  }

  @discardableResult public func offload<T>(
    _ work: @escaping @Sendable () -> T, completion: @escaping (T) -> Void
  ) -> any Cancellable {
    time.offload(work) { [self] result in inside { completion(result) } }
  }

  private func add(_ item: Work) {
    work.withLock { $0.append(item) }
    time.schedule(after: time.now, tolerance: 0, options: nil) { [self] in
      // The seed may shuffle these actions, so each takes the loop's next piece of work, which keeps the loop's order.
      if let item = work.withLock({ $0.popFirst() }) { inside(item.run) }
    }
  }

  private func inside(_ action: () -> Void) {
    let outer = CurrentDomain.enter(self)
    action()
    CurrentDomain.leave(outer)
  }
}

extension VirtualLoop: RevokingScheduler {
  package func scheduleOnce(after date: StreamInstant, _ action: @escaping () -> Void) -> (any Cancellable)? {
    time.scheduleOnce(after: date) { [self] in inside(action) }
  }
}

extension VirtualLoop: FileHost {
  package var fileSystem: any FileSystem { time.files }
}

extension VirtualTimeScheduler: ElsewhereScheduler {}

extension VirtualLoop: ElsewhereScheduler {
  package var isHere: Bool { CurrentDomain.get() === self }
  package var taskExecutor: (any TaskExecutor)? { time }
  package func bring(_ action: @escaping @Sendable () -> Void) { add(Work(run: action)) }
}

extension EventLoopGroup {
  /// Makes a group of virtual loops, for `parallelMap(on:width:limit:ordering:_:)` and
  /// `parallel(on:width:limit:_:)` in virtual time. The `loops` array of such a group is
  /// empty.
  ///
  /// - Parameters:
  ///   - count: the number of loops, at least one.
  ///   - time: the scheduler that runs the loops.
  public convenience init(count: Int, on time: VirtualTimeScheduler) {
    precondition(count > 0, "EventLoopGroup(count: \(count), on:): nothing could ever run; use 1 or more")
    self.init(of: (0..<count).map { _ in VirtualLoop(on: time) })
  }
}

extension Publisher where Output: Sendable {
  /// Delivers values and the completion on `loop`, as ``FeedStream/Publisher/receive(on:)`` does on an event loop on
  /// another thread.
  ///
  /// **Demand, failure, cancellation, policy:** as in that operator.
  public func receive(on loop: VirtualLoop) -> Publishers.ReceiveOn<Self, VirtualLoop> {
    Publishers.ReceiveOn(crossing: self, to: loop)
  }
}
