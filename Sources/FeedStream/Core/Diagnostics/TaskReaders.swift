import CLibrary
import Synchronization

/// The tasks that make and iterate their own `values` outside any loop. No loop waits for such tasks, so the
/// program may end while values are still to come.
enum TaskReaders {
  // @unchecked: any thread may read a weak reference to a `LiveAnywhere`.
  private struct Reader: @unchecked Sendable {
    weak var reader: (any LiveAnywhere)?
  }

  private static let readers = SweptList<Reader>()
  private static let loopHasReturned = Atomic(false)

  /// Called, while warnings are on, when such a task begins to iterate.
  static func add(_ reader: any LiveAnywhere) {
    readers.add(Reader(reader: reader)) { $0.reader == nil }
    watchExit
  }

  /// Called when a loop that serves the main queue has returned: the program probably ends soon.
  static func loopReturned() { loopHasReturned.store(true, ordering: .relaxed) }

  private static let watchExit: Void = {
    atexit { TaskReaders.warnAtExit() }
  }()

  private static func warnAtExit() {
    guard loopHasReturned.load(ordering: .relaxed) else { return }
    guard readers.elements.contains(where: { $0.reader?.mayReceive == true }) else { return }
    Warnings.warn(
      .unreadValues, at: "values",
      """
      the program ended while a task was iterating values that the task itself had created; run() doesn't wait for such values. Create them before the \
      task, on the loop's thread, or write Task { @MainActor in … }
      """)
  }
}
