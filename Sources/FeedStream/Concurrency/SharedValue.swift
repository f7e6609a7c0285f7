import Synchronization

/// A value that several threads read and that rarely changes, such as a configuration or a list of chat rooms.
///
///     let greeting = SharedValue("Hello")
///     let servers = try HTTPServerGroup(at: address, on: group) { server in
///       let greeting = greeting.local()
///       return server.serve { _ in .text(greeting.value) }
///     }
///     greeting.value = "Good evening"  // on any thread; all loops use it from their next request on
///
/// ``value`` takes a lock. A loop that reads the value often can keep its own copy (``local()``), which needs no lock.
public final class SharedValue<Value: Sendable>: Sendable {
  private let state: Locked<Value>
  /// The number of changes.
  private let changes = Atomic(0)

  public init(_ value: Value) { state = Locked(value) }

  /// The value. Safe to use from any thread.
  public var value: Value {
    get { state.withLock { $0 } }
    set {
      // The old value is released outside of the lock, because its `deinit` may use this object.
      discard(update { exchange(&$0, with: newValue) })
    }
  }

  /// Changes the value atomically. Safe to use from any thread.
  ///
  /// - Parameter change: changes the value; it must not use this object.
  @discardableResult public func update<R>(_ change: (inout Value) throws -> R) rethrows -> R {
    try state.withLock { value in
      defer { changes.add(1, ordering: .releasing) }
      return try change(&value)
    }
  }

  /// A copy for the calling thread, which reads it without a lock as long as the value does not change.
  public func local() -> Local { Local(self) }

  /// A thread's copy of a ``SharedValue``. Use it on one thread.
  public final class Local {
    private let shared: SharedValue
    private var copy: Value
    private var seen: Int

    fileprivate init(_ shared: SharedValue) {
      self.shared = shared
      (copy, seen) = shared.current
    }

    /// The value after the latest change that is visible to this thread.
    public var value: Value {
      if shared.changes.load(ordering: .acquiring) != seen {
        let (new, number) = shared.current
        seen = number
        discard(exchange(&copy, with: new))
      }
      return copy
    }
  }

  private var current: (Value, Int) { state.withLock { ($0, changes.load(ordering: .relaxed)) } }
}
