/// The way in which code uses an object of a stream. The advice in a trap's message depends on it.
@frozen @usableFromInline enum StreamUse { case send, read, subscribe, request, cancel }

/// The kind of place where code uses an object, as text. Not a reference to the loop or the queue, or its name: threads
/// that use an object at the same time, by mistake, overwrite each other's value.
@usableFromInline enum UsePlace: String {
  /// In a part of a stream that runs on a queue other than the main one.
  case streamOnQueue = "in a part of a stream that runs on a queue"
  /// The scheduler may use the main queue.
  case streamOnScheduler = "in a part of a stream that runs on a scheduler"
  case virtualTime = "in virtual time"
  case loop = "on a loop"
  case mainThread = "on the main thread"
  case task = "in a task"
  case noLoop = "on a thread without a loop"
  case globalQueue = "on a global queue"
  case queue = "on a queue"

  /// The part of a stream that is running on a queue, or without a loop.
  fileprivate static var lane: (any StreamDomain & StreamLane)? {
    CurrentDomain.get() as? any StreamDomain & StreamLane
  }

  /// The place where the calling code runs.
  static var here: Self {
    if let lane = UsePlace.lane {
      if lane.isOnQueue { return lane.mayBeOnMainQueue ? .streamOnScheduler : .streamOnQueue }
    } else if let domain = SubjectConfinement.domainHere {
      return domain.isVirtual ? .virtualTime : .loop
    }
    if MainQueueCode.isRunning { return .mainThread }
    if SubjectConfinement.isInTask { return .task }
    let label = MainQueueCode.queueLabel
    // Dispatch's name for a thread that runs no queue's code.
    if label.isEmpty || label.hasSuffix(".overcommit") { return .noLoop }
    return label.hasPrefix("com.apple.root.") ? .globalQueue : .queue
  }

  /// The place where the calling code runs, as text, with the name of the loop or the queue.
  static var hereByName: String {
    switch here {
    case .streamOnQueue, .streamOnScheduler: "on \(UsePlace.lane?.label ?? "a queue")"
    case .loop: "on the loop of \(SubjectConfinement.domainHere?.label ?? "a thread")"
    case .queue: "on the queue \(MainQueueCode.queueLabel)"
    case let place: place.rawValue
    }
  }
}

/// The message of the trap for an object that is used on the wrong thread (`CONTRACT.md`, rule 1).
enum ThreadTrap {
  /// Stops the program.
  ///
  /// - Parameters:
  ///   - made: the place where the object was made, if it is known. Otherwise, the trap names the subscription that is
  ///     being cancelled, if any.
  ///   - first: the place of the first use, as text; `nil` if it isn't known.
  @inline(never) static func stop(
    _ name: String, _ finding: String, madeAt made: SourcePlace?, _ first: String?, _ advice: String
  ) -> Never {
    let subscription = made == nil ? SubscriptionWatch.cancelledPlace : nil
    // Without a line, the place is only a name.
    let place = (made ?? subscription).flatMap { $0.line == 0 ? nil : $0 }
    var story = ["is now used \(UsePlace.hereByName)"]
    if let first { story.insert("was first used \(first)", at: 0) }
    if let place { story.insert("was \(subscription == nil ? "made" : "subscribed to") at \(place)", at: 0) }
    let message = """
      \(name): \(finding) (CONTRACT, rule 1: a stream lives on one thread). It \(story.joined(separator: ", and ")). \(advice)
      """
    guard let place else { halt(message) }
    // The message begins with the place, as a warning does.
    halt(message, file: place.file, line: place.line)
  }

  /// The advice for the calling code, which uses the object `name`. `docs/Troubleshooting.md` has the rest.
  ///
  /// - Parameter first: the place of the first use; `nil` if it isn't known.
  static func advice(_ use: StreamUse, of name: String, after first: UsePlace? = nil) -> String {
    // The code that uses the object now is probably right: the object was first used below a queue, by mistake.
    if first == .streamOnQueue, UsePlace.lane == nil, [.send, .read, .cancel].contains(use) {
      return """
        Write .receive(on: loop), or .receive(on: DispatchQueue.main), directly above the sink, the assign or the operator that uses \
        it on the queue; or use it only there.
        """
    }
    if let lane = UsePlace.lane, lane.isOnQueue {
      return """
        This code is in a part of a stream that runs on \(lane.label): write .receive(on: loop), or .receive(on: DispatchQueue.main), \
        directly above the sink or the operator that contains the code.
        """
    }
    if SubjectConfinement.isInTask, CurrentDomain.get() == nil {
      return """
        If the task's code is in an actor, give the actor the loop's executor: nonisolated var unownedExecutor: UnownedSerialExecutor { \
        loop.asUnownedSerialExecutor() } (ThreadsActorsAndAsync.md#an-actor-on-the-loop). Otherwise, write Task { @MainActor in … }\
        \(use == .send ? ", or send with subject.sender(on: loop)" : "").
        """
    }
    switch use {
    case .send where name == "@Published":
      return "Set the property in loop.execute { } or DispatchQueue.main.async { }."
    case .send:
      return """
        Send with subject.sender(on: loop), which any thread may use. If a publisher that delivers on its own threads runs this code, \
        write .receive(on: DispatchQueue.main) directly below that publisher.
        """
    case .read:
      return """
        Read the value in loop.execute { } or DispatchQueue.main.async { }; receive values off the loop with publisher.values.
        """
    case .subscribe:
      return """
        Build the stream in loop.execute { }, or receive its values with publisher.values. If an operator such as flatMap or append \
        subscribes, write .receive(on: DispatchQueue.main) directly below the publisher that made it do so.
        """
    case .request:
      return """
        Build the stream in loop.execute { }. If an operator below requests values because a publisher delivers on a queue or on its own \
        threads, write .receive(on: DispatchQueue.main) directly below that publisher.
        """
    case .cancel: return adviceToCancel
    }
  }

  static let adviceToCancel = """
    Cancel, and release the cancellable, on the thread that subscribed: DispatchQueue.main.async { subscription.cancel() }. An \
    OnLoop, which any thread may release, does this for its state.
    """
}
