extension Publisher {
  /// Subscribes, requests values and cancels on `scheduler`.
  ///
  ///     downstream subscribes   x
  ///     upstream is subscribed  -x--a--b--|   on the scheduler's next turn
  ///     subscribe(on: loop)
  ///     downstream              ----a--b--|
  ///
  /// Values and the completion pass through on the thread where they arrive; to move them to a scheduler, use
  /// ``Publisher/receive(on:options:)``. If `scheduler` is a queue, they arrive on that queue.
  ///
  /// **Demand:** reaches upstream on the scheduler, in the order of the requests. **Failure:** passes through.
  /// **Cancellation:** nothing more is delivered; upstream is cancelled on the scheduler, or immediately if the
  /// subscriber cancels while it receives a value there. A publisher of your own is cancelled immediately only if it
  /// delivers the value within a request. **Policy:** forwards.
  ///
  /// If `scheduler` is a queue, a cancellation on another thread stops a sequence when the sequence's next value
  /// arrives here. Put a `prefix` directly below an endless sequence if its values may not arrive: because `filter`
  /// drops them, because a `receive(on:)` in between moves them to another queue, or because an operator below this
  /// one, such as `flatMap` or `append`, subscribes to the sequence.
  ///
  /// - Parameters:
  ///   - scheduler: runs the calls to upstream.
  ///   - options: passed on to the scheduler.
  @inlinable public func subscribe<S: Scheduler>(
    on scheduler: S, options: S.SchedulerOptions? = nil
  ) -> Publishers.SubscribeOn<Self, S> {
    Publishers.SubscribeOn(upstream: self, scheduler: scheduler, options: options)
  }
}

extension Publishers {
  /// See ``Publisher/subscribe(on:options:)``.
  public struct SubscribeOn<Upstream: Publisher, Context: Scheduler>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let scheduler: Context
    public let options: Context.SchedulerOptions?

    @inlinable public init(upstream: Upstream, scheduler: Context, options: Context.SchedulerOptions?) {
      self.upstream = upstream
      self.scheduler = scheduler
      scheduler.noteQueue()
      self.options = options
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      if scheduler.isQueue { return cross(to: ErasedSubscriber(subscriber)) }
      let hold = scheduler.newHold()
      let stage = SubscribeOnStage<Output, Failure>(ErasedSubscriber(subscriber)) { [scheduler, options] in
        scheduler.schedule(holding: hold, options: options, $0)
      }
      stage.checkPlace()
      scheduler.schedule(holding: hold, options: options) { [upstream] in
        stage.checkPlace()
        upstream.receive(subscriber: stage)
      }
    }

    @inlinable @inline(never) func cross(to subscriber: ErasedSubscriber<Output, Failure>) {
      let stage = SubscribeOnQueueStage(subscriber, on: scheduler, options: options)
      stage.subscribe {
        // A publisher with threads of its own would deliver on them while the queue requests values and cancels.
        upstream.receive(stage, through: upstream._deliversAtHome ? nil : ThreadGate())
      }
    }
  }
}

/// Keeps its upstream after the subscriber has cancelled, until the cancellation has reached upstream.
@usableFromInline final class SubscribeOnStage<Input, Failure: Error>: Stage<Input, Failure>, Subscriber {
  private let schedule: (@escaping () -> Void) -> Void
  /// Checks the thread on which the scheduler calls, as in `ScheduledStage`.
  @exclusivity(unchecked) private var place = SubjectConfinement()
  /// True while a scheduled request runs: upstream may deliver all its values within it.
  @exclusivity(unchecked) private var isRequesting = false

  @usableFromInline init(_ down: ErasedSubscriber<Input, Failure>, schedule: @escaping (@escaping () -> Void) -> Void) {
    self.schedule = schedule
    super.init(down)
  }

  @usableFromInline func checkPlace() { place.checkScheduled("subscribe(on:)") }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents else {
      stopUpstream()
      return .none
    }
    let more = down.receive(input)
    guard isLive else {
      // The subscriber cancelled while receiving the value, so its demand is ignored. Upstream's next value may never
      // arrive here.
      stopUpstream()
      return .none
    }
    return more
  }

  /// Cancels upstream, which is still delivering after the cancellation. Upstream may be a sequence that delivers all
  /// its values in one turn of the scheduler, so that the scheduled cancellation would wait forever.
  @inline(never) @usableFromInline func stopUpstream() {
    // A publisher of the user's that delivers outside of a request isn't in such a turn, or uses a thread of its own.
    guard phase == .ended, place.thread == currentThread(), unconfined == nil || isRequesting else { return }
    up.take()?.cancel()
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) { finish(completion) }

  override var takesNone: Bool { true }

  override func requested(_ demand: Subscribers.Demand) {
    guard takesEvents else { return }
    checkPlace()
    schedule { [self] in
      checkPlace()
      let outer = exchange(&isRequesting, with: true)
      up?.request(demand)
      isRequesting = outer
    }
  }

  override func cancelled() {
    guard isLive else { return }
    phase = .ended
    checkPlace()
    schedule { [self] in
      checkPlace()
      up.take()?.cancel()
    }
  }
}
