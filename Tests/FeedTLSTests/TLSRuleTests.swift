import FeedStream
import FeedStreamTesting
import FeedTLS
import TestSupport
import Testing

/// The rules of streams, for secure connections.
@Suite(.settled, .timeLimit(.minutes(5))) struct TLSRuleTests {
  private let client: TLSClient
  private let server: TLSServer

  init() throws {
    let papers = try Papers.all.get()
    client = try papers.client()
    server = try papers.server()
  }

  private static func line(_ value: Int) -> Chunk { Chunk("\(value)\n") }

  /// A secure connection to a peer that reads everything, and sends 0 to 3 as separate lines.
  private func connected(_ time: VirtualTimeScheduler) -> AnyPublisher<Connection, any Error> {
    let listener = try! Listener(at: Pair.place, on: time)
    let serving = listener.connections.secured(by: server, on: time)
      .flatMap { connection in
        (0..<4).map(Self.line).publisher.write(to: connection, atEnd: .endsWriting).map { (_: Never) -> Chunk in }
          .eraseFailureType()
          .merge(with: connection.bytes.eraseFailureType())
          .catch { _ in Empty<Chunk, Never>() }
      }
      .sink { _ in }
    return Connection.connect(to: Pair.place, on: time).mapError { TLSError.system($0) }
      .flatMap { [client] in $0.secured(by: client, host: "localhost", on: time) }
      .eraseFailureType()
      .handleEvents(receiveRequest: { _ in withExtendedLifetime((listener, serving)) {} })
      .eraseToAnyPublisher()
  }

  @Test func `the bytes publisher of a secure connection keeps the rules`() {
    let due: (Given) -> Due<String> = { _ in .values(["0", "1", "2", "3"], then: .finished) }
    StreamRules.verify("bytes", traits: .isShort, survives: [], expects: due) { _, time in
      connected(time).flatMap { $0.bytes.eraseFailureType() }.lines()
    }
  }

  @Test func `writing to a secure connection keeps the rules`() {
    let due: (Given) -> Due<Never> = { _ in .nothing() }
    StreamRules.verify("write(to:)", traits: .isShort, survives: [], expects: due) { upstream, time in
      connected(time).flatMap { upstream.map(Self.line).write(to: $0, limit: 1).eraseFailureType() }
    }
  }

  @Test func `secured(by:) keeps the rules`() {
    let due: (Given) -> Due<String> = { _ in .values(["TLSv1.3"], then: .finished) }
    StreamRules.verify("secured(by:)", traits: .isShort, survives: [], expects: due) { _, time in
      connected(time).map { $0.tls?.version ?? "none" }
    }
  }
}
