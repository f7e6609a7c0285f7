import FeedStream

/// The work to run in virtual time: due work, in order, and work that waits for its time.
///
/// Work is due in the order in which it was scheduled or, with a seed, in an order that the seed determines. Either
/// way, work scheduled without a time keeps its order, because every scheduler guarantees that.
struct Agenda {
  /// A piece of work. The type is small, because simulations of years move one item for each event.
  enum Item {
    case work(TimerQueue.Work)
    case action(() -> Void, OriginNote)
    case actorJob(UnownedJob)
    case taskJob(UnownedJob)

    var origin: WorkOrigin {
      switch self {
      case .work(let work): work.origin
      case .action(_, let note): note.origin
      case .actorJob, .taskJob: .task
      }
    }

    /// The item as it runs: work without its object, whose action another thread may take when it cancels a task; `nil`
    /// if the work has been cancelled.
    fileprivate var taken: Item? {
      guard case .work(let work) = self else { return self }
      return work.take().map { .action($0, work.note as? OriginNote ?? .untraced) }
    }

    /// True if the work has neither run nor been cancelled.
    var isPending: Bool {
      if case .work(let work) = self { work.action != nil } else { true }
    }
  }

  private(set) var now: StreamInstant
  private var generator: SeededGenerator?
  /// The work that is due now; `first` is the index of the next piece.
  private var due: ContiguousArray<Item?> = []
  private var first = 0
  /// One past the index of the last item in `due` that was scheduled without a time.
  private var floor = 0
  /// True if work that is added now continues the running work, and takes its position.
  var isWaking = false
  /// The work that is due later. Due work is never stored here.
  private var later = TimerQueue()

  init(now: StreamInstant, seed: UInt64?) {
    self.now = now
    generator = seed.map(SeededGenerator.init)
  }

  // MARK: Adding

  /// Adds work without a time. The work is due now, after all earlier work without a time; if a task is being woken,
  /// the work comes next.
  mutating func add(_ item: Item) {
    guard isWaking else { return insert(item, from: Swift.max(floor, first)) }
    guard first > 0 else {
      due.insert(item, at: 0)
      floor += 1
      return
    }
    // Take the position of the work that was taken last, instead of moving all due work.
    first -= 1
    due[first] = item
    floor = Swift.max(floor, first + 1)
  }

  /// Adds work with a time. Work for a time in the past is due now.
  ///
  /// - Parameter place: a reserved position among the work that is due at that time, if any.
  mutating func add(
    at instant: StreamInstant, in place: UInt64? = nil, _ note: OriginNote, _ action: @escaping () -> Void
  ) -> TimerQueue.Work {
    let work = TimerQueue.Work(deadline: Swift.max(instant, now), action: action, onCancel: { _ in })
    work.note = note
    if instant > now {
      later.add(work, in: place ?? later.takePlace())
    } else {
      insert(.work(work), from: first, isTimed: true)
    }
    return work
  }

  /// Reserves a position among the work that is due at one time.
  mutating func takePlace() -> UInt64 { later.takePlace() }

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

  /// Takes the next piece of work that is due at or before `target`, and advances the clock to that work's time; `nil`
  /// if there is none. The result is never `Item.work`.
  mutating func next(upTo target: StreamInstant) -> Item? {
    while true {
      while first < due.count {
        var item: Item?
        swap(&item, &due[first])
        first += 1
        if let item = item?.taken { return item }
      }
      if first > 0 {
        due.removeAll(keepingCapacity: true)
        first = 0
        floor = 0
      }
      // Work with a saturated deadline never becomes due.
      guard let deadline = later.nextDeadline, deadline <= target, deadline.nanoseconds < .max else { return nil }
      now = deadline
      while let work = later.takeDue(at: deadline) { due.append(.work(work)) }
      if generator != nil { due.shuffle(using: &generator!) }
    }
  }

  /// The time of the next piece of work; `nil` if there is none that ever becomes due.
  var nextInstant: StreamInstant? {
    mutating get {
      if first < due.count, due[first...].contains(where: { $0?.isPending ?? false }) { return now }
      return later.nextDeadline.flatMap { $0.nanoseconds < .max ? $0 : nil }
    }
  }

  mutating func move(to instant: StreamInstant) { now = Swift.max(now, instant) }

  /// Advances time without running work. Work that becomes due in the meantime is then due now, in the order of its
  /// times.
  mutating func stall(to instant: StreamInstant) {
    while let work = later.takeDue(at: instant) { due.append(.work(work)) }
    move(to: instant)
  }

  /// Removes cancelled work.
  ///
  /// - Returns: the work's closure. Release it only where it may safely call back.
  mutating func cancel(_ work: TimerQueue.Work) -> (() -> Void)? {
    guard let action = work.take() else { return nil }
    if work.deadline > now { later.workWasCancelled() }
    return action
  }

  /// The waiting work, in the order in which it is due.
  var pending: [PendingWork] {
    due[first...].compactMap { $0 }.filter(\.isPending).map { PendingWork(when: now, origin: $0.origin) }
      + later.pending.map { PendingWork(when: $0.deadline, origin: $0.origin) }
  }
}
