extension Scheduler {
  /// True when this scheduler is a queue, to which streams cross. The compiler knows the value where this is
  /// specialized.
  @inlinable var isQueue: Bool { Self.usesOtherThreads }

  /// Records that the process uses queues, which changes how later subscriptions are made.
  @inlinable func noteQueue() { if isQueue { CurrentDomain.noteQueue() } }

  /// A lane that runs on this queue.
  ///
  /// - Parameter holder: the loop that keeps running while the lane has work.
  func newLane(_ options: SchedulerOptions?, holder: (any StreamDomain)?) -> SerialLane {
    if let elsewhere { return SerialLane(on: elsewhere, holder: holder) }
    let queue = self as? any QueueScheduler
    return SerialLane(
      queue?.queueName ?? "\(Self.self)", start: { schedule(options: options, $0) }, isOnThread: queue?.isHere,
      mayBeOnMainQueue: queue == nil, restarts: queue.map { type(of: $0).dropsWork } ?? false, holder: holder)
  }

  /// Runs a time operator in its own home, and delivers its events to `subscriber` on this queue.
  ///
  /// - Parameter attach: subscribes the given stage to the operator, which uses the given scheduler instead of this
  ///   queue.
  @usableFromInline func cross<Output, Failure: Error>(
    _ name: StaticString, to subscriber: ErasedSubscriber<Output, Failure>, options: SchedulerOptions? = nil,
    _ attach: @escaping (CrossingStage<Output, Failure>, HomeScheduler<Self>) -> Void
  ) {
    let stage = CrossingStage(name, subscriber, on: self, options: options)
    stage.subscribe { attach(stage, HomeScheduler(base: self, home: stage.home)) }
  }
}
