import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct RequestBodyTests {
  private static func post(_ fields: String, _ body: String = "") -> String {
    "POST / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n\(body)"
  }

  private static func status(_ answer: String) -> String { String(answer.dropFirst(9).prefix(3)) }
  private static let chunked = "Transfer-Encoding: chunked\r\n"
  private static let next = "GET /next HTTP/1.1\r\nHost: h\r\n\r\n"

  private static func echo(_ change: @escaping (inout HTTPServerLimits) -> Void = { _ in }) -> Bench {
    Bench(change).serve { request in request.body.whole().map { .text("[\($0.text)]") } }
  }

  @Test func `a body is delimited by its length, or by chunks with trailers`() {
    let bench = Bench()
    var trailers: [String] = []
    _ = bench.serve { request in
      request.body.whole().map { body in
        trailers.append(request.trailers.description)
        return .text("[\(body.text)]")
      }
    }
    let client = bench.send(Self.post("Content-Length: 3\r\n", "abc"))
    #expect(client.receive().hasSuffix("[abc]"))
    client.send(Self.post("Transfer-Encoding: chunked\r\n", "1\r\na\r\n2;x\r\nbc\r\n0\r\nX-Sum: 6\r\n\r\n") + Self.next)
    bench.settle()
    #expect(client.receive().contains("[abc]HTTP/1.1 200 OK"))
    #expect(trailers == ["", "X-Sum: 6", ""])
    bench.end()
  }

  @Test func `a body isn't read without demand`() {
    var subscription: (any Subscription)?
    var pieces: [String] = []
    var completion: Subscribers.Completion<RequestBodyError>?
    let bench = Bench { $0.readAheadBytes = 1 }
    let serving = bench.server.requests.sink { request in
      request.body.subscribe(
        AnySubscriber(
          receiveSubscription: { subscription = $0 },
          receiveValue: {
            pieces.append($0.text)
            return .none
          },
          receiveCompletion: {
            completion = $0
            request.respond(.text("done"))
          }))
    }
    let client = bench.send(Self.post("Content-Length: 9\r\n"))
    for part in ["abc", "def", "ghi"] { client.send(part) }
    bench.settle()
    #expect(client.unread == 2)
    #expect(pieces == [])
    subscription?.request(.max(1))
    bench.settle()
    #expect(pieces == ["abc"])
    #expect(client.unread == 1)
    subscription?.request(.max(2))
    bench.settle()
    #expect(pieces == ["abc", "def", "ghi"])
    #expect(completion == .finished)
    #expect(client.receive().hasSuffix("done"))
    serving.cancel()
    bench.end()
  }

  @Test func `a client that sends Expect: 100-continue gets 100 with the first demand`() {
    let bench = Self.echo()
    let client = bench.send(Self.post("Content-Length: 3\r\nExpect: 100-continue\r\n"))
    #expect(client.receive() == "HTTP/1.1 100 Continue\r\n\r\n")
    client.send("abc" + Self.next)
    bench.settle()
    #expect(client.receive().contains("[abc]HTTP/1.1 200 OK"))
    bench.end()
  }

  @Test func `a client that expects 100 Continue and gets another status is disconnected`() {
    let bench = Bench().serve { _ in .init(.forbidden) }
    let client = bench.send(Self.post("Content-Length: 3\r\nExpect: 100-continue\r\n"))
    let answer = client.receive()
    #expect(answer.hasPrefix("HTTP/1.1 403 Forbidden\r\n") && answer.contains("Connection: close\r\n"))
    #expect(client.hasEndedWriting)
    bench.end()
  }

  @Test func `a client that already sends its body gets no 100 Continue`() {
    let bench = Self.echo()
    let client = bench.send(Self.post("Content-Length: 3\r\nExpect: 100-continue\r\n", "abc"))
    #expect(client.receive().hasPrefix("HTTP/1.1 200"))
    bench.end()
  }

  @Test func `a body over the limit is refused with 413, with or without Content-Length`() {
    let bench = Self.echo { $0.bodyBytes = 10 }
    #expect(Self.status(bench.send(Self.post("Content-Length: 11\r\n")).receive()) == "413")
    #expect(Self.status(bench.send(Self.post("Content-Length: 10\r\n", "0123456789")).receive()) == "200")
    let chunked = bench.send(Self.post("Transfer-Encoding: chunked\r\n", "8\r\n01234567\r\n3\r\nabc\r\n0\r\n\r\n"))
    #expect(Self.status(chunked.receive()) == "413")
    #expect(chunked.hasEndedWriting)
    for announced in ["b\r\n", "5\r\n01234\r\n6\r\n", "fffffffffffffff\r\n"] {
      let client = bench.send(Self.post("Transfer-Encoding: chunked\r\n", announced))
      #expect(Self.status(client.receive()) == "413", "\(announced)")
    }
    bench.end()
  }

  @Test func `a body that turns out malformed after the response doesn't damage the response`() {
    let bench = Bench().serve { .text($0.path) }
    let client = bench.send(Self.post("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n"))
    #expect(Self.status(client.receive()) == "200")
    client.send("xyz")
    bench.settle()
    #expect(client.receive() == "" && client.hasEndedWriting && !client.isClosed)
    bench.end()
  }

  @Test func `a malformed body fails for its reader, and the client gets 400`() {
    var failure: RequestBodyError?
    let bench = Bench().serve { request in
      request.body.whole().map { .text($0.text) }.handleEvents(receiveCompletion: {
        if case .failure(let error) = $0 { failure = error }
      })
    }
    let client = bench.send(Self.post("Transfer-Encoding: chunked\r\n", "2\r\nabc\r\n"))
    #expect(Self.status(client.receive()) == "400")
    #expect(failure == .malformed)
    bench.end()
  }

  @Test func `a body fails for its reader when the client disconnects`() {
    var failure: RequestBodyError?
    for leave in [MemoryChannel.endInput, MemoryChannel.breakOff] {
      failure = nil
      let bench = Bench().serve { request in
        request.body.whole().map { .text($0.text) }.handleEvents(receiveCompletion: {
          if case .failure(let error) = $0 { failure = error }
        })
      }
      let client = bench.send(Self.post("Content-Length: 5\r\n", "abc"))
      leave(client)()
      bench.settle()
      #expect(client.isClosed)
      #expect(failure == .disconnected)
      bench.end()
    }
  }

  @Test func `a short unread body is discarded, and a long one closes the connection`() {
    let bench = Bench { $0.drainedBytes = 10 }.serve { .text($0.path) }
    let short = bench.send(Self.post("Content-Length: 10\r\n", "0123456789") + Self.next)
    #expect(short.receive().hasSuffix("/next"))
    let chunked = bench.send(Self.post("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n") + Self.next)
    #expect(chunked.receive().hasSuffix("/next"))
    let long = bench.send(Self.post("Content-Length: 11\r\n", "01234567890") + Self.next)
    #expect(long.receive().contains("Connection: close\r\n"))
    #expect(long.hasEndedWriting)
    let endless = bench.send(
      Self.post("Transfer-Encoding: chunked\r\n", "10\r\n0123456789abcdef\r\n0\r\n\r\n") + Self.next)
    #expect(!endless.receive().contains("/next"))
    #expect(endless.hasEndedWriting)
    bench.end()
  }

  @Test func `a response arrives even if the rest of an unread body doesn't`() {
    let bench = Bench().serve { _ in .text(String(repeating: "x", count: 1_000_000)) }
    let slow = bench.connect()
    slow.takes = false
    slow.send(Self.post("Content-Length: 5\r\n"))
    var answer = ""
    for _ in 0..<10 {
      bench.pass(.seconds(4))
      // The client accepts one write.
      slow.takes = true
      slow.takes = false
      answer += slow.receive()
    }
    #expect(answer.hasSuffix("xxx") && answer.utf8.count > 1_000_000)
    bench.end()
    let other = Bench().serve { _ in .text("early") }
    let half = other.connect()
    half.send(Self.post("Content-Length: 5\r\n", "ab"))
    half.endInput()
    other.settle()
    #expect(half.receive().hasSuffix("early"))
    other.end()
  }

  @Test func `a body that is too slow fails for its reader, and is logged with the client's status`() {
    var (errors, logged): ([RequestBodyError], [Int]) = ([], [])
    var routes = HTTPRoutes()
    routes.use(.log { logged.append($0.status.code) })
    routes.post("/") { request in
      request.body.whole().map { .text($0.text) }.handleEvents(receiveCompletion: {
        if case .failure(let error) = $0 { errors.append(error) }
      })
    }
    let bench = Bench().serve(routes)
    bench.server.onError = { Issue.record("\($0)") }
    let client = bench.send(Self.post("Content-Length: 9\r\n"))
    bench.pass(.seconds(12))
    #expect(Self.status(client.receive()) == "408")
    #expect(errors == [.tooSlow] && logged == [408])
    bench.end()
  }

  @Test(
    arguments: [
      ("Content-Length: 9\r\n", "", RequestBodyError.tooSlow),
      (RequestBodyTests.chunked, "x\r\n", RequestBodyError.malformed),
    ])
  func `a body that is refused during the response fails with the reason`(
    _ fields: String, _ rest: String, _ reason: RequestBodyError
  ) {
    var errors: [RequestBodyError] = []
    let bench = Bench().serve { request in
      .init(
        body: request.body.handleEvents(receiveCompletion: {
          if case .failure(let error) = $0 { errors.append(error) }
        }))
    }
    let client = bench.send(Self.post(fields))
    #expect(Self.status(client.receive()) == "200")
    client.send(rest)
    bench.pass(.seconds(20))
    #expect(client.isClosed && errors == [reason])
    bench.end()
  }

  @Test func `a body that turns out malformed right after the response doesn't damage the response`() {
    var failures: [RequestBodyError] = []
    var reading: AnyCancellable?
    let bench = Bench()
    let serving = bench.server.requests.sink { request in
      reading = request.body.sink {
        if case .failure(let error) = $0 { failures.append(error) }
      } receiveValue: { _ in
        request.respond(.init(.forbidden))
      }
    }
    let client = bench.send(Self.post(Self.chunked, "3\r\nabc\r\nx\r\n"))
    #expect(Self.status(client.receive()) == "403")
    #expect(client.hasEndedWriting && !client.isClosed && failures == [.responded])
    reading?.cancel()
    serving.cancel()
    bench.end()
  }

  @Test func `a body can be read once, and only before the response`() {
    var failures: [RequestBodyError] = []
    var kept: ServerRequest?
    let bench = Bench()
    let serving = bench.server.requests.sink { request in
      kept = request
      for _ in 0..<2 {
        request.body.subscribe(
          AnySubscriber(
            receiveSubscription: { $0.request(.unlimited) }, receiveValue: { _ in .none },
            receiveCompletion: { if case .failure(let error) = $0 { failures.append(error) } }))
      }
      request.respond(.text(""))
    }
    bench.send(Self.post("Content-Length: 1\r\n"))
    #expect(failures.first == .taken)
    bench.send(Self.post("Content-Length: 1\r\n", "a"))
    kept?.body.subscribe(
      AnySubscriber(
        receiveSubscription: { $0.request(.unlimited) }, receiveValue: { _ in .none },
        receiveCompletion: { if case .failure(let error) = $0 { failures.append(error) } }))
    #expect(failures.last == .responded)
    kept = nil
    serving.cancel()
    bench.end()
  }

  @Test(arguments: [false, true]) func `a handler may respond first and stop the server at the end of the body`(
    isReleased: Bool
  ) {
    let time = VirtualTimeScheduler()
    let backlog = Backlog()
    var server: HTTPServer? = HTTPServer(backlog, on: time)
    var serving: AnyCancellable?
    var reading: AnyCancellable?
    serving = server!.serve { request in
      reading = request.body.whole().sink { _ in
        if isReleased { (serving, server) = (nil, nil) } else { server?.close() }
      } receiveValue: { _ in
      }
      return .text("bye")
    }
    let client = MemoryChannel(on: time, peer: .internet("192.0.2.1", port: 1))
    client.send(Self.post("Content-Length: 3\r\n", "abc"))
    backlog.add(Connection(client, to: client.peer))
    time.advance(by: .seconds(100))
    #expect(client.isClosed && !client.isReading)
    #expect(server?.connectionCount ?? 0 == 0)
    withExtendedLifetime((serving, reading)) {}
  }

  @Test func `a request body can be streamed back as it arrives`() {
    let bench = Bench().serve { request in .init(body: request.body.map { Chunk($0.text.uppercased()) }) }
    let client = bench.send(Self.post("Content-Length: 6\r\n", "abc"))
    #expect(client.receive().hasSuffix("3\r\nABC\r\n"))
    client.send("def" + Self.next)
    bench.settle()
    #expect(client.receive().hasPrefix("3\r\nDEF\r\n0\r\n\r\nHTTP/1.1 200"))
    bench.end()
  }
}
