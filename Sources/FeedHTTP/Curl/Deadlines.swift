import FeedStream

/// The deadlines of a client's requests: a heap, and one timer for the earliest.
///
/// A timer for each took four allocations of a request's twelve. The timer stays set when the earliest request ends, fires
/// too early then, and is set again; nearly every request ends long before its deadline.
final class Deadlines {
  // Trivial, so that moving entries counts no references: an exchange removes its entry before it is released.
  private struct Entry {
    let due: StreamInstant
    /// Breaks ties between equal deadlines: lower first.
    let order: UInt64
    unowned(unsafe) let exchange: HTTPExchange

    static func < (one: Entry, other: Entry) -> Bool {
      one.due != other.due ? one.due < other.due : one.order < other.order
    }
  }

  private let loop: EventLoop
  @exclusivity(unchecked)  // Here and below: touched for each request, on one thread.
  private var heap: ContiguousArray<Entry> = []
  @exclusivity(unchecked) private var counter: UInt64 = 0
  /// The time when the timer fires.
  @exclusivity(unchecked) private var set: StreamInstant?
  private var timer: LoopTimer?

  init(on loop: EventLoop) {
    self.loop = loop
    timer = LoopTimer(on: loop) { [unowned self] in isDue() }
  }

  /// Has `exchange` called when `timeout` has passed, unless it is removed before.
  func add(_ exchange: HTTPExchange, after timeout: StreamInstant.Stride) {
    counter += 1
    let entry = Entry(due: loop.now.advanced(by: timeout), order: counter, exchange: exchange)
    heap.append(entry)
    rise(entry, from: heap.count - 1)
    if set.map({ entry.due < $0 }) ?? true { start(at: entry.due) }
  }

  func remove(_ exchange: HTTPExchange) {
    let place = exchange.deadlinePlace
    guard place >= 0 else { return }
    exchange.deadlinePlace = -1
    let last = heap.removeLast()
    if place < heap.count {
      sink(last, from: place)
      rise(last, from: last.exchange.deadlinePlace)
    }
    guard heap.isEmpty else { return }
    // A timer would keep the loop running.
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

  private func put(_ entry: Entry, at place: Int) {
    heap[place] = entry
    entry.exchange.deadlinePlace = place
  }

  private func rise(_ entry: Entry, from start: Int) {
    var place = start
    while place > 0, entry < heap[(place - 1) / 2] {
      put(heap[(place - 1) / 2], at: place)
      place = (place - 1) / 2
    }
    put(entry, at: place)
  }

  private func sink(_ entry: Entry, from start: Int) {
    var place = start
    while true {
      var child = 2 * place + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, heap[child + 1] < heap[child] { child += 1 }
      guard heap[child] < entry else { break }
      put(heap[child], at: place)
      place = child
    }
    put(entry, at: place)
  }
}
