import Synchronization

/// The events of one publisher that are on the way to its subscriber's home, in order.
///
/// A home may let the calling thread run there immediately, even though earlier events of the same publisher, which
/// another thread delivered, still wait there. So an event joins this line before it is passed to its home. Whichever
/// thread runs there first handles the events from the front of the line, up to and including its own. No event
/// overtakes another, and no thread waits. The handler of an event may request another event, which then arrives while
/// the first is being handled. That event is handled after the first one, not inside its handler.
///
/// An unused line allocates no memory.
@usableFromInline struct EventLine: ~Copyable {
  private let queue = AtomicLazyReference<Queue>()

  @usableFromInline init() {}

  /// True if no event waits. At home, this remains true until the publisher delivers another event.
  var isEmpty: Bool { queue.load()?.isEmpty ?? true }

  /// Adds an event.
  ///
  /// - Parameters:
  ///   - event: handles the event at home.
  ///   - move: runs an action at home, immediately or later. If it drops the action, the event is dropped.
  @usableFromInline func add(_ event: @escaping () -> Void, _ move: (_ action: @escaping () -> Void) -> Void) {
    let errand = (queue.load() ?? queue.storeIfNil(Queue())).add(event)
    move { errand.run() }
  }

  /// Handles an event in `domain`: immediately if the calling thread is there and no event waits.
  func pass(to domain: any StreamDomain, _ event: @escaping () -> Void) {
    if domain.isHere, isEmpty { domain.performHere(event) } else { add(event) { domain.perform($0) } }
  }

  // @unchecked: a lock guards the state, and the events run one at a time, at home.
  private final class Queue: @unchecked Sendable {
    private struct State {
      var events = FIFO<() -> Void>()
      /// The number of events that have been taken.
      var taken = 0
      /// The number of the last event that may be handled.
      var last = 0
      var isHandling = false
    }

    private let state = Locked(State())

    var isEmpty: Bool { state.withLock { $0.events.isEmpty } }

    func add(_ event: @escaping () -> Void) -> Errand {
      state.withLock { state in
        state.events.append(event)
        return Errand(queue: self, number: state.taken + state.events.count)
      }
    }

    /// Handles the events up to the one with this number. If an event is being handled, the call that handles it also
    /// handles these.
    func handle(upTo number: Int) {
      let mayHandle = state.withLock { state in
        state.last = max(state.last, number)
        defer { state.isHandling = true }
        return !state.isHandling
      }
      guard mayHandle else { return }
      while let event = next() { event() }
    }

    private func next() -> (() -> Void)? {
      state.withLock { state in
        state.isHandling = state.taken < state.last
        guard state.isHandling else { return nil }
        state.taken += 1
        return state.events.popFirst()
      }
    }

    /// Drops the events up to the one with this number.
    func drop(upTo number: Int) { while take(upTo: number) != nil {} }

    private func take(upTo number: Int) -> (() -> Void)? {
      state.withLock { state in
        guard state.taken < number else { return nil }
        state.taken += 1
        return state.events.popFirst()
      }
    }
  }

  /// Handles the events up to the one with its number. An errand that is released without having run drops these
  /// events, because they retain their stage, which retains the line.
  private final class Errand {
    private let queue: Queue
    private let number: Int
    private var hasRun = false

    init(queue: Queue, number: Int) {
      self.queue = queue
      self.number = number
    }

    deinit { if !hasRun { queue.drop(upTo: number) } }

    func run() {
      hasRun = true
      queue.handle(upTo: number)
    }
  }
}
