import Synchronization

/// The loops that work for one subscription, and what each of them has to do.
// @unchecked: used at the stream's home only, but for the loops' load, which is atomic.
@usableFromInline final class ParallelCrew: @unchecked Sendable {
  /// How many pieces of work a loop has at most: one that it does, and one so that it need not wait for the next.
  private static let ahead = 2

  /// Where the stream lives.
  let home = StreamHome.currentOrLane
  let rails: [EventLoopGroup.Rail]
  private var pieces: [Int]
  /// How many pieces of work all of them have.
  private var total = 0
  private var isStaying = false
  /// True while the home's loop is kept running.
  private var isWaiting = false

  @usableFromInline init(of group: EventLoopGroup, _ width: Int?) {
    rails = group.rails(width)
    pieces = Array(repeating: 0, count: rails.count)
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
      // A loop that waits only for this goes on until it has been dealt with.
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
