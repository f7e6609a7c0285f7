import FeedStream
import Synchronization

/// An agenda that any thread may add to.
// Unchecked because `agenda` is guarded by `lock`, and the closures in it, which need not be sendable, are run by one
// thread at a time: the one that moves time.
final class SharedAgenda: @unchecked Sendable {
  private let lock = Mutex(())
  @exclusivity(unchecked) private var agenda: Agenda
  /// The agenda's time, to be read without its lock.
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

  /// - Parameter place: one that ``takePlace()`` kept.
  /// - Returns: takes the work off, see ``cancel(_:)``.
  func add(
    at instant: StreamInstant, in place: UInt64? = nil, _ note: OriginNote, _ action: @escaping () -> Void
  ) -> TimerQueue.Work {
    locked { $0.add(at: instant, in: place, note, action) }
  }

  /// Keeps a place among what is due at one instant, for work that may not come to be.
  func takePlace() -> UInt64 { locked { $0.takePlace() } }

  func cancel(_ work: TimerQueue.Work) {
    // Released outside of the lock: what the closure holds may come back here when it goes.
    withExtendedLifetime(locked { $0.cancel(work) }) {}
  }

  /// Has what `wake` adds, the task's next step, take the place of the work that calls this.
  func waking(_ wake: () -> Void) {
    locked { $0.isWaking = true }
    wake()
    locked { $0.isWaking = false }
  }

  /// Takes the next thing to do at or before `target`, moving time to it.
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

  /// Moves time on without doing what is due on the way: it is due afterwards.
  func stall(to instant: StreamInstant) {
    locked {
      $0.stall(to: instant)
      nanoseconds.store($0.now.nanoseconds, ordering: .releasing)
    }
  }
}
