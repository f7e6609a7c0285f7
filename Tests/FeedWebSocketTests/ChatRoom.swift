import FeedHTTPServer
import FeedStream
import FeedWebSocket

/// Sends each client's messages to all clients. A client that reads slowly misses the oldest messages, and delays no other.
final class ChatRoom {
  private let said = PassthroughSubject<WebSocketMessage, Never>()
  private(set) var memberCount = 0

  func join(_ socket: WebSocket) -> AnyCancellable {
    memberCount += 1
    let hearing =
      said
      .buffer(size: 100, prefetch: .byRequest, whenFull: .dropOldest)
      .write(to: socket)
      .sink { _ in
      } receiveValue: { _ in
      }
    let saying = socket.messages
      .filter(\.isText)
      .sink { _ in
      } receiveValue: { [said] in
        said.send($0)
      }
    return AnyCancellable { [self] in
      hearing.cancel()
      saying.cancel()
      memberCount -= 1
    }
  }
}
