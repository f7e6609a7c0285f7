internal import CLibUV
import Synchronization

/// The loops that work for one subscription, and the work of each.
// @unchecked: used at the stream's home only, but for the loops' load, which is atomic.
@usableFromInline final class ParallelCrew: @unchecked Sendable {
  /// How many pieces of work a loop has at most: one that it does, and one so that it need not wait for the next.
  private static let ahead = 2
  /// How many values cross together at most, before it is known how long they take.
  private static let fewest = 16
  /// The work that one crossing is worth: many times what it costs to wake a loop, and short for those who wait for a result.
  private static let nanoseconds = 100_000.0

  /// Where the stream lives.
  let home = StreamHome.currentOrLane
  let rails: [EventLoopGroup.Rail]
  private var pieces: [Int]
  /// How many pieces of work all of them have.
  private var total = 0
  /// True where time passes while work is done: not in virtual time.
  private let isTimed: Bool
  /// How long a value takes, by the latest pieces of work.
  private var cost = 0.0
  private var isStaying = false
  /// True while the home's loop is kept running.
  private var isWaiting = false

  @usableFromInline init(of group: EventLoopGroup, _ width: Int?) {
    rails = group.rails(width)
    pieces = Array(repeating: 0, count: rails.count)
    isTimed = rails.allSatisfy { $0.domain is EventLoop }
  }

  /// True when the calling code runs where the stream lives.
  @usableFromInline var isHome: Bool { home.domain?.isHere ?? true }

  /// Runs `work` at home: now if that is here, otherwise later.
  @usableFromInline func atHome(_ work: @escaping @Sendable () -> Void) { home.run(work) }

  /// The loop with the least to do; `nil` when each has enough.
  @usableFromInline func free() -> Int? {
    var best = 0
    for rail in 1..<max(1, pieces.count) where pieces[rail] < pieces[best] { best = rail }
    return pieces[best] < Self.ahead ? best : nil
  }

  /// How many of `count` values that wait to hand over together: fewer toward the end, so that all loops end together.
  @usableFromInline func share(of count: Int) -> Int {
    max(1, min(128, count / (Self.ahead * rails.count)))
  }

  /// The same for work whose length is measured: as much as is worth a crossing.
  ///
  /// - Parameter limit: how many values may be held in all.
  @usableFromInline func share(of count: Int, within limit: Int) -> Int {
    guard isTimed else { return share(of: count) }
    let wanted = cost > 0 ? Self.nanoseconds / cost : Double(Self.fewest)
    // Two pieces for each loop, and as much again that waits for them or is on its way out.
    let most = max(1, limit / (2 * Self.ahead * rails.count))
    return max(1, min(Int(min(wanted, Double(most))), (count + rails.count - 1) / rails.count))
  }

  /// The time, for ``noteWork(_:from:to:)``.
  @usableFromInline static var now: UInt64 { uv_hrtime() }

  /// A piece of work with `count` values took this long.
  @usableFromInline func noteWork(_ count: Int, from began: UInt64, to ended: UInt64) {
    guard isTimed, count > 0 else { return }
    let each = max(1, Double(ended &- began) / Double(count))
    cost = cost == 0 ? each : (3 * cost + each) / 4
  }

  /// Sends work to a loop.
  ///
  /// - Parameters:
  ///   - work: runs on the loop.
  ///   - done: runs at home afterwards.
  ///   - lost: runs at home instead when the loop is closed.
  @usableFromInline func send(
    to rail: Int, _ work: @escaping @Sendable () -> Void, done: @escaping @Sendable () -> Void,
    lost: @escaping @Sendable () -> Void
  ) {
    pieces[rail] += 1
    total += 1
    updateWaiting()
    rails[rail].load.add(1, ordering: .relaxed)
    rails[rail].domain.bring {
      work()
      self.settle(rail, done)
    } dropped: {
      self.settle(rail, lost)
    }
  }

  /// On any thread: a piece of work is over.
  private func settle(_ rail: Int, _ then: @escaping @Sendable () -> Void) {
    rails[rail].load.subtract(1, ordering: .relaxed)
    atHome { [self] in
      pieces[rail] -= 1
      then()
      // A loop that waits only for this continues until it has been dealt with.
      total -= 1
      updateWaiting()
    }
  }

  /// Keeps the home's loop running until ``leave()``, whether there is work or not.
  func stay() {
    isStaying = true
    updateWaiting()
  }

  func leave() {
    isStaying = false
    updateWaiting()
  }

  private func updateWaiting() {
    guard isWaiting != (total > 0 || isStaying) else { return }
    isWaiting.toggle()
    if isWaiting { home.beginWaiting() } else { home.stopWaiting() }
  }
}
