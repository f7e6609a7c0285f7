import FeedStream
import Foundation
import Logging
import TestSupport
import Testing

@testable import feed

/// Messages as lines of JSON (`--log-format json`).
@Suite(.settled, .timeLimit(.minutes(5))) struct LogFormatTests {
  private struct Line: Decodable {
    var time: String
    var level: String
    var message: String
    var source: String?
    var metadata: [String: String]?
  }

  /// Decodes lines, each of which must be one object.
  private static func lines(_ text: String) throws -> [Line] {
    try text.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
  }

  @Test func `--log-format json writes each step as a JSON object with time, level and metadata`() async throws {
    try await withFolder { folder in
      let origin = try ImageOrigin()
      let url = try await origin.start(["a"])
      let cache = folder.appendingPathComponent("feeds.db").path
      let run = try await FeedBinary.run(["load", url, "--cache", cache, "--verbose", "--log-format", "json"])
      #expect(run.status == 0)
      let lines = try Self.lines(run.errors)
      let request = try #require(lines.first { $0.message == "request" }, "\(run.errors)")
      #expect(request.level == "debug" && request.source == "feed" && request.metadata?["url"] == url)
      // The time is in UTC, in the format of RFC 3339.
      for line in lines { #expect(try Date(line.time, strategy: .iso8601FractionalSeconds) <= .now, "\(line.time)") }
      await origin.stop()
      origin.thread.shutdown()
    }
  }

  @Test func `errors, hints and --quiet are the same in JSON as in text`() async throws {
    try await withFolder { folder in
      // No server listens on that port.
      let arguments = ["load", "http://127.0.0.1:1/", "--cache", folder.appendingPathComponent("feeds.db").path]
      let text = try await FeedBinary.run(arguments)
      let run = try await FeedBinary.run(arguments + ["--log-format", "json"])
      #expect(run.status == text.status && run.status != 0)
      let lines = try Self.lines(run.errors)
      let error = try #require(lines.first { $0.level == "error" }, "\(run.errors)")
      #expect(text.errors.contains("feed: \(error.message)"), "\(text.errors)\(error)")
      #expect(lines.contains { $0.level == "notice" && $0.message.hasPrefix("hint: ") }, "\(run.errors)")
      let quiet = try await FeedBinary.run(arguments + ["--log-format", "json", "--quiet"])
      #expect(try Self.lines(quiet.errors).allSatisfy { $0.level == "error" }, "\(quiet.errors)")
    }
  }

  @Test func `serve logs each request with its id, and counts it for Prometheus`() async throws {
    try await withFolder { folder in
      let origin = try ImageOrigin()
      let url = try await origin.start(["a"])
      let cache = folder.appendingPathComponent("feeds.db").path
      let run = try RunningFeed(
        ["serve", "--port", "0", "--images-ahead", "0", "--cache", cache, "--verbose", "--log-format", "json", url])
      let number = try port(of: try #require(await run.output.line()))
      let page = try await get(number, "/health", "X-Request-ID: from-outside\r\n")
      #expect(page.contains("X-Request-ID: from-outside\r\n"))
      #expect(try await get(number, "/missing").hasPrefix("HTTP/1.1 404"))
      let metrics = try await get(number, "/metrics")
      for line in [
        "# TYPE http_server_request_duration_seconds histogram",
        "http_server_request_duration_seconds_bucket{http_request_method=\"GET\",http_route=\"/health\",http_response_status_code=\"200\",le=\"+Inf\"} 1",
        "http_server_request_duration_seconds_count{http_request_method=\"GET\",http_response_status_code=\"404\"} 1",
        "# TYPE http_client_request_duration_seconds histogram",
        "# TYPE feedstream_http_server_connections gauge",
        "# TYPE feedstream_eventloop_turn_duration_seconds histogram",
        "# TYPE feedstream_eventloop_offloads gauge",
        "# TYPE feedstream_polls_total counter", "feedstream_polls_total{feedstream_poll_outcome=\"failed\"} 0",
      ] { #expect(metrics.contains("\(line)\n"), "\(line) is missing in \(metrics)") }
      // The number depends on the polls that are running.
      #expect(metrics.contains("\nfeedstream_eventloop_offloads{feedstream_eventloop_name=\"gallery\"} "), "\(metrics)")
      var served: Line?
      while served == nil, let text = await run.errors.line() {
        let line = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
        if line.message == "served" { served = line }
      }
      let metadata = try #require(served?.metadata)
      #expect(metadata["request.id"] == "from-outside" && metadata["url.path"] == "/health")
      #expect(metadata["http.request.method"] == "GET" && metadata["http.response.status_code"] == "200")
      run.send(SIGTERM)
      #expect(await run.status() == 143)
      await origin.stop()
      origin.thread.shutdown()
    }
  }

  @Test func `metadata keeps its structure in JSON, and control characters are escaped`() throws {
    let line = LogLine(
      .warning, "a \"quoted\" \u{1B}[2J\nline", source: "feed",
      metadata: ["list": ["a", "b"], "nested": ["key": "value"], "number": .stringConvertible(5)],
      at: Date(timeIntervalSince1970: 0.25))
    #expect(
      line.text
        == #"{"level":"warning","message":"a \"quoted\" \u001b[2J\nline","metadata":{"list":["a","b"],"nested":{"key":"value"},"#
        + #""number":"5"},"source":"feed","time":"1970-01-01T00:00:00.250Z"}"# + "\n")
  }

  @Test func `the map that a signal causes is one line, among lines of JSON only`() async throws {
    try await withFolder { folder in
      let origin = try ImageOrigin()
      let url = try await origin.start(["a"])
      let cache = folder.appendingPathComponent("feeds.db").path
      let run = try RunningFeed(
        ["serve", "--port", "0", "--images-ahead", "0", "--cache", cache, "--verbose", "--log-format", "json", url],
        environment: ["FEEDSTREAM_MAP": "on"])
      _ = try #require(await run.output.line())
      run.send(SIGUSR1)
      struct MapLine: Decodable {
        struct Map: Decodable { var nodes: [Node] }
        struct Node: Decodable { var name: String, loop: String }
        var message: String
        var map: Map?
      }
      var map: MapLine.Map?
      while map == nil, let text = await run.errors.line() {
        let line = try JSONDecoder().decode(MapLine.self, from: Data(text.utf8))
        if line.message == "streams" { map = line.map }
      }
      #expect(map?.nodes.contains { $0.loop == "the main thread" } == true, "\(String(describing: map))")
      run.send(SIGTERM)
      #expect(await run.status() == 143)
      while let text = await run.errors.line() { _ = try JSONDecoder().decode(Line.self, from: Data(text.utf8)) }
      await origin.stop()
      origin.thread.shutdown()
    }
  }

  @Test func `warnings, unhandled failures and caught errors of streams are lines of JSON`() async throws {
    struct Broken: Error {}
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      StreamDiagnostics.writeWarnings()
      StandardError.shared.format = .json
      StreamReports.begin()
      PassthroughSubject<Int, Never>(file: "App.swift", line: 7).send(1)
      let loop = EventLoop()
      let sink = Fail<Int, Broken>(error: Broken()).checkpoint("here").sink(on: loop) { _, _ in }
      loop.run()
      sink.cancel()
      loop.close()
    }
    struct Report: Decodable {
      struct Details: Decodable {
        var kind: String?, place: String?, section: String?, stream: String?, checkpoints: [String]?
      }
      var level: String, message: String, source: String, metadata: Details
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    let reports = try text.split(separator: "\n").map { try JSONDecoder().decode(Report.self, from: Data($0.utf8)) }
    #expect(
      reports.map(\.level) == ["warning", "error"] && reports.allSatisfy { $0.source == "FeedStream" }, "\(text)")
    let warning = try #require(reports.first?.metadata)
    #expect(warning.kind == "sentToNobody" && warning.place == "App.swift:7", "\(text)")
    #expect(warning.section == "docs/Troubleshooting.md#senttonobody", "\(text)")
    #expect(
      reports.last?.message.contains("Broken") == true && reports.last?.metadata.checkpoints?.count == 1, "\(text)")
  }

  @Test func `an unknown --log-format is a usage error`() async throws {
    let run = try await FeedBinary.run(["load", "https://e.example/", "--log-format", "xml"])
    #expect(run.status == 64)
  }
}

extension ParseStrategy where Self == Date.ISO8601FormatStyle {
  fileprivate static var iso8601FractionalSeconds: Self { Date.ISO8601FormatStyle(includingFractionalSeconds: true) }
}
