import FeedHTTPServer
import FeedStream
import TestSupport
import Testing

/// The same server over real sockets.
@Suite(.settled, .timeLimit(.minutes(5))) struct LoopbackTests {
  private let loop = EventLoop()

  @Test func `a request and its response travel over loopback, and the server shuts down`() throws {
    let server = try HTTPServer(at: .internet("127.0.0.1", port: 0), on: loop)
    let serving = server.serve { request in
      request.body.whole().map { .text("\(request.method) \(request.path) \($0.text)") }
    }
    var text = ""
    let request = Chunk("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi")
    let client = Connection.connect(to: try #require(server.address), on: loop)
      .eraseFailureType()
      .flatMap { connection in
        let sent = Just(request).write(to: connection).eraseFailureType().map { (_: Never) -> Chunk in }
        return connection.bytes.eraseFailureType().merge(with: sent)
      }
      .sink { _ in
      } receiveValue: { [loop] in
        text += $0.text
        if text.hasSuffix("hi") {
          let ending = server.shutdown().sink { _ in }
          loop.schedule { _ = ending }
        }
      }
    loop.run()
    #expect(text.hasSuffix("POST /a hi"))
    #expect(server.connectionCount == 0)
    for subscription in [serving, client] { subscription.cancel() }
  }

  @Test func `an incomplete body that only the connection's end delimits resets the connection`() throws {
    struct Broken: Error {}
    let server = try HTTPServer(at: .internet("127.0.0.1", port: 0), on: loop)
    server.onError = { _ in }
    let rest = PassthroughSubject<Chunk, Broken>()
    let serving = server.serve { _ in
      .init(body: Just(Chunk("half")).setFailureType(to: Broken.self).append(rest))
    }
    var error: SystemError?
    let client = Connection.connect(to: try #require(server.address), on: loop)
      .flatMap { connection in
        let sent = Just(Chunk("GET / HTTP/1.0\r\n\r\n")).write(to: connection)
          .catch { _ in Empty<Never, Never>() }.setFailureType(to: SystemError.self).map { (_: Never) -> Chunk in }
        return connection.bytes.merge(with: sent)
      }
      .sink {
        if case .failure(let reason) = $0 { error = reason }
        server.close()
      } receiveValue: {
        if $0.text.hasSuffix("half") { rest.send(completion: .failure(Broken())) }
      }
    loop.run()
    #expect(error?.name == "ECONNRESET")
    for subscription in [serving, client] { subscription.cancel() }
  }

  @Test func `a server that can't listen throws an error with the reason`() throws {
    let server = try HTTPServer(at: .internet("127.0.0.1", port: 0), on: loop)
    let address = try #require(server.address)
    #expect(throws: SystemError.self) { try HTTPServer(at: address, on: loop) }
    server.close()
    loop.run()
  }

  @Test func `a long body is echoed over loopback with little memory`() throws {
    let server = try HTTPServer(at: .internet("127.0.0.1", port: 0), limits: Self.large, on: loop)
    let serving = server.serve { request in .init(body: request.body) }
    let block = Chunk(repeatElement(7, count: 64 * 1024))
    let head = Chunk("POST /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: \(block.count * 512)\r\n\r\n")
    var count = 0
    let client = Connection.connect(to: try #require(server.address), on: loop)
      .eraseFailureType()
      .flatMap { connection in
        let sent = Just(head).append(repeatElement(block, count: 512).publisher)
          .write(to: connection).eraseFailureType().map { (_: Never) -> Chunk in }
        return connection.bytes.eraseFailureType().merge(with: sent)
      }
      .sink { _ in
        server.close()
      } receiveValue: {
        count += $0.count
      }
    loop.run()
    #expect(count > block.count * 512 && count < block.count * 513)
    for subscription in [serving, client] { subscription.cancel() }
  }

  private static var large: HTTPServerLimits {
    var limits = HTTPServerLimits()
    limits.bodyBytes = 1 << 30
    return limits
  }
}
