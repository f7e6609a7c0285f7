/// Ends a program when it is no longer needed.
final class ProcessLife {
  let process: any ChildProcess
  let program: String
  private let grace: StreamInstant.Stride
  private let scheduler: any LoopScheduler
  private let future: Future<ExitStatus, Never>
  private let state = State()

  /// State that may outlive the `ProcessLife`.
  private final class State {
    var hasEnded = false
    /// The time of `SIGKILL`, once the program is being ended.
    var deadline: StreamInstant?
    var kill: (any Cancellable)?
  }

  init(_ process: any ChildProcess, _ subprocess: Subprocess, _ scheduler: any LoopScheduler) {
    self.process = process
    self.scheduler = scheduler
    program = subprocess.program
    grace = subprocess.grace
    var fulfill: ((ExitStatus) -> Void)?
    future = Future { promise in fulfill = { promise(.success($0)) } }
    let leavesDescendants = subprocess.leavesDescendants
    process.onExit = { [weak process, state, scheduler, grace] status in
      state.hasEnded = true
      state.kill.take()?.cancel()
      let deliver = { _ = fulfill.take()?(status) }
      let isEnding = state.deadline != nil
      let deadline = state.deadline ?? scheduler.now.advanced(by: grace)
      guard let process, isEnding || !leavesDescendants,
        process.signalDescendants(leavesDescendants ? 0 : Signals.terminate)
      else { return deliver() }
      // The status of a program that exits on its own doesn't wait for the others.
      if !isEnding { deliver() }
      Self.killDescendants(of: process, at: deadline, scheduler, then: deliver)
    }
  }

  /// Kills the programs that `process` has left behind, unless they end before `deadline`.
  private static func killDescendants(
    of process: any ChildProcess, at deadline: StreamInstant, pause: StreamInstant.Stride = .milliseconds(5),
    _ scheduler: any LoopScheduler, then: @escaping () -> Void
  ) {
    let left = scheduler.now.distance(to: deadline)
    guard left > .zero else {
      _ = process.signalDescendants(Signals.kill)
      // Reaps those that are this process's children.
      _ = scheduler.once(after: pause) { _ = process.signalDescendants(0) }
      return then()
    }
    _ = scheduler.once(after: min(pause, left)) {
      guard process.signalDescendants(0) else { return then() }
      killDescendants(of: process, at: deadline, pause: min(pause * 2, .milliseconds(200)), scheduler, then: then)
    }
  }

  deinit { end() }

  /// The exit status. A subscriber that waits for it retains the program.
  var exit: AnyPublisher<ExitStatus, Never> {
    Deferred { [self] in future.handleEvents(receiveCompletion: { _ in withExtendedLifetime(self) {} }) }
      .eraseToAnyPublisher()
  }

  func end() {
    guard !state.hasEnded, state.deadline == nil else { return }
    state.deadline = scheduler.now.advanced(by: grace)
    process.send(Signals.terminate)
    state.kill = scheduler.once(after: grace) { [process] in process.send(Signals.kill) }
  }
}
