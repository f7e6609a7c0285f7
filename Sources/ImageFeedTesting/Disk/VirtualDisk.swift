public import FeedStream
public import FeedStreamTesting
public import Foundation
public import ImageFeed
import Synchronization

/// The disk of a virtual world: a `FeedStore` that can fail, become full, be damaged or stop with the machine at any
/// step.
///
///     var disk = VirtualDisk(on: time, seed: 7)
///     disk.setFaults { step, random in
///       step == .beforeCommit && Int.random(in: 0..<100, using: &random) == 0 ? .crash : nil
///     }
///     // Code that may crash the disk; then:
///     if disk.isDown { disk = disk.restarted() }      // and recreate everything that lived in the old process
///
/// A change is made in a transaction: it becomes durable as a whole, at the commit, or not at all. When a fault or
/// ``crash()`` stops the machine, uncommitted changes are lost, and this disk can't be used anymore: its calls fail and
/// change nothing. ``restarted()`` is the disk as the next process finds it.
///
/// Calls take no virtual time themselves; on the loop, a call takes `VirtualTimeScheduler.offloadLatency`. Any thread
/// may call the disk.
public final class VirtualDisk: FeedStore {
  /// The location that this disk's errors report.
  static let place = "the virtual disk"

  private let time: VirtualTimeScheduler
  private let state: Mutex<State>
  /// Shared with the disk that ``restarted()`` returns, so that changes to that disk reach the watches of this one,
  /// too.
  private let bell: StoreBell

  // Unchecked because the disk's lock guards the whole state, including the calls of its closures.
  private struct State: @unchecked Sendable {
    var platter: Platter
    var observer: (DiskEvent) -> Void = { _ in }
    var log: [DiskEvent] = []
    var keepsLog = true
  }

  /// - Parameters:
  ///   - time: the virtual time that the log records.
  ///   - seed: determines the random faults.
  public init(on time: VirtualTimeScheduler, seed: UInt64 = 0) {
    self.time = time
    state = Mutex(State(platter: Platter(seed: seed)))
    bell = StoreBell()
  }

  private init(_ time: VirtualTimeScheduler, _ state: State, _ bell: StoreBell) {
    self.time = time
    self.bell = bell
    self.state = Mutex(state)
  }

  // MARK: Faults

  /// Calls `faults` at every step of every call from now on. The closure must be quick and must not call the disk.
  public func setFaults(_ faults: @escaping @Sendable (DiskStep, inout SeededGenerator) -> DiskFault?) {
    state.withLock { $0.platter.faults = faults }
  }

  /// The capacity in bytes, or `nil` for no limit. Saving a feed that does not fit fails with
  /// `FeedStoreError.Cause.diskFull`; feeds already saved stay, however large.
  public var capacity: Int? {
    get { state.withLock { $0.platter.capacity } }
    set { state.withLock { $0.platter.capacity = newValue } }
  }

  /// The bytes in use.
  public var size: Int { state.withLock { $0.platter.size } }

  /// Damages the saved feed of `address`.
  public func corrupt(_ address: URL) { state.withLock { $0.platter.corrupt(address.absoluteURL) } }

  /// Stops the machine: every later call fails and changes nothing.
  public func crash() { state.withLock { $0.platter.crash() } }

  /// True when the machine has stopped.
  public var isDown: Bool { state.withLock { $0.platter.isDown } }

  /// The disk as the next process finds it: the committed feeds, with the same faults, capacity, log and observer.
  ///
  /// Stops the machine if it has not stopped. There is never more than one process: two processes could only interleave
  /// whole calls, because a call never sees the transaction of another call.
  public func restarted() -> VirtualDisk {
    var next = state.withLock { state in
      defer { state.log = [] }
      state.platter.crash()
      return state
    }
    next.platter.isDown = false
    return VirtualDisk(time, next, bell)
  }

  // MARK: Observation

  /// The committed feed for `address`, read without faults and without an entry in the log; `nil` if there is none or
  /// it is damaged.
  public func committed(for address: URL) -> CachedFeed? {
    state.withLock { state in
      state.platter.durable[address.absoluteURL].flatMap { $0.isDamaged ? nil : $0.feed }
    }
  }

  /// True when the committed feed for `address` is damaged.
  public func isDamaged(at address: URL) -> Bool {
    state.withLock { $0.platter.durable[address.absoluteURL]?.isDamaged ?? false }
  }

  /// Every call so far, in the order in which they were served; see ``keepsLog``.
  public var log: [DiskEvent] { state.withLock { $0.log } }

  /// True when calls are kept in ``log``; true by default.
  public var keepsLog: Bool {
    get { state.withLock { $0.keepsLog } }
    set { state.withLock { $0.keepsLog = newValue } }
  }

  /// Reports every call to `observer` when it has completed, before the caller gets the result. The observer must not
  /// call the disk.
  public func setObserver(_ observer: @escaping @Sendable (DiskEvent) -> Void) {
    state.withLock { $0.observer = observer }
  }

  // MARK: Serving

  /// Serves one call, with its faults, and reports its completion.
  func serve<T>(
    _ call: DiskCall, _ step: FeedStoreError.Step, _ outcome: (T) -> DiskEvent.Outcome,
    _ body: (inout Platter) throws -> T
  ) throws(FeedStoreError) -> T {
    // Inform the watches after the lock is released, because they read the disk.
    defer { if call.writes { bell.ring() } }
    return try state.withLock { state throws(FeedStoreError) in
      let stopped = FeedStoreError(step, .inputOutput("the machine has stopped"), place: Self.place)
      guard !state.platter.isDown else { throw stopped }
      func tell(_ outcome: DiskEvent.Outcome) {
        let event = DiskEvent(call: call, time: time.now, outcome: outcome)
        if state.keepsLog { state.log.append(event) }
        state.observer(event)
      }
      do {
        let result = try body(&state.platter)
        tell(outcome(result))
        return result
      } catch let error as FeedStoreError {
        tell(.failed(error))
        throw error
      } catch let crash as Platter.Crash {
        tell(.crashed(committed: crash.committed))
        throw stopped
      } catch {
        preconditionFailure("VirtualDisk: \(error) is not a disk error; throw a FeedStoreError or a Crash")
      }
    }
  }
}

extension VirtualDisk: LiveFeedStore {
  public func watch(
    on scheduler: any LoopScheduler, _ changed: @escaping (Result<Void, FeedStoreError>) -> Void
  ) -> any Cancellable {
    bell.watch(on: scheduler, changed)
  }
}
