import FeedHTTP
import FeedHTTPServer
import FeedStream
import FeedStreamTracing
import Foundation
import Logging
import Synchronization
import Testing
import Tracing

@Suite struct TraceMetadataTests {
  private static let trace = "0af7651916cd43dd8448eb211c80319c"
  private static let span = "b7ad6b7169203331"

  /// A log handler that keeps what a logger's metadata provider adds to each line.
  private struct Recording: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info
    var metadataProvider: Logger.MetadataProvider?

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.add("\(event.message)", metadataProvider?.get() ?? [:]) }
  }

  private final class Lines: Sendable {
    private let lines = Mutex<[String: Logger.Metadata]>([:])
    func add(_ message: String, _ metadata: Logger.Metadata) { lines.withLock { $0[message] = metadata } }
    subscript(message: String) -> Logger.Metadata? { lines.withLock { $0[message] } }
  }

  @Test func `lines of a handler, and of a timer below inContext, name the trace of the served request`() throws {
    let lines = Lines()
    let log = Logger(label: "test") { _ in
      Recording(lines: lines, metadataProvider: .traceContext(instrument: TraceContextPropagator()))
    }
    let loop = EventLoop()
    defer { loop.close() }
    var routes = HTTPRoutes()
    routes.use(.tracing(instrument: TraceContextPropagator()))
    routes.on(.get, "/") { _ in
      log.info("begin")
      return Just(ServerResponse.text("")).delay(for: .milliseconds(5), scheduler: loop).inContext()
        .handleEvents(receiveOutput: { _ in log.info("end") })
    }
    let server = try HTTPServer(at: .internet("127.0.0.1", port: 0), on: loop)
    let serving = server.serve(routes)
    let url = URL(string: "http://127.0.0.1:\(try #require(server.address?.port))/")!
    let field = HTTPRequest.Header(name: "traceparent", value: "00-\(Self.trace)-\(Self.span)-01")
    let asking = CurlHTTPClient(on: loop).get(HTTPRequest(url, headers: [field])).sink { _ in
      loop.stop()
    } receiveValue: { _ in
    }
    loop.run(.untilStopped)
    log.info("outside")
    let expected: Logger.Metadata = ["trace_id": "\(Self.trace)", "span_id": "\(Self.span)"]
    #expect(lines["begin"] == expected && lines["end"] == expected && lines["outside"] == [:])
    asking.cancel()
    serving.cancel()
    server.close()
  }

  /// Stands in for a tracer that propagates its own spans in `traceparent`.
  private struct SpanPropagator: Instrument {
    func extract<Carrier, Extract: Extractor>(
      _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {}

    func inject<Carrier, Inject: Injector>(
      _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
      injector.inject("00-\(TraceMetadataTests.trace)-00f067aa0ba902b7-01", forKey: "traceparent", into: &carrier)
      injector.inject("vendor=1", forKey: "tracestate", into: &carrier)
    }
  }

  @Test func `with a tracer, the span is the one that the tracer sends to servers`() {
    let provider = Logger.MetadataProvider.traceContext(instrument: SpanPropagator())
    var context = ServiceContext.topLevel
    context.traceParent = TraceParent("00-\(Self.trace)-\(Self.span)-01")
    let metadata = ServiceContext.withValue(context) { provider.get() }
    #expect(metadata == ["trace_id": "\(Self.trace)", "span_id": "00f067aa0ba902b7"])
    #expect(provider.get() == [:])
  }

  @Test func `without an instrument, the metadata is that of the context`() {
    var context = ServiceContext.topLevel
    #expect(ServiceContext.withValue(context) { Logger.MetadataProvider.traceContext().get() } == [:])
    context.traceParent = TraceParent("00-\(Self.trace)-\(Self.span)-01")
    let metadata = ServiceContext.withValue(context) { Logger.MetadataProvider.traceContext().get() }
    #expect(metadata["trace_id"] == "\(Self.trace)" && metadata["span_id"] == "\(Self.span)")
  }
}
