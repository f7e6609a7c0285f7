import FeedHTTPServer
import FeedStream
import FeedStreamTesting

/// A server in virtual time, and clients that determine which bytes arrive when.
final class Bench {
  let time = VirtualTimeScheduler()
  let backlog = Backlog()
  let server: HTTPServer
  private var serving: AnyCancellable?

  init(_ change: (inout HTTPServerLimits) -> Void = { _ in }) {
    var limits = HTTPServerLimits()
    change(&limits)
    server = HTTPServer(backlog, limits: limits, on: time, wallClock: { 784_111_777 })
  }

  func serve(_ answer: @escaping (ServerRequest) throws -> ServerResponse) -> Bench {
    serving = server.serve(answer)
    return self
  }

  func serve<P: Publisher>(_ answer: @escaping (ServerRequest) -> P) -> Bench
  where P.Output == ServerResponse {
    serving = server.serve(answer)
    return self
  }

  func serve(_ routes: HTTPRoutes) -> Bench {
    serving = server.serve(routes)
    return self
  }

  /// Connects a client that sends `text`.
  @discardableResult func send(_ text: String = "", cuttingAt cut: Int? = nil) -> MemoryChannel {
    let client = connect()
    if let cut {
      client.send(String(text.prefix(cut)))
      client.send(String(text.dropFirst(cut)))
    } else if !text.isEmpty {
      client.send(text)
    }
    settle()
    return client
  }

  func connect(from host: String = "192.0.2.1") -> MemoryChannel {
    let client = MemoryChannel(on: time, peer: .internet(host, port: 4711))
    backlog.add(Connection(client, to: client.peer))
    return client
  }

  /// Runs the work that is due now.
  func settle() { time.advance(by: .nanoseconds(0)) }
  func pass(_ stride: StreamInstant.Stride) { time.advance(by: stride) }

  func end() {
    serving?.cancel()
    server.close()
    settle()
  }
}

/// Connections that wait until they are requested.
final class Backlog: Publisher {
  typealias Output = Connection
  typealias Failure = Never

  private(set) var waiting: [Connection] = []
  private var demand = Subscribers.Demand.none
  private var down: AnySubscriber<Connection, Never>?

  func receive<S: Subscriber>(subscriber: S) where S.Input == Connection, S.Failure == Never {
    down = AnySubscriber(subscriber)
    subscriber.receive(subscription: Asking(self))
  }

  func add(_ connection: Connection) {
    waiting.append(connection)
    serve()
  }

  private func serve() {
    while demand > .none, !waiting.isEmpty, let down {
      demand -= 1
      demand += down.receive(waiting.removeFirst())
    }
  }

  private final class Asking: Subscription {
    let backlog: Backlog
    init(_ backlog: Backlog) { self.backlog = backlog }
    func request(_ demand: Subscribers.Demand) {
      backlog.demand += demand
      backlog.serve()
    }
    func cancel() {
      backlog.down = nil
      backlog.demand = .none
    }
  }
}

/// The server's end of a connection in memory, with the client's controls.
final class MemoryChannel: ByteChannel {
  let peer: SocketAddress
  private let time: VirtualTimeScheduler
  private var deliver: ((ReadResult) -> Void)?
  private var arrived: [ReadResult] = []
  private var written: [UInt8] = []
  private var pending: (() -> Void)?
  /// False while the client reads nothing.
  var takes = true { didSet { if takes { pending?() } } }
  private var pendingEnd: ((SystemError?) -> Void)?
  /// False while the end of the bytes waits for the client.
  var takesEnd = true { didSet { if takesEnd { pendingEnd.take()?(nil) } } }
  private(set) var isClosed = false
  private(set) var hasEndedWriting = false
  /// True if the client can tell that the server closed the connection too early.
  private(set) var isBrokenOff = false
  /// The number of writes.
  private(set) var writes = 0

  init(on time: VirtualTimeScheduler, peer: SocketAddress) { (self.time, self.peer) = (time, peer) }

  // MARK: The client

  func send(_ text: String) { send(Chunk(text)) }
  func send(_ chunk: Chunk) { arrive(.chunk(chunk)) }
  /// Ends the client's sending side.
  func endInput() { arrive(.end) }
  func breakOff() { arrive(.failure(SystemError("read from", "a client", code: 104))) }

  private func arrive(_ result: ReadResult) {
    arrived.append(result)
    pump()
  }

  private func pump() {
    while !isHeld, let deliver, !arrived.isEmpty, !isClosed { deliver(arrived.removeFirst()) }
  }

  /// Returns the bytes that the client has received since the last call.
  func receive() -> String {
    defer { written = [] }
    return String(decoding: written, as: UTF8.self)
  }

  func receiveBytes() -> [UInt8] {
    defer { written = [] }
    return written
  }

  /// The number of bytes that were sent but that the server has not read.
  var unread: Int { arrived.count }
  /// True while arriving bytes wait in the system.
  var isHeld = false { didSet { pump() } }
  var hasInput: Bool { !arrived.isEmpty }
  var isReading: Bool { deliver != nil }

  // MARK: The server

  func startReading(_ deliver: @escaping (ReadResult) -> Void) {
    self.deliver = deliver
    time.schedule { [self] in pump() }
  }

  func stopReading() { deliver = nil }

  func write(_ chunks: [Chunk], _ done: @escaping (SystemError?) -> Void) {
    writes += 1
    cuttings += chunks.count { chunk in
      let rest = chunk.compacted()
      return chunk.withUnsafeBytes { chunk in rest.withUnsafeBytes { chunk.baseAddress != $0.baseAddress } }
    }
    pending = { [self] in
      pending = nil
      for chunk in chunks { written.append(contentsOf: chunk) }
      done(nil)
    }
    time.schedule { [self] in if takes, !isClosed { pending?() } }
  }

  /// The number of bytes that are accepted immediately.
  var room = 0
  /// The number of retained chunks that are a small part of their memory block.
  private(set) var cuttings = 0

  func writeNow(_ chunks: [Chunk]) -> Int {
    let taken = chunks.flatMap { $0 }.prefix(room)
    room -= taken.count
    written += taken
    return taken.count
  }

  func endWriting(_ done: @escaping (SystemError?) -> Void) {
    hasEndedWriting = true
    time.schedule { [self] in if takesEnd { done(nil) } else if !isClosed { pendingEnd = done } }
  }

  func breakOffAtClose() { isBrokenOff = true }

  func close() {
    isClosed = true
    deliver = nil
    pending = nil
    pendingEnd = nil
  }
}
