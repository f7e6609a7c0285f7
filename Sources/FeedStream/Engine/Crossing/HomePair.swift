/// The way from one home of a stream to another, for a subscription whose values come from elsewhere than where its
/// subscriber lives.
@usableFromInline final class HomePair {
  /// The subscriber's home.
  let home: any StreamDomain
  /// The home where upstream delivers, and takes requests and cancellations.
  let source: any StreamDomain

  /// The subscriber's thread and name, where it has no home.
  private var thread: UInt?
  private var name = ""

  init(home: any StreamDomain, source: any StreamDomain) {
    self.home = home
    self.source = source
  }

  @usableFromInline func atHome(_ action: @escaping () -> Void) {
    guard let thread else { return home.perform(action) }
    guard thread == currentThread() else {
      halt(
        """
        \(name): a Future was fulfilled on another thread than the one that subscribed, and the stream has no event loop. Continue \
        the stream with .receive(on: DispatchQueue.main) or another queue right below, or make an EventLoop on this thread \
        before you make the Future (CONTRACT, rule 1).
        """)
    }
    action()
  }
  @usableFromInline func atSource(_ action: @escaping () -> Void) { source.perform(action) }

  /// The way that a subscription which is handed down now has to take; `nil` when its values come where its subscriber
  /// lives.
  ///
  /// - Parameter subscriber: names what joins several publishers, for the message where that lives nowhere.
  @inline(never) @usableFromInline
  static func ofSubscriptionHandedDown(to subscriber: @autoclosure () -> String) -> HomePair? {
    guard Home.hasQueues, let lane = CurrentDomain.get() as? SerialLane, let handing = lane.handing else { return nil }
    guard let home = handing.home else {
      // All of it runs on the one thread that serves the queue.
      if lane.ownsThread { return nil }
      if lane.isForAnyThread {
        // A task changes threads; the compiler checks its code.
        guard !SubjectConfinement.isInTask else { return nil }
        let pair = HomePair(home: lane, source: lane)
        (pair.thread, pair.name) = (currentThread(), subscriber())
        return pair
      }
      halt(
        """
        \(subscriber()): one of its publishers delivers on the queue "\(lane.name)", and the stream itself has no event loop, \
        so several threads would run it at the same time. Continue the stream with .receive(on: DispatchQueue.main) or \
        another queue right below, make an EventLoop on this thread before you subscribe, or use mapAsync for work \
        in tasks (CONTRACT, rule 1).
        """)
    }
    return home === lane ? nil : HomePair(home: home, source: lane)
  }
}
