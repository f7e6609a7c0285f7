internal import CLibUV
import CLibrary
import Synchronization

/// Records whether a loop has run, and the streams that wait for it. One thread watches all loops that have work or
/// streams but have never run, as long as there are any.
final class FirstRun: StreamStarts, Sendable {
  /// True when the loop has begun to run, or was closed.
  let hasBegun = Atomic(false)
  /// True when another thread has sent work.
  private let hasWork = Atomic(false)
  /// The first streams that were started on the loop.
  private let streams = Locked<[WaitingStream]>([])

  /// The time after which the thread warns, in nanoseconds: two seconds, or ten seconds for streams started outside
  /// tasks, because code outside tasks may prepare other things before it runs the loop.
  private static let longestWait: UInt64 = 2_000_000_000
  private static let longestPreparation: UInt64 = 10_000_000_000
  private static let expected = Locked<[(run: FirstRun, due: UInt64)]>([])
  /// The loops that have streams, for warnings at the end of the process.
  private static let withStreams = Locked<[WeakRun]>([])

  private struct WeakRun {
    weak var run: FirstRun?
  }

  func expectForWork() {
    if !hasWork.exchange(true, ordering: .relaxed) { expect(within: Self.longestWait) }
  }

  private func expect(within time: UInt64) {
    let isFirst = Self.expected.withLock { list in
      list.append((self, uv_hrtime() + time))
      return list.count == 1
    }
    // Without a thread, there is no warning.
    if isFirst { (try? Thread(name: "first-runs") { while Self.waits() {} })?.detach() }
  }

  /// - Returns: false if no loop is left.
  private static func waits() -> Bool {
    uv_sleep(500)
    let now = uv_hrtime()
    let (late, isLeft) = expected.withLock { list in
      list.removeAll { $0.run.hasBegun.load(ordering: .relaxed) }
      let late = list.filter { $0.due <= now }.map(\.run)
      list.removeAll { $0.due <= now }
      return (late, !list.isEmpty)
    }
    for run in late {
      if !run.warnOfStreams(), run.hasWork.load(ordering: .relaxed) { warnOfWork() }
    }
    return isLeft
  }

  private static func warnOfWork() {
    Warnings.warn(
      .neverRun, at: "EventLoop",
      """
      work from another thread waits for this loop, which has never run; call its run(), or use EventLoop.main if \
      RunLoop.main.run() or dispatchMain() runs the program
      """)
  }

  // MARK: Streams

  func note(_ subscriber: any LiveAnywhere, at place: String, _ watch: SubscriptionWatch?) {
    guard !hasBegun.load(ordering: .relaxed) else { return }
    let stream = WaitingStream(subscriber: subscriber, watch: watch, place: place)
    let isFirst = streams.withLock { streams in
      if streams.count < 16 { streams.append(stream) }
      return streams.count == 1
    }
    guard isFirst else { return }
    let isFirstLoop = Self.withStreams.withLock { runs in
      runs.removeAll { $0.run == nil }
      runs.append(WeakRun(run: self))
      return runs.count == 1
    }
    if isFirstLoop { Self.watchExit }
    expect(within: SubjectConfinement.isInTask ? Self.longestWait : Self.longestPreparation)
  }

  private static let watchExit: Void = {
    atexit { FirstRun.warnAtExit() }
  }()

  private static func warnAtExit() {
    for entry in withStreams.withLock({ $0 }) { _ = entry.run?.warnOfStreams() }
  }

  /// Called when the loop is released, when the process exits, and some time after the first stream was started: warns
  /// about streams that wait for a loop that has never run.
  ///
  /// - Returns: true if there is such a stream.
  @discardableResult func warnOfStreams() -> Bool {
    guard !hasBegun.load(ordering: .relaxed) else { return false }
    guard let stream = streams.withLock({ $0 }).first(where: \.isWaiting) else { return false }
    Warnings.warn(
      .neverRun, at: stream.place,
      """
      this stream waits for an EventLoop that has never run; call the loop's run(), or use EventLoop.main if an \
      asynchronous main, RunLoop.main.run() or dispatchMain() runs the program
      """)
    return true
  }

  /// A stream that was started before its loop ran.
  // @unchecked: any thread may read a weak reference, the subscriber's `isLive`, and the watch's `hasEvents`.
  private struct WaitingStream: @unchecked Sendable {
    weak var subscriber: (any LiveAnywhere)?
    let watch: SubscriptionWatch?
    let place: String

    var isWaiting: Bool { watch?.hasEvents != true && subscriber?.isLive == true }
  }
}
