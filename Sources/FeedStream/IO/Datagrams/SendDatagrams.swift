/// The reason why a datagram was not sent.
public struct DatagramError: Error, CustomStringConvertible {
  /// A ``SystemError``, or the failure of the publisher whose datagrams were sent.
  public let cause: any Error
  /// The datagram that was not sent; `nil` when upstream failed.
  public let unsent: Datagram?

  public var description: String { "\(cause)" }
}

extension Publisher where Output == Datagram {
  /// Sends the datagrams from `socket`, and finishes when the system has accepted the last of them.
  ///
  ///     upstream             --a--b--|
  ///     write(to: socket)
  ///     the network          --a--b
  ///     downstream           --------|
  ///
  /// Acceptance by the system doesn't mean arrival. Only one publisher at a time can write to a socket; a second one
  /// fails.
  ///
  /// **Demand:** begins on subscription, and requests one datagram at a time from upstream, when the previous one
  /// has been sent. **Failure:** ``DatagramError``, with upstream's failure or the system's error, such as `EMSGSIZE`;
  /// `ECANCELED` when the socket is closed before the stream completes. **Cancellation:** cancels upstream. **Policy:**
  /// holds one datagram.
  public func write(to socket: DatagramSocket) -> Publishers.WriteDatagrams<Self> {
    Publishers.WriteDatagrams(upstream: self, socket: socket)
  }
}

extension Publishers {
  /// See ``Publisher/write(to:)``.
  public struct WriteDatagrams<Upstream: Publisher>: Publisher, _DeliversAtHome where Upstream.Output == Datagram {
    public typealias Output = Never
    public typealias Failure = DatagramError

    public let upstream: Upstream
    let socket: DatagramSocket

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Never, S.Failure == DatagramError {
      guard let stage = newStage(ErasedSubscriber(subscriber)) else { return }
      subscriber.receive(subscription: stage)
      upstream.receive(subscriber: stage)
    }

    /// - Returns: `nil` if another publisher is writing to the socket; the subscriber has then already received the
    ///   failure.
    @usableFromInline func newStage(_ down: ErasedSubscriber<Never, DatagramError>) -> SendStage<Upstream.Failure>? {
      do throws(SystemError) {
        try socket.beginWriting("send from")
      } catch {
        Fail(error: DatagramError(cause: error, unsent: nil)).receive(subscriber: down)
        return nil
      }
      return SendStage(down, socket)
    }
  }
}

@usableFromInline final class SendStage<UpstreamFailure: Error>: GuardedSubscription, Subscriber {
  @usableFromInline typealias Input = Datagram
  @usableFromInline typealias Failure = UpstreamFailure

  private var down: ErasedSubscriber<Never, DatagramError>?
  private var socket: DatagramSocket?
  private var up: (any Subscription)?
  /// The datagram that is being sent.
  private var sending: Datagram?
  private var completion: Subscribers.Completion<UpstreamFailure>?

  init(_ down: ErasedSubscriber<Never, DatagramError>, _ socket: DatagramSocket) {
    self.down = down
    self.socket = socket
    super.init()
    socket.users.closeWriter = { [weak self, name = socket.name] in
      let error = SystemError("send from", name, code: Errno.cancelled)
      self?.fail(DatagramError(cause: error, unsent: self?.sending))
    }
  }

  @usableFromInline func receive(subscription: any Subscription) {
    guard up == nil, socket != nil, completion == nil else { return subscription.cancel() }
    up = subscription
    subscription.request(.max(1))
  }

  @usableFromInline func receive(_ input: Datagram) -> Subscribers.Demand {
    guard let socket, completion == nil, sending == nil else { return .none }
    sending = input
    guard socket.port.send(input, { [self] in hasSent($0) }) else { return .none }
    sending = nil
    return .max(1)
  }

  private func hasSent(_ error: SystemError?) {
    guard socket != nil, let sent = sending.take() else { return }
    if let error { return fail(DatagramError(cause: error, unsent: sent)) }
    if completion == nil { up?.request(.max(1)) } else { end() }
  }

  @usableFromInline func receive(completion: Subscribers.Completion<UpstreamFailure>) {
    guard socket != nil, self.completion == nil else { return }
    self.completion = completion
    up = nil
    if sending == nil { end() }
  }

  private func end() {
    switch completion {
    case .failure(let error)?: fail(DatagramError(cause: error, unsent: nil))
    case .finished?: release()?.receive(completion: .finished)
    case nil: break
    }
  }

  private func fail(_ error: DatagramError) {
    let up = self.up
    let down = release()
    up?.cancel()
    down?.receive(completion: .failure(error))
  }

  override func requested(_ demand: Subscribers.Demand) { demand.assertPositive("write(to:)") }

  override func cancelled() {
    let up = self.up
    guard release() != nil else { return }
    up?.cancel()
  }

  deinit { _ = release() }

  private func release() -> ErasedSubscriber<Never, DatagramError>? {
    socket.take()?.endWriting()
    up = nil
    return down.take()
  }
}
