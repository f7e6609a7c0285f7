/// The way in which code uses an object of a stream. The advice in a trap's message depends on it.
@frozen @usableFromInline enum StreamUse { case send, read, subscribe, request, cancel }

/// The message of the trap for an object that is used on the wrong thread (`CONTRACT.md`, rule 1).
enum ThreadTrap {
  /// The place where an object was first used.
  struct FirstUse {
    /// The place with its preposition, such as "on the main thread".
    let place: String
    /// True if that was in a part of a stream that runs on a queue, other than the main one.
    var isOnQueue = false
  }

  /// Stops the program.
  ///
  /// - Parameters:
  ///   - made: the place where the object was made, if it is known. Otherwise, the trap names the subscription that is
  ///     being cancelled, if any.
  ///   - first: `nil` if it isn't known.
  @inline(never) static func stop(
    _ name: String, _ finding: String, madeAt made: SourcePlace?, _ first: FirstUse?, _ advice: String
  ) -> Never {
    let subscription = made == nil ? SubscriptionWatch.cancelledPlace : nil
    // Without a line, the place is only a name.
    let place = (made ?? subscription).flatMap { $0.line == 0 ? nil : $0 }
    var story = ["is now used \(here())"]
    if let first { story.insert("was first used \(first.place)", at: 0) }
    if let place { story.insert("was \(subscription == nil ? "made" : "subscribed to") at \(place)", at: 0) }
    var advice = advice
    // The code that uses the object now is probably right: the object was first used below a queue, by mistake.
    if first?.isOnQueue == true, SerialLane.current == nil {
      advice = """
        Write .receive(on: loop), or .receive(on: DispatchQueue.main), directly above the sink, the assign or the operator that uses \
        it on the queue; or use it only there.
        """
    }
    let message = """
      \(name): \(finding) (CONTRACT, rule 1: a stream lives on one thread). It \(story.joined(separator: ", and ")). \(advice)
      """
    guard let place else { halt(message) }
    // The message begins with the place, as a warning does.
    halt(message, file: place.file, line: place.line)
  }

  /// The place where the calling code runs.
  static func firstUse() -> FirstUse {
    let lane = SerialLane.current
    return FirstUse(place: here(), isOnQueue: lane.map { $0.isOnQueue && !$0.mayBeOnMainQueue } ?? false)
  }

  /// The loop, queue, task or thread that runs the calling code, as text.
  private static func here() -> String {
    if let lane = SerialLane.current {
      if lane.isOnQueue { return "on \(lane.label)" }
    } else if let domain = CurrentDomain.get() ?? (SubjectConfinement.isInTask ? nil : CurrentDomain.resting()) {
      return domain.isVirtual ? "in virtual time" : "on the loop of \(domain.label)"
    }
    if MainQueueCode.isRunning { return "on the main thread" }
    if SubjectConfinement.isInTask { return "in a task" }
    let label = MainQueueCode.queueLabel
    // Dispatch's name for a thread that runs no queue's code.
    if label.isEmpty || label.hasSuffix(".overcommit") { return "on a thread without a loop" }
    return label.hasPrefix("com.apple.root.") ? "on a global queue" : "on the queue \(label)"
  }

  /// The advice for the calling code, which uses the object `name`. `docs/Troubleshooting.md` has the rest.
  static func advice(_ use: StreamUse, of name: String) -> String {
    if let lane = SerialLane.current, lane.isOnQueue {
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
    case .cancel:
      return """
        Cancel, and release the cancellable, on the thread that subscribed: DispatchQueue.main.async { subscription.cancel() }. An \
        OnLoop, which any thread may release, does this for its state.
        """
    }
  }
}
