import FeedRedis
import FeedStream

/// A server in virtual time that replies as a test decides, and records the commands that it receives.
final class ScriptedRedis {
  private let listener: Listener
  private let time: any LoopScheduler
  private var subscriptions: Set<AnyCancellable> = []
  private var connections: [Connection] = []
  /// The commands of each connection, as words separated by spaces.
  private(set) var heard: [[String]] = []
  /// Returns the reply to a command; `nil` for none. By default, accepts any login.
  var answer: ([String]) -> String?
  /// The time that each reply takes.
  var delay = StreamInstant.Stride.zero

  init(at place: SocketAddress, on time: any LoopScheduler, answer: @escaping ([String]) -> String? = { _ in nil })
    throws
  {
    self.answer = answer
    self.time = time
    listener = try Listener(at: place, on: time)
    listener.connections.sink { [unowned self] in accept($0) }.store(in: &subscriptions)
  }

  private func accept(_ connection: Connection) {
    let number = heard.count
    heard.append([])
    connections.append(connection)
    let replies = PassthroughSubject<Chunk, Never>()
    replies.buffer(size: 1000, prefetch: .keepFull, whenFull: .dropNewest)
      .write(to: connection).sink { _ in
      } receiveValue: { _ in
      }.store(in: &subscriptions)
    connection.bytes.framed(by: RESPDecoder()).sink { _ in
    } receiveValue: { [unowned self] command in
      let words = (command.elements ?? []).map { $0.text ?? "" }
      heard[number].append(words.joined(separator: " "))
      guard let reply = answer(words) ?? Self.logIn(words) else { return }
      if delay == .zero { return replies.send(Chunk(reply)) }
      time.schedule(after: time.now.advanced(by: delay)) { replies.send(Chunk(reply)) }
    }
    .store(in: &subscriptions)
  }

  private static func logIn(_ words: [String]) -> String? {
    switch words[0] {
    case "HELLO": "%1\r\n+server\r\n+scripted\r\n"
    case "PING": "+PONG\r\n"
    case "SELECT", "AUTH": "+OK\r\n"
    default: nil
    }
  }

  /// Closes every connection.
  func hangUp() {
    for connection in connections { connection.close() }
    connections = []
  }

  func close() {
    hangUp()
    subscriptions = []
    listener.close()
  }
}
