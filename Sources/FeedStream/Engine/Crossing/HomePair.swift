/// The path from one home of a stream to another, for a subscription whose values come from another home than its
/// subscriber's.
@usableFromInline final class HomePair {
  /// Runs an action where the subscriber lives.
  @usableFromInline let atHome: (_ action: @escaping () -> Void) -> Void
  /// The home in which upstream delivers, and receives requests and cancellations.
  private let source: any StreamDomain

  private init(source: any StreamDomain, atHome: @escaping (@escaping () -> Void) -> Void) {
    self.source = source
    self.atHome = atHome
  }

  @usableFromInline func atSource(_ action: @escaping () -> Void) { source.perform(action) }

  /// The path that a subscription which is being delivered must take; `nil` if its values arrive in its subscriber's
  /// home.
  ///
  /// - Parameters:
  ///   - gate: the gate of the stage that takes the subscription; `nil` for one that lives on one thread.
  ///   - name: names that stage, for the message if it has no home.
  @inline(never) @usableFromInline
  static func ofSubscriptionHandedDown(to gate: ThreadGate?, _ name: @autoclosure () -> String) -> HomePair? {
    guard let lane = SerialLane.ofSubscriptionHandedDown, let handing = lane.handing else { return nil }
    if let home = handing.home {
      return home === lane ? nil : HomePair(source: lane, atHome: home.perform)
    }
    // All of it runs on the one thread that serves the queue.
    if lane.ownsThread { return nil }
    if let gate { return HomePair(source: lane, atHome: gate.run) }
    guard lane.isForAnyThread else {
      halt(
        """
        \(name()): its publisher delivers on the queue "\(lane.name)", and the stream itself has no event loop. Make an EventLoop on \
        this thread before you subscribe, or continue each subscriber's stream with .receive(on:) instead (CONTRACT, rule 1).
        """)
    }
    // A task changes threads; the compiler checks its code.
    if SubjectConfinement.isInTask { return nil }
    let thread = currentThread()
    let name = name()
    return HomePair(source: lane) { action in
      guard thread == currentThread() else {
        halt(
          """
          \(name): a Future was fulfilled on a different thread than the one that subscribed, and the stream has no event loop. Continue \
          the Future with .receive(on: DispatchQueue.main) or another queue right below, or make an EventLoop on this thread \
          before you make the Future (CONTRACT, rule 1).
          """)
      }
      action()
    }
  }
}
