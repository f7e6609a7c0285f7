public import FeedStream

extension WebSocket: PullSource {
  @usableFromInline package func wanted(by _: PullSubscription<WebSocketMessage, WebSocketError>) -> Bool {
    pump()
    return false
  }

  @usableFromInline package func cancelled(_ subscription: PullSubscription<WebSocketMessage, WebSocketError>) {
    if self.subscription === subscription { self.subscription = nil }
  }
}

extension WebSocket {
  /// The peer's messages, read on demand.
  ///
  /// Finishes when the peer closes with 1000, 1001 or no code, or after ``close(_:reason:)``.
  ///
  /// **Demand:** without demand, no message is read, and the peer has to wait when the system's buffers are full. The
  /// socket still replies to pings that come before the next message; later pings wait. **Failure:**
  /// ``WebSocketError``; if the connection is lost, after the messages that were read before that. But when a server's
  /// connection is lost, the publisher that its handler returned is cancelled immediately, so a subscription that is
  /// part of it doesn't get those messages. A second subscriber at the same time gets ``WebSocketError/alreadyRead``.
  /// **Cancellation:** stops reading messages; the socket stays open, and another subscriber may continue. If the
  /// connection is lost before that, the other subscriber gets the messages of the last read. **Policy:** holds the
  /// bytes of one read, and the message that is arriving.
  public var messages: Messages { Messages(socket: self) }

  /// See ``WebSocket/messages``.
  public struct Messages: Publisher, _DeliversAtHome {
    public typealias Output = WebSocketMessage
    public typealias Failure = WebSocketError

    let socket: WebSocket

    public func receive<S: Subscriber>(subscriber: S) where S.Input == WebSocketMessage, S.Failure == WebSocketError {
      // Messages that waited when the connection was lost come first.
      if let completion = socket.completion, !socket.isHeld {
        switch completion {
        case .finished: return Empty<WebSocketMessage, WebSocketError>().receive(subscriber: subscriber)
        case .failure(let error):
          return Fail<WebSocketMessage, WebSocketError>(error: error).receive(subscriber: subscriber)
        }
      }
      guard socket.subscription == nil else {
        return Fail<WebSocketMessage, WebSocketError>(error: .alreadyRead).receive(subscriber: subscriber)
      }
      let subscription = PullSubscription("WebSocket.messages", subscriber, socket)
      socket.subscription = subscription
      subscription.begin()
    }
  }

  // MARK: Reading

  /// Delivers messages that have arrived, on demand.
  func pump() {
    guard !isPumping else { return }
    // The subscriber may release this socket.
    withExtendedLifetime(self) {
      isPumping = true
      if state == .closed { deliverHeld() } else { while step() {} }
      isPumping = false
      flush()
      updateReading()
    }
  }

  /// - Returns: true if there may be more to do.
  private func step() -> Bool {
    guard state == .open || state == .closing else { return false }
    // A peer that sends pings but reads no pongs has to wait.
    isBlocked = controlBytes >= Self.mostControlBytes
    guard !isBlocked else { return false }
    do throws(ProtocolFailure) {
      let isWanted = state == .closing || (subscription?.demand ?? .none) > .none
      isHeld = false
      switch try reader.next(wantsMessage: isWanted) {
      case nil: return false
      case .held:
        isHeld = true
        reader.compact()
        return false
      case .message(let message): if state == .open { subscription?.deliver(message) }
      case .ping(let payload): if !isCloseSent { enqueue(control: .pong, payload) }
      case .pong: break
      case .close(let close): closed(by: close)
      }
      return true
    } catch {
      fail(error)
      return false
    }
  }

  /// Delivers the messages that waited when the connection was lost, and then the completion.
  private func deliverHeld() {
    while isHeld, let subscription, var completion {
      do throws(ProtocolFailure) {
        switch try reader.next(wantsMessage: subscription.demand > .none) {
        case .held: return
        case .message(let message):
          subscription.deliver(message)
          continue
        case .ping, .pong: continue
        case .close(let close):
          received = close
          completion = close.completion
        case nil: break
        }
      } catch {
        completion = .failure(.protocolBroken(error.code, reason: "\(error)"))
      }
      isHeld = false
      self.completion = completion
      self.subscription = nil
      subscription.end(completion)
    }
  }

  /// The number of waiting control-frame bytes at which reading pauses.
  static let mostControlBytes = 16 * 1024
  /// The maximum number of bytes to discard while waiting for the end of the connection.
  private static let mostDiscarded = 16 << 20

  private func receive(_ result: ReadResult) {
    switch result {
    case .chunk(let chunk):
      lastHeard = scheduler.now
      pingSent = nil
      // After the peer's close frame, or this side's.
      if state == .closing ? isCloseSent : state != .open {
        discardedBytes += chunk.count
        if discardedBytes > Self.mostDiscarded { return drop(.finished) }
      }
      guard state == .open || state == .closing else { return }
      reader.feed(chunk)
      pump()
    case .end:
      isReading = false
      drop(state == .open ? .failure(.connectionLost(nil)) : .finished)
    case .failure(let error):
      isReading = false
      drop(state == .open ? .failure(.connectionLost(error)) : .finished)
    }
  }

  /// Starts or stops reading from the channel, as needed.
  func updateReading() {
    let wants =
      switch state {
      case .open: !isHeld && controlBytes < Self.mostControlBytes
      case .closing: controlBytes < Self.mostControlBytes
      case .ending, .lingering: true
      case .closed: false
      }
    guard wants != isReading, state != .closed else { return }
    isReading = wants
    // Unowned: the channel releases this closure when it is closed, which happens before the socket is released.
    if wants { channel.startReading { [unowned self] in receive($0) } } else { channel.stopReading() }
  }
}
