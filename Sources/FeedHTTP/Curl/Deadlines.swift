import FeedStream

/// The deadlines of a client's requests: a heap, and one timer for the earliest.
///
/// A timer for each request would account for four of the request's twelve allocations. When the earliest request ends,
/// the timer stays set; it then fires too early, and is set again. Nearly every request ends long before its deadline.
final class Deadlines {
  // Trivial, so that moving entries requires no reference counting. An exchange removes its entry before it is
  // released.
  private struct Entry: HeapEntry {
    let due: StreamInstant
    /// Breaks ties between equal deadlines: lower first.
    let order: UInt64
    unowned(unsafe) let exchange: HTTPExchange

    func precedes(_ other: borrowing Entry) -> Bool {
      due != other.due ? due < other.due : order < other.order
    }

    func moved(to place: Int) { exchange.deadlinePlace = place }
  }

  private let loop: EventLoop
  @exclusivity(unchecked)  // Here and below: used for each request, on one thread.
  private var heap = Heap<Entry>()
  @exclusivity(unchecked) private var counter: UInt64 = 0
  /// The time when the timer fires.
  @exclusivity(unchecked) private var set: StreamInstant?
  private var timer: LoopTimer?

  init(on loop: EventLoop) {
    self.loop = loop
    timer = LoopTimer(on: loop) { [unowned self] in isDue() }
  }

  /// Calls `exchange` when `timeout` has passed, unless it is removed first.
  func add(_ exchange: HTTPExchange, after timeout: StreamInstant.Stride) {
    counter += 1
    let entry = Entry(due: loop.now.advanced(by: timeout), order: counter, exchange: exchange)
    heap.insert(entry)
    if set.map({ entry.due < $0 }) ?? true { start(at: entry.due) }
  }

  func remove(_ exchange: HTTPExchange) {
    let place = exchange.deadlinePlace
    guard place >= 0 else { return }
    exchange.deadlinePlace = -1
    heap.remove(at: place)
    guard heap.isEmpty else { return }
    // A running timer would keep the loop running.
    set = nil
    timer?.stop()
  }

  private func isDue() {
    set = nil
    while let first = heap.first {
      guard first.due <= loop.now else { return start(at: first.due) }
      let exchange = first.exchange
      remove(exchange)
      exchange.timeIsOver()
    }
  }

  private func start(at due: StreamInstant) {
    if let set, set <= due { return }
    set = due
    timer?.start(after: loop.now.distance(to: due))
  }
}
