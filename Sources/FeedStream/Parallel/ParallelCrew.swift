internal import CLibUV
import Synchronization

/// The loops that work for one subscription, and the amount of work of each.
// @unchecked: used only at the stream's home, except for the loops' load, which is atomic.
@usableFromInline final class ParallelCrew: @unchecked Sendable {
  /// The number of pieces of work per loop: one that is running, and one that is ready when it ends.
  private static let ahead = 2
  /// The maximum number of pieces of work per loop while they are short.
  private static let mostAhead = 10
  /// The maximum number of values per piece of work until the duration per value is known.
  private static let fewest = 16
  /// The target duration of a piece of work, in nanoseconds. The shortest is many times the cost of waking a loop, but
  /// short for a subscriber that waits. The longest, which is used when many values wait, makes that cost negligible.
  /// It is also the duration of the work that each loop gets ahead of time, because the home's thread may have to wait
  /// for a processor.
  private static let (shortest, longest) = (100_000.0, 1_000_000.0)

  /// The stream's home.
  let home = StreamHome.currentOrLane
  /// Upstream's events.
  private let line = EventLine()
  let rails: [EventLoopGroup.Rail]
  /// Retained, because releasing it closes the loops.
  private let group: EventLoopGroup
  private var pieces: [Int]
  /// The number of values in each loop's pieces of work, where it is known.
  private var values: [Int]
  /// True for the loops that are known to be closed.
  private var isClosed: [Bool]
  /// The total number of pieces of work on all loops.
  private var total = 0
  /// True if durations can be measured; false in virtual time.
  private let isTimed: Bool
  /// The duration per value in nanoseconds, estimated from the latest pieces of work.
  private var cost = 0.0
  /// The place of the subscription, for warnings.
  private let place = SubscriptionWatch.placeBeingMade
  private var isStaying = false
  /// True while this crew keeps the home's loop running.
  private var isWaiting = false

  @usableFromInline init(of group: EventLoopGroup, _ width: Int?) {
    self.group = group
    rails = group.rails(width)
    pieces = Array(repeating: 0, count: rails.count)
    values = pieces
    isClosed = Array(repeating: false, count: rails.count)
    isTimed = rails.allSatisfy { $0.domain is EventLoop }
  }

  /// True when the calling code runs where the stream lives, and no event from upstream is waiting.
  @usableFromInline var isHome: Bool { (home.domain?.isCurrent ?? true) && line.isEmpty }

  /// Runs `work` at home: immediately if the calling code runs there, otherwise later.
  @usableFromInline func atHome(_ work: @escaping @Sendable () -> Void) { home.run(work) }

  /// Runs `cancel` at home, even if the home's loop is closed.
  @usableFromInline func cancelAtHome(_ cancel: @escaping @Sendable () -> Void) { home.runCancellation(cancel) }

  /// Handles an event from upstream at home, after the events that wait.
  @usableFromInline func arrived(_ event: @escaping @Sendable () -> Void) { home.run(after: line, event) }

  /// True if all loops are closed.
  @usableFromInline var hasEnded: Bool { isClosed.allSatisfy(\.self) }

  /// The index of the loop with the least work; `nil` if all loops have enough work or are closed.
  @usableFromInline func free() -> Int? {
    var least: Int?
    for rail in pieces.indices where !isClosed[rail] {
      if let other = least, (pieces[other], values[other]) <= (pieces[rail], values[rail]) { continue }
      least = rail
    }
    guard let least else { return nil }
    let isShort = cost > 0 && Double(values[least]) * cost < Self.longest && pieces[least] < Self.mostAhead
    return pieces[least] < Self.ahead || isShort ? least : nil
  }

  /// The number of values to send together, out of `count` that wait: fewer toward the end, so that all loops finish at
  /// the same time.
  @usableFromInline func share(of count: Int) -> Int {
    max(1, min(128, count / (Self.ahead * rails.count)))
  }

  /// The number of values to send together if their duration is measured: enough for the target duration.
  ///
  /// - Parameter limit: the maximum number of values that may be held.
  @usableFromInline func share(of count: Int, within limit: Int) -> Int {
    guard isTimed else { return share(of: count) }
    let perLoop = Double(count) / Double(rails.count)
    // Short pieces toward the end, so that all loops finish at the same time.
    let duration = max(Self.shortest, min(Self.longest, perLoop * cost / 4))
    let wanted = cost > 0 ? duration / cost : Double(Self.fewest)
    // Leave room for two pieces per loop, and for the same number of values that wait for a loop or are being
    // delivered.
    let most = max(1, limit / (2 * Self.ahead * rails.count))
    return max(1, min(Int(min(wanted, Double(most))), (count + rails.count - 1) / rails.count))
  }

  /// The current time in nanoseconds, for ``noteWork(_:from:to:)``.
  @usableFromInline static var now: UInt64 { uv_hrtime() }

  /// Records the duration of a piece of work with `count` values.
  @usableFromInline func noteWork(_ count: Int, from began: UInt64, to ended: UInt64) {
    guard isTimed, count > 0 else { return }
    let each = max(1, Double(ended &- began) / Double(count))
    cost = cost == 0 ? each : (3 * cost + each) / 4
  }

  /// Reports a value that will not be processed, because the group's loops are closed.
  func lost<Value>(_ value: Value, _ name: StaticString) {
    StreamDiagnostics.dropped(value, name, .terminated)
    if Warnings.areOn { Warnings.sentToClosedLoop("\(name): a value", at: place.map { "\($0)" } ?? "\(name)") }
  }

  /// Sends work to a loop.
  ///
  /// - Parameters:
  ///   - count: the number of values in the work, if the work's duration depends on it.
  ///   - work: runs on the loop.
  ///   - done: runs at home after the work.
  ///   - lost: runs at home instead if the loop is closed.
  @usableFromInline func send(
    to rail: Int, count: Int = 0, _ work: @escaping @Sendable () -> Void, done: @escaping @Sendable () -> Void,
    lost: @escaping @Sendable () -> Void
  ) {
    pieces[rail] += 1
    values[rail] += count
    total += 1
    updateWaiting()
    rails[rail].load.add(1, ordering: .relaxed)
    // Without a loop, the home's code may run on this loop's thread, too.
    rails[rail].domain.bringInOrder {
      work()
      self.settle(rail, count, done)
    } dropped: {
      self.settle(rail, count) {
        self.isClosed[rail] = true
        lost()
      }
    }
  }

  /// Called on any thread when a piece of work is over.
  private func settle(_ rail: Int, _ count: Int, _ then: @escaping @Sendable () -> Void) {
    rails[rail].load.subtract(1, ordering: .relaxed)
    atHome { [self] in
      pieces[rail] -= 1
      values[rail] -= count
      then()
      // Subtract only now: the loop must keep running until the result has been handled.
      total -= 1
      updateWaiting()
    }
  }

  /// Keeps the home's loop running even without work while `isStaying` is true.
  func stay(_ isStaying: Bool) {
    self.isStaying = isStaying
    updateWaiting()
  }

  private func updateWaiting() {
    guard isWaiting != (total > 0 || isStaying) else { return }
    isWaiting.toggle()
    if isWaiting { home.beginWaiting() } else { home.stopWaiting() }
  }
}
