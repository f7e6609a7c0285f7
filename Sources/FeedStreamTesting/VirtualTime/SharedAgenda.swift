import FeedStream
import Synchronization

/// An agenda to which any thread may add work.
// @unchecked: `lock` guards `agenda`, and its closures, which needn't be sendable, run only on the thread that advances
// time.
final class SharedAgenda: @unchecked Sendable {
  private let lock = Locked(())
  @exclusivity(unchecked) private var agenda: Agenda
  /// The agenda's time, which can be read without the lock.
  private let nanoseconds: Atomic<Int64>

  init(_ agenda: Agenda) {
    self.agenda = agenda
    nanoseconds = Atomic(agenda.now.nanoseconds)
  }

  private func locked<T>(_ body: (inout Agenda) -> T) -> T { lock.withLock { _ in body(&agenda) } }

  var now: StreamInstant { StreamInstant(nanoseconds: nanoseconds.load(ordering: .acquiring)) }
  var pending: [PendingWork] { locked { $0.pending } }
  var nextInstant: StreamInstant? { locked { $0.nextInstant } }

  func add(_ item: Agenda.Item) { locked { $0.add(item) } }

  /// - Parameter place: a position that ``takePlace()`` has reserved.
  /// - Returns: the work, for ``cancel(_:)``.
  func add(
    at instant: StreamInstant, in place: UInt64? = nil, _ note: OriginNote, _ action: @escaping () -> Void
  ) -> TimerQueue.Work {
    locked { $0.add(at: instant, in: place, note, action) }
  }

  /// Reserves a position among the work that is due at one time, for work that may never be added.
  func takePlace() -> UInt64 { locked { $0.takePlace() } }

  func cancel(_ work: TimerQueue.Work) {
    // Release the closure outside of the lock, because its captured objects may call back when they are released.
    withExtendedLifetime(locked { $0.cancel(work) }) {}
  }

  /// Runs `wake`, which adds a task's next step. The step takes the position of the running work.
  func waking(_ wake: () -> Void) {
    locked { $0.isWaking = true }
    wake()
    locked { $0.isWaking = false }
  }

  /// Takes the next piece of work that is due at or before `target`, and advances the clock to that work's time.
  func next(upTo target: StreamInstant) -> Agenda.Item? {
    locked {
      let item = $0.next(upTo: target)
      nanoseconds.store($0.now.nanoseconds, ordering: .releasing)
      return item
    }
  }

  func move(to instant: StreamInstant) {
    locked {
      $0.move(to: instant)
      nanoseconds.store($0.now.nanoseconds, ordering: .releasing)
    }
  }

  /// Advances time without running the work that becomes due in the meantime; that work is then due now.
  func stall(to instant: StreamInstant) {
    locked {
      $0.stall(to: instant)
      nanoseconds.store($0.now.nanoseconds, ordering: .releasing)
    }
  }
}
