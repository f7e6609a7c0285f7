extension Connection {
  /// A publisher that, for each subscriber, connects to `address`, delivers the connection, and finishes.
  ///
  /// **Demand:** begins on subscription; the connection is held until it is requested. **Failure:** the system's
  /// error. **Cancellation:** abandons the attempt, and closes a connection that was not delivered. **Policy:** holds
  /// one connection.
  ///
  /// - Parameters:
  ///   - address: a numeric address, or the path of a socket.
  ///   - scheduler: an ``EventLoop``, or virtual time in a test.
  public static func connect(
    to address: SocketAddress, on scheduler: any LoopScheduler
  ) -> AnyPublisher<Connection, SystemError> {
    Deferred { [world = scheduler.world("Connection")] in
      var attempt: (any Cancellable)?
      return Future<Connection, SystemError> { promise in
        attempt = world.connect(to: address) { result in promise(result.map { Connection($0, to: address) }) }
      }
      .handleEvents(receiveCancel: { attempt?.cancel() })
    }
    .eraseToAnyPublisher()
  }
}
