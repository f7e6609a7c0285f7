import FeedStream

/// What is to be done in virtual time: the work that is due, in order, and the work that waits for its time.
///
/// Work is due in the order it was scheduled; or, shuffled, in an order that a seed determines, with one promise kept:
/// what was scheduled without a time keeps its order, since every scheduler keeps it.
struct Agenda {
  struct Item {
    enum Body {
      case work(TimerQueue.Work)
      case action(() -> Void)
      case actorJob(UnownedJob)
      case taskJob(UnownedJob)
    }
    let body: Body
    let origin: WorkOrigin

    /// Whether it is still to be done.
    var isPending: Bool {
      if case .work(let work) = body { work.action != nil } else { true }
    }
  }

  private(set) var now: StreamInstant
  private var generator: SeededGenerator?
  /// Due now; `first` is the index of the next one.
  private var due: ContiguousArray<Item?> = []
  private var first = 0
  /// One past the last item in `due` that was scheduled without a time.
  private var floor = 0
  /// Due after now, without exception: a piece of work that was taken out of here is due or done.
  private var later = TimerQueue()
  private var origins: [ObjectIdentifier: WorkOrigin] = [:]

  init(now: StreamInstant, seed: UInt64?) {
    self.now = now
    generator = seed.map(SeededGenerator.init)
  }

  // MARK: Adding

  /// Adds work without a time: due now, after everything added this way before.
  mutating func add(_ body: Item.Body, _ origin: WorkOrigin) {
    insert(Item(body: body, origin: origin), from: Swift.max(floor, first))
  }

  /// Adds work with a time; a time in the past is now.
  mutating func add(at instant: StreamInstant, _ origin: WorkOrigin, _ action: @escaping () -> Void) -> TimerQueue.Work
  {
    let work = later.add(at: Swift.max(instant, now), onCancel: { _ in }, action)
    if instant > now {
      if origin != .untraced { origins[ObjectIdentifier(work)] = origin }
    } else {
      // Out of the queue again: `later` holds only what is due after now, which makes it the first in the queue.
      _ = later.takeDue(at: now)
      insert(Item(body: .work(work), origin: origin), from: first, isTimed: true)
    }
    return work
  }

  private mutating func insert(_ item: Item, from lowest: Int, isTimed: Bool = false) {
    guard generator != nil, due.count > lowest else {
      due.append(item)
      if !isTimed { floor = due.count }
      return
    }
    let index = Int.random(in: lowest...due.count, using: &generator!)
    due.insert(item, at: index)
    if !isTimed {
      floor = index + 1
    } else if index < floor {
      floor += 1
    }
  }

  // MARK: Taking

  /// The next thing to do at or before `target`, moving time to it; `nil` when there is none.
  mutating func next(upTo target: StreamInstant) -> Item? {
    while true {
      while first < due.count {
        let item = due[first]
        due[first] = nil
        first += 1
        if let item, item.isPending { return item }
      }
      due.removeAll(keepingCapacity: true)
      first = 0
      floor = 0
      // A deadline that saturated is a wait forever.
      guard let deadline = later.nextDeadline, deadline <= target, deadline.nanoseconds < .max else { return nil }
      now = deadline
      while let work = later.takeDue(at: deadline) {
        due.append(Item(body: .work(work), origin: origins.removeValue(forKey: ObjectIdentifier(work)) ?? .untraced))
      }
      if generator != nil { due.shuffle(using: &generator!) }
    }
  }

  /// When there is something to do next; `nil` when there is nothing, or only waits forever.
  var nextInstant: StreamInstant? {
    mutating get {
      if due[first...].contains(where: { $0?.isPending ?? false }) { return now }
      return later.nextDeadline.flatMap { $0.nanoseconds < .max ? $0 : nil }
    }
  }

  mutating func move(to instant: StreamInstant) { now = Swift.max(now, instant) }

  /// Takes cancelled work off.
  ///
  /// - Returns: what it held, to be released where releasing it may come back here.
  mutating func cancel(_ work: TimerQueue.Work) -> (() -> Void)? {
    guard let action = work.take() else { return nil }
    if work.deadline > now {
      origins[ObjectIdentifier(work)] = nil
      later.workWasCancelled()
    }
    return action
  }

  /// What waits, in the order it is due.
  var pending: [PendingWork] {
    due[first...].compactMap { $0 }.filter(\.isPending).map { PendingWork(when: now, origin: $0.origin) }
      + later.pending.map { PendingWork(when: $0.deadline, origin: origins[ObjectIdentifier($0)] ?? .untraced) }
  }
}
