import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct SeveralAddressesTests {
  @Test func `a server listens on several addresses, and at none once closed`() throws {
    let time = VirtualTimeScheduler()
    let places: [SocketAddress] = [.internet("10.0.0.1", port: 80), .internet("10.0.0.1", port: 8080)]
    let server = try HTTPServer(at: places, on: time)
    let serving = server.serve { .text("at \($0.path)") }
    #expect(server.addresses == places)
    for place in places {
      var answer = ""
      let asking = Connection.connect(to: place, on: time).flatMap { connection in
        let request = Just(Chunk("GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"))
        return request.setFailureType(to: SystemError.self).write(to: connection).mapError { _ in
          SystemError("write to", "the server", code: 5)
        }
        .setOutputType(to: Chunk.self).append(connection.bytes)
      }
      .sink { _ in
      } receiveValue: {
        answer += $0.text
      }
      time.advance(by: .seconds(5))
      #expect(answer.hasPrefix("HTTP/1.1 200") && answer.hasSuffix("at /x"), "\(answer)")
      withExtendedLifetime(asking) {}
    }
    serving.cancel()
    server.close()
    time.advance(by: .seconds(1))
    #expect(try HTTPServer(at: places, on: time).addresses == places)
  }

  @Test func `if one of its addresses is in use, a server frees the others`() throws {
    let time = VirtualTimeScheduler()
    let (free, taken) = (SocketAddress.internet("10.0.0.1", port: 80), SocketAddress.internet("10.0.0.1", port: 81))
    let first = try HTTPServer(at: taken, on: time)
    #expect(throws: SystemError.self) { try HTTPServer(at: [free, taken], on: time) }
    #expect(try HTTPServer(at: free, on: time).address == free)
    first.close()
  }
}
