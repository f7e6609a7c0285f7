/// An object that one subscriber reads from and one publisher writes to at a time: a connection, or a datagram
/// socket.
protocol Endpoint: AnyObject {
  associatedtype Arrival

  var users: EndpointUsers { get set }
  /// The name for error messages.
  var name: String { get }
  /// The completion that the reader receives when the endpoint is closed.
  var readerEnding: Subscribers.Completion<SystemError> { get }

  /// Passes arriving values to `reader` until ``stopReading()``.
  ///
  /// The endpoint needn't retain the reader, which calls ``stopReading()`` before it is released.
  func startReading(for reader: EndpointReader<Self>)
  func stopReading()
}

/// The users of an endpoint, which are informed when it is closed.
struct EndpointUsers {
  var isRead = false
  var isWritten = false
  fileprivate(set) var isClosed = false
  fileprivate var closeReader: (() -> Void)?
  /// Called when the endpoint is closed during a write.
  var closeWriter: (() -> Void)?
}

extension Endpoint {
  /// Runs `close`, and then informs the users.
  func close(_ close: () -> Void) {
    guard !users.isClosed else { return }
    users.isClosed = true
    close()
    users.closeReader.take()?()
    users.closeWriter.take()?()
  }

  /// - Throws: if the endpoint is closed, or another publisher is writing to it.
  func beginWriting(_ operation: String) throws(SystemError) {
    guard !users.isWritten, !users.isClosed else {
      throw SystemError(operation, name, code: users.isClosed ? Errno.closed : Errno.busy)
    }
    users.isWritten = true
  }

  func endWriting() {
    users.isWritten = false
    users.closeWriter = nil
  }

  /// Delivers arriving values to `subscriber`, unless another subscriber is already reading.
  func deliver<S: Subscriber>(to subscriber: S) where S.Input == Arrival, S.Failure == SystemError {
    guard !users.isRead, !users.isClosed else {
      let code = users.isClosed ? Errno.closed : Errno.busy
      return Fail(error: SystemError("read from", name, code: code)).receive(subscriber: subscriber)
    }
    subscriber.receive(subscription: EndpointReader(self, ErasedSubscriber(subscriber)))
  }
}

/// The subscription of an endpoint's reader.
final class EndpointReader<Source: Endpoint>: GuardedSubscription {
  @exclusivity(unchecked) private var down: ErasedSubscriber<Source.Arrival, SystemError>?
  @exclusivity(unchecked) private var source: Source?
  @exclusivity(unchecked) private var demand = Subscribers.Demand.none
  @exclusivity(unchecked) private var isReading = false

  fileprivate init(_ source: Source, _ down: ErasedSubscriber<Source.Arrival, SystemError>) {
    self.source = source
    self.down = down
    super.init()
    source.users.isRead = true
    source.users.closeReader = { [unowned self, unowned source] in end(source.readerEnding) }
  }

  override func requested(_ demand: Subscribers.Demand) {
    self.demand += demand
    guard !isReading, let source else { return }
    isReading = true
    source.startReading(for: self)
  }

  func receive(_ value: Source.Arrival) {
    // Retain the subscriber: it may cancel, and be released, during the call.
    guard let down else { return }
    demand -= 1
    demand += down.receive(value)
    if demand == .none { pause() }
  }

  override func tell(_ facts: inout StreamFacts) {
    facts.delivers(to: down)
    facts.demand = demand
    facts.isOver = down == nil
  }

  func end(_ completion: Subscribers.Completion<SystemError>) {
    release()?.receive(completion: completion)
  }

  private func pause() {
    guard isReading else { return }
    isReading = false
    source?.stopReading()
  }

  deinit { _ = release() }

  override func cancelled() { _ = release() }

  private func release() -> ErasedSubscriber<Source.Arrival, SystemError>? {
    pause()
    let (down, source) = (down.take(), source.take())
    source?.users.closeReader = nil
    source?.users.isRead = false
    return down
  }
}
