import Synchronization

/// One of several subscriptions that share a gate, such as those of a stream's groups: cancelling one drops only that
/// subscription's events in transit.
// @unchecked: the gate is Sendable, and the flag is atomic.
@usableFromInline final class GateMember: EntryGate, @unchecked Sendable {
  @usableFromInline let gate: ThreadGate
  private let isOver = Atomic(false)
  private let isElsewhere: Bool

  /// - Parameter isElsewhere: true for a subscription that another thread may have made.
  @usableFromInline init(_ gate: ThreadGate, isElsewhere: Bool) {
    self.gate = gate
    self.isElsewhere = isElsewhere
  }

  @usableFromInline func enter() -> Bool { gate.enter() }
  @usableFromInline func leave() { gate.leave() }

  /// Runs `action` immediately if this thread may enter, otherwise later.
  @usableFromInline func run(_ action: @escaping () -> Void) { if !gate.runsNow(action) { perform(action) } }

  @usableFromInline func perform(_ action: @escaping () -> Void) {
    gate.bring { [self] in if !isOver.load(ordering: .acquiring) { action() } }
  }

  @usableFromInline func revoke(_ cancel: @escaping () -> Void) {
    isOver.store(true, ordering: .releasing)
    gate.bring(cancel, isCancellation: true)
  }

  @usableFromInline var isHomed: Bool { gate.isHomed && !isElsewhere }
  @usableFromInline var takesAnyThread: Bool { isElsewhere || gate.takesAnyThread }
}
