internal import Dispatch

extension EventLoop {
  /// The loop of the main actor: `@MainActor` code makes, uses and awaits streams on it.
  ///
  ///     @MainActor final class Search {
  ///       let texts = PassthroughSubject<String, Never>()
  ///       var subscription: AnyCancellable?
  ///
  ///       func start() {
  ///         subscription = texts.debounce(for: .milliseconds(200), scheduler: EventLoop.main).sink { print($0) }
  ///       }
  ///     }
  ///
  /// The main queue runs the loop, one turn whenever there is work, so a program only needs code that serves that
  /// queue: an asynchronous `main`, `RunLoop.main.run()` or `dispatchMain()`. The loop belongs to the main queue, which
  /// on Linux does not always run on the main thread. ``run(_:)``, ``stop()`` and ``close()`` trap on this loop, and it
  /// does not keep the program running.
  public static let main: EventLoop = {
    let host = MainQueueHost()
    let loop = EventLoop(host: host)
    host.serve(loop)
    return loop
  }()
}

/// Runs a loop on the main queue.
// @unchecked: everything is used on the main queue, except `serve(_:)`, which is called first.
private final class MainQueueHost: LoopHost, @unchecked Sendable {
  private var loop: EventLoop?
  private var events: (any DispatchSourceRead)?
  private var clock: (any DispatchSourceTimer)?
  /// True when a turn has been scheduled.
  private var isComing = false

  /// True on the main queue, not only on the main thread: on Linux, other threads serve it for an asynchronous `main`.
  var isHere: Bool { MainQueue.isHere }

  func serve(_ loop: EventLoop) {
    self.loop = loop
    let events = DispatchSource.makeReadSource(fileDescriptor: loop.backendDescriptor, queue: .main)
    events.setEventHandler { [unowned self] in turn() }
    let clock = DispatchSource.makeTimerSource(queue: .main)
    clock.setEventHandler { [unowned self] in turn() }
    (self.events, self.clock) = (events, clock)
    clock.schedule(deadline: .distantFuture)
    events.activate()
    clock.activate()
    DispatchQueue.main.async { self.turn() }
  }

  func wake() {
    guard !isComing else { return }
    isComing = true
    DispatchQueue.main.async { self.turn() }
  }

  private func turn() {
    // Code that runs in a turn may serve the main queue, which may call this method again.
    guard let loop, !loop.isCurrent else { return }
    isComing = false
    let wait = loop.runHostedTurn()
    if wait == 0 { return wake() }
    clock?.schedule(deadline: wait < 0 ? .distantFuture : .now() + .milliseconds(wait), leeway: .nanoseconds(0))
  }
}
