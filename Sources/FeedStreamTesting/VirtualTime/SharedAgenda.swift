import FeedStream
import Synchronization

/// An agenda to which any thread may add.
// Unchecked because `lock` guards `agenda`, and one thread at a time, the one that advances time, runs its closures,
// which need not be sendable.
final class SharedAgenda: @unchecked Sendable {
  private let lock = Mutex(())
  @exclusivity(unchecked) private var agenda: Agenda
  /// The agenda's time, which can be read without its lock.
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

  /// - Parameter place: a position that ``takePlace()`` reserved.
  /// - Returns: the work, for ``cancel(_:)``.
  func add(
    at instant: StreamInstant, in place: UInt64? = nil, _ note: OriginNote, _ action: @escaping () -> Void
  ) -> TimerQueue.Work {
    locked { $0.add(at: instant, in: place, note, action) }
  }

  /// Reserves a position among the work of one instant, for work that may never be added.
  func takePlace() -> UInt64 { locked { $0.takePlace() } }

  func cancel(_ work: TimerQueue.Work) {
    // Released outside of the lock: what the closure holds may call back into this when it is released.
    withExtendedLifetime(locked { $0.cancel(work) }) {}
  }

  /// Gives the work that `wake` adds, the task's next step, the position of the calling work.
  func waking(_ wake: () -> Void) {
    locked { $0.isWaking = true }
    wake()
    locked { $0.isWaking = false }
  }

  /// Takes the next piece of work at or before `target` and sets the time to it.
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

  /// Advances time without running work that becomes due meanwhile: it is due afterward.
  func stall(to instant: StreamInstant) {
    locked {
      $0.stall(to: instant)
      nanoseconds.store($0.now.nanoseconds, ordering: .releasing)
    }
  }
}
