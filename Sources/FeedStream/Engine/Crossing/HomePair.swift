/// The path between two homes of a stream, for a subscription whose values arrive outside its subscriber's home.
@usableFromInline final class HomePair {
  /// Runs an action where the subscriber lives.
  @usableFromInline let atHome: (_ action: @escaping () -> Void) -> Void
  /// The lane in which upstream delivers, and receives requests and cancellations.
  private let source: SerialLane

  private init(source: SerialLane, atHome: @escaping (@escaping () -> Void) -> Void) {
    self.source = source
    self.atHome = atHome
  }

  func request(_ demand: Subscribers.Demand, from up: any Subscription) {
    if let up = up as? GuardedSubscription, up.takesRequestsAnywhere { return up.request(demand) }
    source.pass { up.request(demand) }
  }

  func cancel(_ up: any Subscription) { source.perform(isCancellation: true) { up.cancel() } }

  /// The path from the lane in which the current subscription is being delivered to a subscriber that lives in
  /// `domain`; `nil` if there is no such lane, or if the subscriber lives in it.
  static func fromLane(to domain: any StreamDomain) -> HomePair? {
    guard let lane = SerialLane.ofSubscriptionHandedDown, lane !== domain else { return nil }
    return HomePair(source: lane) { domain.perform($0) }
  }

  /// The path for the subscription that is currently being delivered; `nil` if its values arrive in its subscriber's
  /// home.
  ///
  /// - Parameters:
  ///   - gate: the gate of the stage that takes the subscription; `nil` for a stage that lives on one thread.
  ///   - following: true for the stage's main upstream, whose lane the stage may follow.
  ///   - name: the stage's name, for the message if the stage has no home.
  @inline(never) @usableFromInline
  static func ofSubscriptionHandedDown(
    to gate: ThreadGate?, following: Bool = false, _ name: @autoclosure () -> String
  ) -> HomePair? {
    let lane = SerialLane.ofSubscriptionHandedDown
    if following, let gate, gate.mayFollow { gate.follow(lane) }
    guard let lane, let handing = lane.handing else { return nil }
    if let gate, gate.lives(in: lane) { return nil }
    if let home = handing.home {
      guard home !== lane else { return nil }
      // The code that subscribes may run in a different home than the stage, such as the lane of a join above the
      // stage. Only the gate keeps track of the stage's home.
      guard let gate else { return HomePair(source: lane) { home.perform($0) } }
      return HomePair(source: lane, atHome: gate.run)
    }
    // The only thread that serves the queue runs this code, so the whole stream lives on that thread.
    if lane.ownsThread { return nil }
    if let gate { return HomePair(source: lane, atHome: gate.run) }
    guard lane.isForAnyThread else {
      guard MainQueueCode.isRunning else { haltWithoutLoop(name(), lane) }
      // The queue may target the main queue. Only code that runs on the queue can check that.
      let name = name()
      return HomePair(source: lane) { action in
        guard MainQueueCode.isRunning else { haltWithoutLoop(name, lane) }
        action()
      }
    }
    // A task may change threads; the compiler checks its code instead.
    if SubjectConfinement.isInTask { return nil }
    let thread = currentThread()
    let name = name()
    return HomePair(source: lane) { action in
      guard thread == currentThread() else {
        halt(
          """
          \(name): a Future was fulfilled on a different thread than the one that subscribed, and the stream has no event loop. Write \
          .receive(on:) with DispatchQueue.main or another queue directly below the Future, or make an EventLoop on this thread \
          before you make the Future, and call its run() last (CONTRACT, rule 1).
          """)
      }
      action()
    }
  }

  private static func haltWithoutLoop(_ name: String, _ lane: SerialLane) -> Never {
    halt(
      """
      \(name): its publisher delivers on the queue "\(lane.name)", and the stream itself has no event loop. Make \
      an EventLoop on this thread before you subscribe, and call its run() last; if dispatchMain() or \
      RunLoop.main.run() runs the program, use EventLoop.main. Or write .receive(on: DispatchQueue.main) directly \
      above this operator (CONTRACT, rule 1).
      """)
  }
}

extension HomePair? {
  /// Requests values from `up`: through the path, or directly if there is none.
  func request(_ demand: Subscribers.Demand, from up: any Subscription) {
    if let self { self.request(demand, from: up) } else { up.request(demand) }
  }

  /// Cancels `up`: through the path, or directly if there is none.
  func cancel(_ up: any Subscription) { if let self { self.cancel(up) } else { up.cancel() } }
}
