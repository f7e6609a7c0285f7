public import Synchronization

/// Counts the values that arrive at a subscriber, while the map is on.
@usableFromInline class Tally: SubscriberHolder {
  @exclusivity(unchecked) @usableFromInline final private(set) var count = 0
  /// The turn of the last value.
  @exclusivity(unchecked) @usableFromInline final private(set) var turn = -1
  /// The list of the home in which events arrive; ``LoopMap/unknown`` until the first event.
  @exclusivity(unchecked) @usableFromInline final private(set) var home = LoopMap.unknown
  /// The time of the last event, in nanoseconds. All events of one turn have the time of the first.
  private(set) final var last: Int64?
  /// The number of the clock that measured `last`.
  private final var clock = 0
  private(set) final var isOver = false
  private(set) final var failure: String?

  @usableFromInline override init() { super.init() }

  /// The current time by the clock of the last event; `nil` if there is no clock, or if a different clock has replaced
  /// it.
  final var now: Int64? {
    let now = home.now()
    return home.clockNumber == clock ? now : nil
  }

  @inlinable @inline(__always) final func note() {
    if !countIsCurrent() { stamp() }
  }

  /// Counts a value.
  ///
  /// - Returns: false for the first value of a turn, for which the caller must call ``stamp()``.
  @inlinable @inline(__always) final func countIsCurrent() -> Bool {
    count &+= 1
    return turn == home.turn.load(ordering: .relaxed)
  }

  /// Reads the clock, once per turn.
  @inline(never) @usableFromInline final func stamp() {
    if home === LoopMap.unknown { home = LiveMap.here() }
    last = home.now()
    clock = home.clockNumber
    turn = home.turn.load(ordering: .relaxed)
  }

  /// Records that the completion has arrived.
  @inline(never) @usableFromInline final func end(_ error: (any Error)?) {
    isOver = true
    failure = error.map { String(describing: $0) }
    stamp()
  }
}

/// Holds a subscriber and counts the events that arrive at it.
@usableFromInline final class TallyBox<S: Subscriber>: Tally {
  @usableFromInline let target: S

  @inlinable init(_ target: S) {
    self.target = target
    super.init()
  }

  override var held: Any { target }

  @inlinable @inline(__always) final func receive(_ input: S.Input) -> Subscribers.Demand {
    countIsCurrent() ? target.receive(input) : receiveFirst(input)
  }

  /// Receives the first value of a turn. This is a separate function, so that ``receive(_:)`` saves no registers for
  /// it.
  @inlinable @inline(never) final func receiveFirst(_ input: S.Input) -> Subscribers.Demand {
    stamp()
    return target.receive(input)
  }
}

extension SubscriberMethods {
  /// The methods of a subscriber whose events are counted. They are specialized, like the methods of other subscribers.
  @inlinable init<S: Subscriber>(counting box: TallyBox<S>.Type) where S.Input == Input, S.Failure == Failure {
    next = { unsafeDowncast($0, to: TallyBox<S>.self).receive($1) }
    end = {
      let box = unsafeDowncast($0, to: TallyBox<S>.self)
      if case .failure(let error) = $1 { box.end(error) } else { box.end(nil) }
      box.target.receive(completion: $1)
    }
    begin = { unsafeDowncast($0, to: TallyBox<S>.self).target.receive(subscription: $1) }
  }
}
