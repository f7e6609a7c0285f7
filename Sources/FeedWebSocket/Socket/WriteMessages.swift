public import FeedStream

extension Publisher where Output == WebSocketMessage {
  /// Sends the messages to a socket; finishes when upstream has finished and everything is written.
  ///
  ///     ticks.map { WebSocketMessage.text("\($0)") }.write(to: socket)
  ///
  /// Several publishers may write to one socket; they take turns sending their messages.
  ///
  /// **Demand:** begins on subscription, and requests one message at a time, only while fewer than
  /// ``WebSocketLimits/bufferedBytes`` bytes wait to be written. So a peer that doesn't read takes up no more memory.
  /// **Failure:** upstream's failure, once upstream's messages are written; the socket is then closed with 1011, unless
  /// the failure is the socket's own. ``WebSocketError`` if the socket is closed first. **Cancellation:** cancels
  /// upstream; encoded messages are still written. **Policy:** holds one message, and the bytes waiting to be
  /// written.
  ///
  /// - Parameters:
  ///   - socket: the socket to write to.
  ///   - ending: determines whether the socket is closed when upstream has finished; it stays open by default.
  public func write(
    to socket: WebSocket, atEnd ending: WebSocketWriteEnding = .leavesOpen
  ) -> Publishers.WriteMessages<Self> {
    Publishers.WriteMessages(upstream: self, socket: socket, ending: ending)
  }
}

/// The treatment of a socket when everything is written.
public enum WebSocketWriteEnding: Hashable, Sendable {
  /// The socket stays open, so that more may be written.
  case leavesOpen
  /// The socket is closed with this code.
  case closes(WebSocketCloseCode = .normal)
}

extension Publishers {
  /// See `write(to:atEnd:)` for a socket.
  public struct WriteMessages<Upstream: Publisher>: Publisher, _DeliversAtHome
  where Upstream.Output == WebSocketMessage {
    public typealias Output = Never
    public typealias Failure = any Error

    public let upstream: Upstream
    let socket: WebSocket
    let ending: WebSocketWriteEnding

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Never, S.Failure == any Error {
      guard !socket.isClosed else {
        return Fail<Never, any Error>(error: WebSocketError.closed).receive(subscriber: subscriber)
      }
      let stage = WriteMessagesStage<Upstream.Failure>(socket, ending, AnySubscriber(subscriber))
      socket.writers.append(.init(stage))
      subscriber.receive(subscription: CancellationSubscription { stage.cancel() })
      upstream.receive(subscriber: stage)
    }
  }
}

final class WriteMessagesStage<UpstreamFailure: Error>: Subscriber, SocketWriter {
  typealias Input = WebSocketMessage
  typealias Failure = UpstreamFailure

  private var socket: WebSocket?
  private let ending: WebSocketWriteEnding
  private var down: AnySubscriber<Never, any Error>?
  private var up: (any Subscription)?
  /// True if a requested message has not arrived yet.
  private var isAsked = false
  private var isOver = false

  init(_ socket: WebSocket, _ ending: WebSocketWriteEnding, _ down: AnySubscriber<Never, any Error>) {
    self.socket = socket
    self.ending = ending
    self.down = down
  }

  deinit { cancel() }

  // MARK: Upstream

  func receive(subscription: any Subscription) {
    guard up == nil, socket != nil, !isOver else { return subscription.cancel() }
    up = subscription
    roomIsThere()
  }

  func roomIsThere() {
    guard !isAsked, !isOver, let up, let socket, socket.hasRoom else { return }
    isAsked = true
    up.request(.max(1))
  }

  func receive(_ input: WebSocketMessage) -> Subscribers.Demand {
    guard let socket, !isOver else { return .none }
    socket.enqueue(input)
    isAsked = false
    // The return value requests the next message, which is cheaper than a call while this message is sent.
    guard !isOver, socket.hasRoom else { return .none }
    isAsked = true
    return .max(1)
  }

  func receive(completion: Subscribers.Completion<UpstreamFailure>) {
    guard let socket, !isOver else { return }
    isOver = true
    up = nil
    // The closure retains this stage until everything is written.
    socket.whenWritten { [self] isWritten in
      guard let socket = self.socket else { return }
      switch completion {
      case .finished:
        if case .closes(let code) = ending { socket.close(code) }
        finish(isWritten ? .finished : .failure(WebSocketError.closed))
      case .failure(let error):
        // After a failure of the socket itself, it is closed already.
        socket.close(.internalError)
        finish(.failure(error))
      }
    }
  }

  func socketEnded(_ completion: Subscribers.Completion<WebSocketError>) {
    // If upstream has finished, its last messages may still be written: `whenWritten` reports that.
    guard !isOver else { return }
    isOver = true
    let up = self.up.take()
    up?.cancel()
    switch completion {
    case .finished: finish(.finished)
    case .failure(let error): finish(.failure(error))
    }
  }

  private func finish(_ completion: Subscribers.Completion<any Error>) {
    isOver = true
    let down = self.down.take()
    release()
    down?.receive(completion: completion)
  }

  // MARK: Downstream

  func cancel() {
    isOver = true
    down = nil
    let up = self.up.take()
    release()
    up?.cancel()
  }

  private func release() {
    let socket = self.socket.take()
    socket?.writers.removeAll { $0.identity == ObjectIdentifier(self) }
  }
}
