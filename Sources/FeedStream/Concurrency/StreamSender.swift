/// Sends values into a stream from any thread: to a subject, or to the emitter of a ``Create``.
///
///     let words = PassthroughSubject<String, Never>()
///     let sender = words.sender(on: loop)
///     Thread.detachNewThread {
///       sender.send("sea")
///       sender.send(completion: .finished)
///     }
///
/// The stream receives all values on its loop, on a later turn. The values that one thread sends without `await` keep
/// their order, and so do the values that one task sends, with and without `await`. A burst of values wakes the loop
/// once.
///
/// **Result:** `send(_:)` returns true if the stream's loop will receive the value. On the loop, the subject or emitter
/// handles the value as if it had been sent there. In asynchronous code, `await sender.send(_:)` waits for demand and
/// returns the result.
///
/// **Keeping the loop running:** while the stream has a subscriber, a sender keeps ``EventLoop/run(_:)`` from returning
/// until the completion is sent or the last copy of the sender is released. A sender made with `keepsLoopAlive: false`
/// does not. A value that waits for demand always keeps the loop running.
public struct StreamSender<Output: Sendable, Failure: Error>: Sendable {
  @usableFromInline let inbox: SenderInbox<Output, Failure>

  @inlinable init(_ inbox: SenderInbox<Output, Failure>) { self.inbox = inbox }

  /// Sends `value`. Safe to use from any thread; never waits.
  ///
  /// Values that are sent faster than the loop receives them wait in memory, without a limit; if that matters, send
  /// from a task, with `await`.
  ///
  /// - Returns: true if the loop will receive the value; false if this sender has sent a completion or its loop is
  ///   closed, in which case the value is dropped and reported to ``StreamDiagnostics/onDrop(_:)``.
  @inlinable @discardableResult public func send(_ value: Output) -> Bool { inbox.post(value) }

  /// Sends `value` as `send(_:)` without `await` does, for asynchronous code that must not wait.
  @inlinable @discardableResult public func post(_ value: Output) -> Bool { inbox.post(value) }

  /// Completes the stream after the values that this sender has sent. Safe to use from any thread.
  ///
  /// - Returns: true if the loop will receive the completion; false if one has already been sent, or the loop is
  ///   closed.
  @discardableResult public func send(completion: Subscribers.Completion<Failure>) -> Bool { inbox.post(completion) }

  /// Sends `value` as soon as there is a subscriber and every subscriber has requested a value.
  ///
  /// If several tasks wait, their values are sent in turn. **Cancellation:** cancelling the task stops the wait; the
  /// value is not sent.
  ///
  /// - Returns: the outcome; see ``SendOutcome``.
  @discardableResult public func send(_ value: Output) async -> SendOutcome { await inbox.sendWhenWanted(value) }
}

extension StreamSender where Output == Void {
  /// Sends a signal. Safe to use from any thread; never waits.
  @discardableResult public func send() -> Bool { inbox.post(()) }
}

/// The result of sending a value with `await`.
public enum SendOutcome: Equatable, Sendable {
  /// The value was sent to the stream, with this result.
  case sent(Delivery)
  /// The stream had completed; the value was not sent.
  case ended
  /// The task was cancelled before there was demand; the value was not sent.
  case cancelled
  /// The loop was closed before there was demand; the value was not sent.
  case closed
}

// MARK: - A subject's sender

extension Subject where Output: Sendable {
  /// A sender to this subject that any thread may use. The subject lives on the loop that the calling thread runs or
  /// owns.
  ///
  /// - Precondition: the calling thread runs or owns a loop. If it doesn't, pass the loop to `sender(on:)`.
  @inlinable public var sender: StreamSender<Output, Failure> { makeSender(nil, true) }

  /// Makes a sender to this subject, which lives on `loop`. Any thread may use the sender.
  ///
  /// - Parameters:
  ///   - loop: an ``EventLoop``, or virtual time.
  ///   - keepsLoopAlive: true to keep ``EventLoop/run(_:)`` from returning while the subject has a subscriber and this
  ///     sender can still send.
  @inlinable public func sender(
    on loop: any LoopScheduler, keepsLoopAlive: Bool = true
  ) -> StreamSender<Output, Failure> {
    makeSender(loop, keepsLoopAlive)
  }

  @inlinable func makeSender(_ loop: (any LoopScheduler)?, _ keepsLoopAlive: Bool) -> StreamSender<Output, Failure> {
    let target = SenderTarget<Output, Failure>(
      deliver: { self.send($0) },
      deliverTold: { self.send($0) as? Delivery ?? Delivery(delivered: 1) },
      end: { self.send(completion: $0) },
      state: SenderTargetState(ofSubject: self))
    return StreamSender(SenderInbox(target, on: loop, keepsLoopAlive: keepsLoopAlive))
  }
}

extension SenderTargetState {
  /// The state of a subject, for a sender. The state of a third-party subject is unknown: every value counts as
  /// requested.
  @usableFromInline init(ofSubject subject: AnyObject) {
    guard let watched = subject as? any WatchedSubject else {
      self.init(isWanted: { true }, isAlive: { true }, isEnded: { false }, watch: { _, _ in })
      return
    }
    let list = watched.subscribers
    self.init(
      isWanted: { list.isWanted },
      isAlive: { list.hasSubscribers },
      isEnded: { watched.hasEnded },
      watch: { key, changed in
        list.watchers.removeAll { $0.key == key }
        if let changed { list.watchers.append((key, changed)) }
      })
  }
}

/// A subject whose subscribers can be watched.
protocol WatchedSubject: AnyObject {
  var subscribers: AnySubscriberList { get }
  var hasEnded: Bool { get }
}

extension PassthroughSubject: WatchedSubject {
  var subscribers: AnySubscriberList { conduits }
  var hasEnded: Bool { !conduits.isOpen }
}

extension CurrentValueSubject: WatchedSubject {
  var subscribers: AnySubscriberList { conduits }
  var hasEnded: Bool { !conduits.isOpen }
}

extension ReplaySubject: WatchedSubject {
  var subscribers: AnySubscriberList { conduits }
  var hasEnded: Bool { completion != nil }
}
