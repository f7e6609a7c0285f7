import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

/// Each test runs in its own process, because the map is process-wide.
@Suite("The live map's page", .settled) struct StreamMapPageTests {
  @Test func `the page shows stuck places first, escapes text, and allows only its own style`() async {
    await #expect(processExitsWith: .success) {
      var routes = HTTPRoutes()
      routes.group("/debug") { $0.streamMap("/streams", every: .seconds(5)) }
      let bench = Bench().serve(routes)
      let numbers = PassthroughSubject<Int, Never>(file: "<script>.swift", line: 1)
      let sink = numbers.filter { $0 > 10 }.sink(receiveValue: { _ in }, file: "A&B.swift", line: 5)
      numbers.send(1)
      let page = bench.send("GET /debug/streams HTTP/1.1\r\nHost: h\r\n\r\n").receive()
      #expect(page.contains("Content-Security-Policy: default-src 'none'; style-src 'self';"), "\(page)")
      #expect(page.contains("<meta http-equiv=\"refresh\" content=\"5\">"), "\(page)")
      #expect(page.contains("<link rel=\"stylesheet\" href=\"streams.css\">"), "\(page)")
      #expect(
        page.contains("<b>Filter (Sink, A&amp;B.swift:5)</b>: 1 value arrived, but was not passed on"), "\(page)")
      #expect(page.contains("&lt;script&gt;.swift:1") && !page.contains("<script"), "\(page)")
      let style = bench.send("GET /debug/streams.css HTTP/1.1\r\nHost: h\r\n\r\n").receive()
      #expect(style.contains("text/css") && style.contains("prefers-color-scheme"))
      sink.cancel()
      bench.end()
    }
  }

  @Test func `the page escapes a character that others precede or follow`() async {
    await #expect(processExitsWith: .success) {
      var routes = HTTPRoutes()
      routes.streamMap()
      let bench = Bench().serve(routes)
      let numbers = PassthroughSubject<Int, Never>(file: "\u{600}<script>\u{600}&\u{301}.swift", line: 1)
      let sink = numbers.sink { _ in }
      let page = bench.send("GET /streams HTTP/1.1\r\nHost: h\r\n\r\n").receive()
      let isWhole = page.utf8.firstRange(of: "&lt;script&gt;\u{600}&amp;\u{301}.swift".utf8) != nil
      #expect(isWhole && page.utf8.firstRange(of: "<script".utf8) == nil, "\(page)")
      sink.cancel()
      bench.end()
    }
  }

  @Test func `the live map is also served as JSON`() async {
    await #expect(processExitsWith: .success) {
      var routes = HTTPRoutes()
      routes.streamMap()
      let bench = Bench().serve(routes)
      let numbers = PassthroughSubject<Int, Never>()
      let sink = numbers.sink(receiveValue: { _ in }, file: "App.swift", line: 5)
      numbers.send(1)
      let answer = bench.send("GET /streams.json HTTP/1.1\r\nHost: h\r\n\r\n").receive()
      #expect(answer.contains("application/json"))
      #expect(answer.contains(#""name":"Sink","place":"App.swift:5","received":1"#), "\(answer)")
      #expect(answer.contains(#""demand":"unlimited""#), "\(answer)")
      sink.cancel()
      bench.end()
    }
  }
}
