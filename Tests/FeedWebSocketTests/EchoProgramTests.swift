import FeedStream
import FeedWebSocket
import Foundation
import TestSupport
import Testing

/// `Examples/WebSocketEcho`, as a process.
@Suite(.settled, .timeLimit(.minutes(5))) struct EchoProgramTests {
  private static let program = FeedBinary.path(of: "WebSocketEcho")

  /// Sends the messages to `url`, and returns the echoed messages.
  private func echo(_ messages: [WebSocketMessage], at url: String) -> [WebSocketMessage] {
    let loop = EventLoop()
    var echoes: [WebSocketMessage] = []
    let work = WebSocketClient(on: loop).webSocket(url).eraseFailureType()
      .flatMap { socket in
        socket.messages.eraseFailureType().prefix(messages.count)
          .merge(with: messages.publisher.write(to: socket).setOutputType(to: WebSocketMessage.self))
      }
      .sink { completion in
        if case .failure(let error) = completion { Issue.record("\(error)") }
      } receiveValue: {
        echoes.append($0)
      }
    loop.run()
    work.cancel()
    return echoes
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `serve prints its URL, echoes with compression, and ends on SIGINT and SIGTERM`(_ signal: Int32) async throws {
    let server = try RunningFeed(program: Self.program, ["serve", "--port", "0"])
    let url = try #require(await server.output.line()).trimmingCharacters(in: .newlines)
    #expect(url.hasPrefix("ws://127.0.0.1:"))
    let messages: [WebSocketMessage] = [
      "hello", .binary(Chunk([0, 1, 2])), .text(String(repeating: "κόσμε ", count: 20_000)), "",
    ]
    #expect(echo(messages, at: url) == messages)
    server.send(signal)
    #expect(await server.status() == 0)
  }

  @Test func `connect prints the reason when it can't open a socket`() async throws {
    let wrong = try await RunningFeed(program: Self.program, ["connect", "http://h/"]).ending()
    #expect(wrong.status == 1 && wrong.errors.contains("ws://"))
    let unreachable = try await RunningFeed(program: Self.program, ["connect", "ws://127.0.0.1:1/"]).ending()
    #expect(unreachable.status == 1 && unreachable.errors.contains("unreachable"))
    let usage = try await RunningFeed(program: Self.program, ["connect"]).ending()
    #expect(usage.status == 64)
  }
}
