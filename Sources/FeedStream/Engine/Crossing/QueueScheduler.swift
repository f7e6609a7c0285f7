import Synchronization

/// A scheduler whose work runs on threads that the system chooses, as a dispatch queue's does: a stream crosses to it
/// (`CrossingStage`), because neither its thread nor its order can be relied on.
package protocol QueueScheduler: Scheduler {
  /// Names the queue in messages.
  var queueName: String { get }
  /// Says, for a queue that one thread serves, that the calling code runs on that thread; `nil` for other queues.
  var isHere: (@Sendable () -> Bool)? { get }
}

/// The place where streams live.
enum Home {
  /// The home of the calling code; `nil` where no loop, virtual time or lane runs, and the thread has no loop of its own.
  static var current: (any StreamDomain)? { CurrentDomain.get() ?? CurrentDomain.resting() }

  /// True once the process has used a queue as a scheduler.
  static var hasQueues: Bool { queues.load(ordering: .relaxed) }
  private static let queues = Atomic(false)

  static func usesQueues() { queues.store(true, ordering: .relaxed) }
}

extension StreamDomain {
  /// Runs `action` here: at once, with this as the thread's domain, if this is the place, otherwise later.
  func perform(_ action: @escaping () -> Void) {
    guard isHere else {
      let action = Carried(uncheckedly: action)
      return execute { action.value() }
    }
    let outer = CurrentDomain.enter(self)
    action()
    CurrentDomain.leave(outer)
  }
}

/// A queue's time for the operators of time: what it fires runs in the home of the operator's stream.
@usableFromInline struct HomeScheduler<Base: Scheduler>: Scheduler {
  let base: Base
  /// The stage below, which knows where the operator lives.
  let home: CrossedHome

  @usableFromInline var now: Base.SchedulerTimeType { base.now }
  @usableFromInline var minimumTolerance: Base.SchedulerTimeType.Stride { base.minimumTolerance }

  @usableFromInline func schedule(options: Base.SchedulerOptions?, _ action: @escaping () -> Void) {
    base.schedule(options: options) { [home] in home.domain?.perform(action) }
  }

  @usableFromInline func schedule(
    after date: Base.SchedulerTimeType, tolerance: Base.SchedulerTimeType.Stride, options: Base.SchedulerOptions?,
    _ action: @escaping () -> Void
  ) {
    base.schedule(after: date, tolerance: tolerance, options: options) { [home] in home.domain?.perform(action) }
  }

  @usableFromInline func schedule(
    after date: Base.SchedulerTimeType, interval: Base.SchedulerTimeType.Stride,
    tolerance: Base.SchedulerTimeType.Stride, options: Base.SchedulerOptions?, _ action: @escaping () -> Void
  ) -> any Cancellable {
    let isCancelled = Box(false)
    let timer = base.schedule(after: date, interval: interval, tolerance: tolerance, options: options) { [home] in
      // Read where it is written: in the stream's home.
      home.domain?.perform { if !isCancelled.value { action() } }
    }
    return Repetition(isCancelled: isCancelled, timer: timer)
  }

  private struct Repetition: Cancellable {
    let isCancelled: Box<Bool>
    let timer: any Cancellable

    func cancel() {
      isCancelled.value = true
      timer.cancel()
    }
  }
}

/// The home of what is above a crossing.
@usableFromInline final class CrossedHome {
  /// `nil` once the stream is over. Written in the home, and read by the queue that fires a timer.
  private let state: Locked<(any StreamDomain)?>

  init(_ domain: any StreamDomain) { state = Locked(domain) }

  var domain: (any StreamDomain)? {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}

/// The home of the code that makes this, for work that a queue starts.
@usableFromInline final class HomePoint {
  private let domain: any StreamDomain

  @usableFromInline init() {
    Home.usesQueues()
    domain = Home.current ?? SerialLane()
  }

  @usableFromInline func bringing(_ action: @escaping () -> Void) -> () -> Void {
    { [domain] in domain.perform(action) }
  }
}
