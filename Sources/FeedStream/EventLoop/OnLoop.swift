/// State that lives on a loop, such as subjects and subscriptions, in a handle that any thread may hold.
///
///     let thread = try EventLoopThread(name: "words")
///
///     final class Words {
///       let texts = PassthroughSubject<String, Never>()
///       var count = 0
///       private var cancellables: Set<AnyCancellable> = []
///
///       init(on loop: EventLoop) {
///         texts.debounce(for: .milliseconds(20), scheduler: loop)
///           .sink { [unowned self] _ in count += 1 }
///           .store(in: &cancellables)
///       }
///     }
///     let words = thread.run { loop in Words(on: loop) }
///     words.run { $0.texts.send("sea") }
///     let count = await words.get { $0.count }
///
/// The state is made, used and released on the loop, in the order of the calls. The state and the subscriptions that it
/// owns are released when the handle is cancelled or released, or when the loop closes. The handle does not keep
/// ``EventLoop/run(_:)`` from returning.
///
/// If another thread may be the last to release the handle, use the loop of an ``EventLoopThread``, or close the loop
/// when it doesn't run anymore. Otherwise, the loop and the state are never released.
///
/// In a program without other threads, you don't need a handle: an object that owns its subscriptions is enough.
public final class OnLoop<State>: Sendable, Cancellable {
  /// The loop on which the state lives.
  public let loop: EventLoop
  private let slot: Slot
  /// The thread that runs the loop, if the handle keeps that thread running.
  private let thread: EventLoopThread?
  /// Detects a premature release of this object; `nil` while warnings are off, and for a handle without state.
  private let watch: HandleWatch?

  /// Makes the state on `loop`, when the loop runs.
  ///
  /// - Parameters:
  ///   - make: runs on the loop once, or never if the loop closes first.
  ///   - file: identifies the call in warnings, together with `line`.
  ///   - line: the line in the file.
  public convenience init(
    _ loop: EventLoop, _ make: @escaping @Sendable (EventLoop) -> State, file: StaticString = #fileID,
    line: UInt = #line
  ) {
    self.init(loop, thread: nil, make, file, line)
  }

  fileprivate init(
    _ loop: EventLoop, thread: EventLoopThread?, _ make: @escaping @Sendable (EventLoop) -> State,
    _ file: StaticString, _ line: UInt
  ) {
    self.loop = loop
    self.thread = thread
    slot = Slot()
    watch = State.self == Void.self ? nil : HandleWatch.begin(file, line)
    // In order, here and below: calls on the loop's own thread must not overtake those of other threads.
    // The entrance: the work waits in the loop's mailbox, and must not keep alive a loop that never runs.
    loop.bringInOrder { [slot, watch, entrance = loop.entrance] in
      // First, because the state may do all its work now, while the handle's thread waits without using streams.
      watch?.used()
      slot.fill(make, entrance)
    }
  }

  deinit {
    watch?.released()
    cancel()
  }

  /// Runs `action` with the state on the loop, on a later turn, after the earlier actions of this handle. Safe to use
  /// from any thread.
  ///
  /// After ``cancel()``, this does nothing. On a closed loop, it does nothing either, and debug builds write a warning.
  ///
  /// - Parameters:
  ///   - action: runs on the loop.
  ///   - file: identifies the call in warnings, together with `line`.
  ///   - line: the line in the file.
  public func run(
    _ action: @escaping @Sendable (inout State) -> Void, file: StaticString = #fileID, line: UInt = #line
  ) {
    watch?.used()
    loop.executeInOrder({ [slot] in slot.use(action) }, file: file, line: line)
  }

  /// Runs work like ``run(_:file:line:)``, without a warning.
  package func bring(_ action: @escaping @Sendable (inout State) -> Void) {
    watch?.used()
    loop.bringInOrder { [slot] in slot.use(action) }
  }

  /// Runs `read` with the state on the loop, and returns its result. Safe to use from any thread; don't wait for the
  /// result on the loop.
  ///
  /// - Returns: `nil` after ``cancel()``, and when the loop is closed before `read` has run.
  public func get<T: Sendable>(_ read: @escaping @Sendable (inout State) -> T) async -> T? {
    watch?.used()
    return await withUnsafeContinuation { continuation in
      let answer = Answer(continuation)
      loop.bringInOrder { [slot] in slot.use { state in answer.give(read(&state)) } }
    }
  }

  /// Releases the state: immediately, if this is the loop's thread and the loop isn't running; otherwise on the loop's
  /// next turn, or when the loop closes. Idempotent, and safe to use from any thread.
  public func cancel() {
    watch?.used()
    guard loop.isHere else {
      // Retain the loop until it has released the state: otherwise, this thread could be the last to release both.
      return loop.bringInOrder { [slot, loop] in slot.empty(loop.entrance) }
    }
    guard loop.isCurrent else { return slot.empty(loop.entrance) }
    loop.bringInOrder { [slot, entrance = loop.entrance] in slot.empty(entrance) }
  }

  /// Holds the state.
  // @unchecked: used only on the loop's thread, which runs one piece of work at a time.
  private final class Slot: @unchecked Sendable {
    private var state: State?
    private var isOver = false

    func fill(_ make: (EventLoop) -> State, _ entrance: LoopEntrance) {
      guard !isOver, let loop = entrance.loop else { return }
      // The closer retains this slot: when the loop closes, it may be the only one left to do so.
      loop.whenClosed(ObjectIdentifier(self)) { self.empty(entrance) }
      state = make(loop)
      // The subscriptions in the state are kept, and released with it.
      SubscriptionWatch.somethingHappens()
    }

    func use(_ action: (inout State) -> Void) {
      guard var taken = state.take() else { return }
      action(&taken)
      // The action may have cancelled the handle.
      if !isOver { state = taken }
    }

    func empty(_ entrance: LoopEntrance) {
      isOver = true
      entrance.whenClosed(ObjectIdentifier(self), nil)
      withExtendedLifetime(state.take()) {}
    }
  }

  /// Completes with `nil` when it is released without a result, because the work that holds it may be dropped.
  // @unchecked: one thread at a time owns it.
  private final class Answer<T>: @unchecked Sendable {
    private var continuation: UnsafeContinuation<T?, Never>?

    init(_ continuation: UnsafeContinuation<T?, Never>) { self.continuation = continuation }

    func give(_ value: sending T) { continuation.take()?.resume(returning: value) }

    deinit { continuation?.resume(returning: nil) }
  }
}

extension EventLoopThread {
  /// Makes state on this thread's loop, and returns the handle that owns it.
  ///
  ///     let thread = try EventLoopThread(name: "ticks")
  ///     let ticking = thread.run { loop in
  ///       Interval(every: .seconds(1), scheduler: loop).sink { print($0) }
  ///     }
  ///
  /// Keep the handle: releasing or cancelling it releases the state (here, a subscription). The handle keeps the thread
  /// running.
  ///
  /// - Parameters:
  ///   - make: runs on the loop, once.
  ///   - file: identifies the call in warnings, together with `line`.
  ///   - line: the line in the file.
  public func run<State>(
    _ make: @escaping @Sendable (EventLoop) -> State, file: StaticString = #fileID, line: UInt = #line
  ) -> OnLoop<State> {
    OnLoop(loop, thread: self, make, file, line)
  }
}
