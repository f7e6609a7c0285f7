/// Work waiting for its time, earliest first; equal deadlines in the order they were added.
///
/// A binary heap: adding and taking cost O(log n). Cancelled work stays in the heap until it surfaces or until half of the
/// heap is cancelled, when it is swept, so cancelling costs O(1) amortized. ``EventLoop`` and the virtual time scheduler
/// share it, and with it their order.
package struct TimerQueue {
  /// One piece of waiting work; cancelling it releases its action at once.
  package final class Work: Cancellable {
    package let deadline: StreamInstant
    /// Breaks ties between equal deadlines: lower first.
    package let order: UInt64
    @exclusivity(unchecked)
    package private(set) var action: (() -> Void)?
    private let onCancel: (Work) -> Void

    fileprivate init(
      deadline: StreamInstant, order: UInt64, action: @escaping () -> Void, onCancel: @escaping (Work) -> Void
    ) {
      self.deadline = deadline
      self.order = order
      self.action = action
      self.onCancel = onCancel
    }

    package func cancel() {
      guard action != nil else { return }
      action = nil
      onCancel(self)
    }

    /// Hands the action over, once.
    package func take() -> (() -> Void)? {
      defer { action = nil }
      return action
    }
  }

  private struct Entry {
    let deadline: Int64
    let order: UInt64
    let work: Work

    static func < (lhs: Entry, rhs: Entry) -> Bool {
      lhs.deadline != rhs.deadline ? lhs.deadline < rhs.deadline : lhs.order < rhs.order
    }
  }

  private var heap: ContiguousArray<Entry> = []
  private var cancelled = 0
  private var counter: UInt64 = 0

  package init() {}

  /// How many pieces of work wait.
  package var count: Int { heap.count - cancelled }

  /// Adds work.
  ///
  /// - Parameters:
  ///   - order: the place among equal deadlines; by default after everything added before.
  ///   - onCancel: runs when the work is cancelled; must call ``workWasCancelled()`` on this queue.
  package mutating func add(
    at deadline: StreamInstant, order: UInt64? = nil, onCancel: @escaping (Work) -> Void,
    _ action: @escaping () -> Void
  ) -> Work {
    counter += 1
    let work = Work(deadline: deadline, order: order ?? counter, action: action, onCancel: onCancel)
    heap.append(Entry(deadline: deadline.nanoseconds, order: work.order, work: work))
    siftUp(heap.count - 1)
    return work
  }

  /// Accounts for one cancelled piece of work.
  package mutating func workWasCancelled() {
    cancelled += 1
    guard cancelled > 64, cancelled > heap.count / 2 else { return }
    heap.removeAll { $0.work.action == nil }
    cancelled = 0
    for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { siftDown(index) }
  }

  /// When the earliest work is due.
  package var nextDeadline: StreamInstant? {
    mutating get {
      while let first = heap.first, first.work.action == nil {
        removeFirst()
        cancelled -= 1
      }
      return heap.first?.work.deadline
    }
  }

  /// Takes the earliest work that is due at `now`.
  package mutating func takeDue(at now: StreamInstant) -> Work? {
    guard let deadline = nextDeadline, deadline <= now else { return nil }
    return removeFirst()
  }

  /// The waiting work, earliest first.
  package var pending: [Work] { heap.filter { $0.work.action != nil }.sorted(by: <).map(\.work) }

  /// Drops all work and its actions unrun; cancelling it afterwards does nothing.
  ///
  /// - Returns: the actions, for a caller that must choose when what they hold is released.
  @discardableResult
  package mutating func removeAll() -> [() -> Void] {
    let actions = heap.compactMap { $0.work.take() }
    heap.removeAll()
    cancelled = 0
    return actions
  }

  // MARK: Heap

  @discardableResult
  private mutating func removeFirst() -> Work {
    let first = heap[0].work
    let last = heap.removeLast()
    if !heap.isEmpty {
      heap[0] = last
      siftDown(0)
    }
    return first
  }

  private mutating func siftUp(_ start: Int) {
    var index = start
    let entry = heap[index]
    while index > 0 {
      let parent = (index - 1) / 2
      guard entry < heap[parent] else { break }
      heap[index] = heap[parent]
      index = parent
    }
    heap[index] = entry
  }

  private mutating func siftDown(_ start: Int) {
    var index = start
    let entry = heap[index]
    while true {
      var child = 2 * index + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, heap[child + 1] < heap[child] { child += 1 }
      guard heap[child] < entry else { break }
      heap[index] = heap[child]
      index = child
    }
    heap[index] = entry
  }
}
