import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import Synchronization
import TestSupport
import Testing

/// Errors of handlers are reported. The hook is process-wide; no other suite here sets it.
@Suite(.serialized, .settled) struct FailedRequestTests {
  private struct Boom: Error {}
  private static func get(_ path: String, _ fields: String = "") -> String {
    "GET \(path) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n"
  }

  /// The reports of a server about a request, and the status that the client gets.
  private func report(_ path: String = "/a?token=secret", fields: String = "", _ serve: (Bench) -> Bench) -> (
    reports: [String], status: String
  ) {
    var reports: [String] = []
    let bench = serve(Bench())
    bench.server.onError = { reports.append("\($0)") }
    let answer = bench.send(Self.get(path, fields)).receive()
    bench.end()
    return (reports, String(answer.dropFirst(9).prefix(3)))
  }

  private static let place = "GET /a from 192.0.2.1:4711: "

  @Test func `onError reports an error thrown by a handler, with the request but without its query`() {
    let handler = report { $0.serve { _ -> ServerResponse in throw Boom() } }
    #expect(handler.reports == [Self.place + "Boom()"] && handler.status == "500")
    var routes = HTTPRoutes()
    routes.get("/a") { _ -> ServerResponse in throw Boom() }
    let route = report { $0.serve(routes) }
    #expect(route.reports == [Self.place + "Boom()"] && route.status == "500")
  }

  @Test func `onError reports a response stream that fails or delivers no response`() {
    let failing = report { $0.serve { _ in Fail<ServerResponse, Boom>(error: Boom()) } }
    #expect(failing.reports == [Self.place + "Boom()"] && failing.status == "500")
    let empty = report { $0.serve { _ in Empty<ServerResponse, Never>() } }
    #expect(empty.reports == [Self.place + "the handler delivered no response"] && empty.status == "500")
    let bench = Bench()
    var reports: [String] = []
    bench.server.onError = { reports.append("\($0)") }
    // The request is released immediately.
    let serving = bench.server.requests.sink { _ in }
    #expect(bench.send(Self.get("/a")).receive().hasPrefix("HTTP/1.1 500"))
    #expect(reports == [Self.place + "the handler delivered no response"])
    serving.cancel()
    bench.end()
  }

  @Test func `onError reports neither a thrown status nor a client that disconnects`() {
    let thrown = report { $0.serve { _ -> ServerResponse in throw HTTPStatus.internalServerError } }
    #expect(thrown.reports.isEmpty && thrown.status == "500")
    let failed = report { $0.serve { _ in Fail<ServerResponse, HTTPStatus>(error: .badGateway) } }
    #expect(failed.reports.isEmpty && failed.status == "502")
    var reports = 0
    let bench = Bench().serve { _ in Empty<ServerResponse, Never>(completeImmediately: false) }
    bench.server.onError = { _ in reports += 1 }
    bench.send(Self.get("/a")).breakOff()
    bench.settle()
    bench.end()
    #expect(reports == 0)
  }

  @Test func `onError reports a body that fails or has the wrong length`() {
    let failing = report {
      $0.serve { _ in .init(body: Just(Chunk("a")).setFailureType(to: Boom.self).append(Fail(error: Boom()))) }
    }
    #expect(failing.reports == [Self.place + "Boom()"] && failing.status == "200")
    let short = report { $0.serve { _ in .init(body: Just(Chunk("abc")), length: 5) } }
    #expect(short.reports == [Self.place + "the body ended 2 bytes before its announced length"])
    let long = report { $0.serve { _ in .init(body: Just(Chunk("abc")), length: 2) } }
    #expect(long.reports == [Self.place + "the body is longer than announced"])
    let right = report { $0.serve { _ in .init(body: Just(Chunk("abc")), length: 3) } }
    #expect(right.reports.isEmpty)
  }

  @Test(
    arguments: [
      (599, "the body ended 1 byte before its announced length"), (600, nil),
      (601, "the body is longer than announced"),
    ] as [(Int, String?)])
  func `onError reports a compressed body that has the wrong length`(count: Int, error: String?) {
    let compressed = report(fields: "Accept-Encoding: gzip\r\n") {
      $0.serve { _ in
        .init(headers: ["Content-Type": "text/csv"], body: Just(Chunk(repeatElement(97, count: count))), length: 600)
      }
    }
    #expect(compressed.reports == [error].compactMap { $0 }.map { Self.place + $0 })
  }

  @Test func `onError reports a header value with line breaks`() {
    let odd = report { $0.serve { _ in .init(headers: ["X": "a\r\nb"], body: "") } }
    #expect(
      odd.reports == [Self.place + "the name or the value of a header field has characters that HTTP does not allow"]
        && odd.status == "500")
  }

  @Test func `without onError, errors go to StreamDiagnostics`() {
    let heard = Mutex<[String]>([])
    StreamDiagnostics.onCaughtError { error in heard.withLock { $0.append("\(error)") } }
    defer { StreamDiagnostics.onCaughtError(nil) }
    let bench = Bench().serve { _ -> ServerResponse in throw Boom() }
    bench.send(Self.get("/unheard"))
    bench.end()
    #expect(heard.withLock { $0.contains("HTTPServer: GET /unheard from 192.0.2.1:4711: Boom()") })
  }

  @Test func `serving without keeping the cancellable warns at the line that serves`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      FailedRequestTests.serveBriefly()
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let places = text.split(separator: "\n").filter { $0.contains("released as soon as it was made") }
    #expect(places.count == 3 && places.allSatisfy { $0.contains("FailedRequestTests.swift") }, "\(text)")
  }

  // A separate function, because all code within the macro has the same line number.
  private static func serveBriefly() {
    StreamDiagnostics.writeWarnings()
    let benches = [Bench(), Bench(), Bench()]
    _ = benches[0].server.serve { _ in .text("a") }
    _ = benches[1].server.serve { _ in Just(ServerResponse.text("a")) }
    _ = benches[2].server.serve(HTTPRoutes())
    for bench in benches { bench.end() }
  }

  @Test func `a loop that returns although a server was made warns that nothing serves`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      StreamDiagnostics.writeWarnings()
      let loop = EventLoop()
      let unused = HTTPServer(Empty<Connection, Never>(), on: loop)
      let served = try HTTPServer(at: .internet("127.0.0.1", port: 0), on: loop)
      served.serve { _ in .text("a") }.cancel()
      loop.run()
      for server in [unused, served] { server.close() }
      loop.run()
      loop.close()
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let warnings = text.split(separator: "\n").filter { $0.contains("nothing serves this server's requests") }
    #expect(warnings.count == 1 && warnings[0].hasPrefix("HTTPServer: warning: the loop returned"), "\(text)")
  }

  @Test func `a debug build writes caught errors to standard error, without control characters`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      struct Hostile: Error, CustomStringConvertible { var description: String { "\u{1B}[2J" } }
      StreamDiagnostics.caught(Hostile(), "HTTPServer: GET / from 192.0.2.1:1")
      StreamDiagnostics.onCaughtError { _ in }
      StreamDiagnostics.caught(Hostile(), "silent")
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #if DEBUG
      #expect(text.contains("HTTPServer: GET / from 192.0.2.1:1: \\u{1B}[2J\n"), "\(text)")
    #endif
    #expect(!text.contains("silent") && !text.contains("\u{1B}[2J"))
  }
}
