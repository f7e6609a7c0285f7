/// A queue of waiting work, earliest first; work with equal deadlines keeps the order in which it was added.
///
/// Adding and taking cost O(log n). Cancelled work stays in the heap until it reaches the top, or until half of the
/// work is cancelled and the heap is swept. Cancelling therefore costs amortized O(1). ``EventLoop`` and the virtual
/// time scheduler share this type, so they run work for later times in the same order.
package struct TimerQueue {
  /// One piece of waiting work; cancelling it releases its action immediately.
  package final class Work: Cancellable {
    @exclusivity(unchecked) package fileprivate(set) var deadline: StreamInstant
    /// Nanoseconds from one run to the next; 0 for work that runs once.
    fileprivate let interval: Int64
    @exclusivity(unchecked) package private(set) var action: (() -> Void)?
    /// A value for use by the code that added the work.
    @exclusivity(unchecked) package var note: AnyObject?
    private let onCancel: (Work) -> Void

    /// Makes work that isn't in a queue yet.
    package init(
      deadline: StreamInstant, interval: Int64 = 0, action: @escaping () -> Void, onCancel: @escaping (Work) -> Void
    ) {
      self.deadline = deadline
      self.interval = interval
      self.action = action
      self.onCancel = onCancel
    }

    package func cancel() {
      guard action != nil else { return }
      action = nil
      onCancel(self)
    }

    /// Returns the action, once.
    package func take() -> (() -> Void)? {
      defer { action = nil }
      return action
    }

    /// Runs the action; if the work runs once, releases it.
    package func perform() {
      if interval == 0 { take()?() } else { action?() }
    }
  }

  private struct Entry: HeapEntry {
    var deadline: Int64
    /// Breaks ties between equal deadlines: lower first.
    var order: UInt64
    let work: Work

    @inline(__always) func precedes(_ other: borrowing Entry) -> Bool {
      deadline != other.deadline ? deadline < other.deadline : order < other.order
    }
  }

  private var heap = Heap<Entry>()
  private var cancelled = 0
  private var counter: UInt64 = 0

  package init() {}

  /// The number of waiting pieces of work.
  package var count: Int { heap.count - cancelled }

  /// Adds work.
  ///
  /// - Parameters:
  ///   - interval: the time from one run to the next; without one, the work runs once.
  ///   - onCancel: runs when the work is cancelled; must call ``workWasCancelled()`` on this queue.
  package mutating func add(
    at deadline: StreamInstant, every interval: StreamInstant.Stride = 0, onCancel: @escaping (Work) -> Void,
    _ action: @escaping () -> Void
  ) -> Work {
    let work = Work(deadline: deadline, interval: interval.nanoseconds, action: action, onCancel: onCancel)
    add(work, in: takePlace())
    return work
  }

  /// Reserves a position among equal deadlines for work that may be added later.
  package mutating func takePlace() -> UInt64 {
    counter += 1
    return counter
  }

  /// Adds work at a reserved position.
  package mutating func add(_ work: Work, in place: UInt64) {
    heap.insert(Entry(deadline: work.deadline.nanoseconds, order: place, work: work))
  }

  /// Accounts for one cancelled piece of work.
  package mutating func workWasCancelled() {
    cancelled += 1
    guard cancelled > 64, cancelled > heap.count / 2 else { return }
    heap.removeAll { $0.work.action == nil }
    cancelled = 0
  }

  /// The time when the earliest work is due.
  package var nextDeadline: StreamInstant? {
    mutating get {
      while let first = heap.first, first.work.action == nil {
        heap.removeFirst()
        cancelled -= 1
      }
      return heap.first.map { StreamInstant(nanoseconds: $0.deadline) }
    }
  }

  /// Takes the earliest work that is due at `instant`.
  ///
  /// Repeating work stays in the queue for its next run, which is a whole number of intervals after this one and after
  /// `now`: missed runs are skipped.
  package mutating func takeDue(at instant: StreamInstant, now: @autoclosure () -> StreamInstant) -> Work? {
    guard let deadline = nextDeadline, deadline <= instant, let work = heap.first?.work else { return nil }
    guard work.interval > 0 else { return heap.removeFirst().work }
    work.deadline = Self.nextRun(after: deadline, every: work.interval, now: now())
    let place = takePlace()
    heap.updateFirst { ($0.deadline, $0.order) = (work.deadline.nanoseconds, place) }
    return work
  }

  /// The time of the next run of repeating work, a whole number of intervals after `deadline` and after `now`.
  package static func nextRun(after deadline: StreamInstant, every interval: Int64, now: StreamInstant) -> StreamInstant
  {
    let missed = Swift.max(0, now.nanoseconds &- deadline.nanoseconds) / interval
    // The last missed run is not after `now`, so only the addition can overflow.
    let (next, overflow) = (deadline.nanoseconds + missed * interval).addingReportingOverflow(interval)
    return StreamInstant(nanoseconds: overflow ? .max : next)
  }

  /// Takes the earliest work that is due at `now`.
  package mutating func takeDue(at now: StreamInstant) -> Work? { takeDue(at: now, now: now) }

  /// The waiting work, earliest first.
  package var pending: [Work] { heap.all.filter { $0.work.action != nil }.sorted { $0.precedes($1) }.map(\.work) }

  /// Drops all work without running it; cancelling it afterwards does nothing.
  ///
  /// - Returns: the actions, for a caller that must control when their captured values are released.
  @discardableResult package mutating func removeAll() -> [() -> Void] {
    let actions = heap.all.compactMap { $0.work.take() }
    heap.removeAll()
    cancelled = 0
    return actions
  }
}
