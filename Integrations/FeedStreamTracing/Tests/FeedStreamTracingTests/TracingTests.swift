import FeedHTTP
import FeedHTTPServer
import FeedStream
import FeedStreamTracing
import Foundation
import InMemoryTracing
import Testing
import Tracing

@Suite struct TracingTests {
  private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

  /// Runs two servers and sends a request to the outer one, which requests a URL from the inner one.
  ///
  /// - Parameter inner: the response of the inner server to a request.
  /// - Returns: the response of the outer server.
  private static func relay(
    _ fields: [HTTPRequest.Header] = [], tracer: InMemoryTracer, _ instrument: any Instrument,
    inner respond: @escaping (ServerRequest) -> ServerResponse
  ) throws -> HTTPResponse {
    let loop = EventLoop()
    defer { loop.close() }
    let inner = try HTTPServer(at: .internet("127.0.0.1", port: 0), on: loop)
    let innerServing = inner.serve { respond($0) }
    let url = URL(string: "http://me:secret@127.0.0.1:\(try #require(inner.address?.port))/inner?token=secret")!
    let client = CurlHTTPClient(on: loop)
    let traced = client.traced(tracer: tracer, instrument: instrument)
    var routes = HTTPRoutes()
    routes.use(.tracing(tracer: tracer, instrument: instrument))
    routes.on(.get, "/outer") { request in
      traced.get(url).map { ServerResponse.text("inner: \($0.status)") }
    }
    let outer = try HTTPServer(at: .internet("127.0.0.1", port: 0), on: loop)
    let outerServing = outer.serve(routes)
    let first = URL(string: "http://127.0.0.1:\(try #require(outer.address?.port))/outer?token=secret")!
    var response: HTTPResponse?
    let asking = client.get(HTTPRequest(first, headers: fields)).sink { _ in
      loop.stop()
    } receiveValue: {
      response = $0
    }
    loop.run(.untilStopped)
    for subscription in [asking, outerServing, innerServing] { subscription.cancel() }
    outer.close()
    inner.close()
    return try #require(response)
  }

  @Test func `traceparent and tracestate are copied from the served request to the requests it sends`() throws {
    let tracer = InMemoryTracer()
    var received: [String?] = []
    let response = try Self.relay(
      [.init(name: "traceparent", value: Self.parent), .init(name: "tracestate", value: "vendor=1")], tracer: tracer,
      TraceContextPropagator()
    ) { request in
      received = [request.headers["traceparent"], request.headers["tracestate"]]
      return .text("")
    }
    #expect(response.status == 200 && String(decoding: response.body, as: UTF8.self) == "inner: 200")
    #expect(received == [Self.parent, "vendor=1"])
  }

  @Test func `several tracestate fields are passed on as one`() throws {
    var received: [String] = []
    _ = try Self.relay(
      [
        .init(name: "traceparent", value: Self.parent), .init(name: "tracestate", value: "a=1"),
        .init(name: "tracestate", value: "b=2"),
      ], tracer: InMemoryTracer(), TraceContextPropagator()
    ) { request in
      received = request.headers.values(of: "tracestate")
      return .text("")
    }
    #expect(received == ["a=1,b=2"])
  }

  @Test func `a repeated traceparent isn't passed on`() throws {
    var received: String? = "x"
    let field = HTTPRequest.Header(name: "traceparent", value: Self.parent)
    _ = try Self.relay([field, field], tracer: InMemoryTracer(), TraceContextPropagator()) { request in
      received = request.headers["traceparent"]
      return .text("")
    }
    #expect(received == nil)
  }

  @Test func `a method that isn't standard isn't in the name of a span`() throws {
    let tracer = InMemoryTracer()
    let loop = EventLoop()
    defer { loop.close() }
    var routes = HTTPRoutes()
    routes.use(.tracing(tracer: tracer, instrument: tracer))
    routes.get("/outer") { _ in .text("") }
    let server = try HTTPServer(at: .internet("127.0.0.1", port: 0), on: loop)
    let serving = server.serve(routes)
    var request = HTTPRequest(URL(string: "http://127.0.0.1:\(try #require(server.address?.port))/outer")!)
    request.method = HTTPMethod(rawValue: "XYZZY")
    let asking = CurlHTTPClient(on: loop).traced(tracer: tracer, instrument: tracer).get(request).sink { _ in
      loop.stop()
    } receiveValue: { _ in
    }
    loop.run(.untilStopped)
    for subscription in [asking, serving] { subscription.cancel() }
    server.close()
    let spans = tracer.finishedSpans
    #expect(spans.count == 2 && spans.allSatisfy { $0.operationName == "HTTP" }, "\(spans.map(\.operationName))")
    for span in spans {
      #expect(span.attributes.get("http.request.method") == .string("_OTHER"))
      #expect(span.attributes.get("http.request.method_original") == .string("XYZZY"))
    }
  }

  @Test func `a failure's type in a span is only its name, as in metrics`() throws {
    let tracer = InMemoryTracer()
    let loop = EventLoop()
    defer { loop.close() }
    let server = try HTTPServer(at: .internet("127.0.0.1", port: 0), on: loop)
    let serving = server.serve { _ in .text("more than one byte") }
    var request = HTTPRequest(URL(string: "http://127.0.0.1:\(try #require(server.address?.port))/")!)
    request.maxBodyBytes = 1
    let asking = CurlHTTPClient(on: loop).traced(tracer: tracer, instrument: tracer).get(request).sink { _ in
      loop.stop()
    } receiveValue: { _ in
    }
    loop.run(.untilStopped)
    for subscription in [asking, serving] { subscription.cancel() }
    server.close()
    #expect(tracer.finishedSpans.first?.attributes.get("error.type") == .string("tooLarge"))
  }

  @Test func `an invalid traceparent isn't passed on`() throws {
    var received: [String?] = ["x"]
    _ = try Self.relay(
      [.init(name: "traceparent", value: "00-0-0-00"), .init(name: "tracestate", value: "vendor=1")],
      tracer: InMemoryTracer(), TraceContextPropagator()
    ) { request in
      received = [request.headers["traceparent"], request.headers["tracestate"]]
      return .text("")
    }
    #expect(received == [nil, nil])
  }

  @Test func `the client's span is a child of the server's span, and contains no secrets`() throws {
    let tracer = InMemoryTracer()
    var ids: [String?] = []
    _ = try Self.relay(tracer: tracer, tracer) { request in
      ids = request.headers.filter { $0.name.hasPrefix("in-memory") }.map(\.value)
      return ServerResponse(.serviceUnavailable)
    }
    #expect(tracer.activeSpans.isEmpty)
    let spans = tracer.finishedSpans
    let client = try #require(spans.first { $0.kind == .client })
    let server = try #require(spans.first { $0.kind == .server })
    #expect(spans.count == 2)
    #expect(client.traceID == server.traceID && client.parentSpanID == server.spanID && server.parentSpanID == nil)
    #expect(ids.contains(client.traceID) && ids.contains(client.spanID))
    #expect(server.operationName == "GET /outer" && server.status == nil)
    #expect(server.attributes.get("url.path") == .string("/outer"))
    #expect(server.attributes.get("http.route") == .string("/outer"))
    #expect("\(try #require(server.attributes.get("http.response.status_code")))".contains("200"))
    #expect(client.status?.code == .error && client.attributes.get("error.type") == .string("503"))
    for span in spans { #expect(!"\(span.attributes)".contains("secret")) }
  }

  @Test func `a failure and a cancellation end the span`() throws {
    let tracer = InMemoryTracer()
    let loop = EventLoop()
    defer { loop.close() }
    let client = CurlHTTPClient(on: loop).traced(tracer: tracer, instrument: tracer)
    // No server listens on this port.
    let failing = client.get(URL(string: "http://127.0.0.1:1/")!).sink { _ in
      loop.stop()
    } receiveValue: { _ in
    }
    loop.run(.untilStopped)
    failing.cancel()
    #expect(tracer.finishedSpans.first?.status?.code == .error && tracer.finishedSpans.first?.errors.count == 1)
    tracer.clearFinishedSpans()
    let server = try HTTPServer(at: .internet("127.0.0.1", port: 0), on: loop)
    let serving = server.serve { _ in Empty<ServerResponse, Never>(completeImmediately: false) }
    let asking = client.get(URL(string: "http://127.0.0.1:\(try #require(server.address?.port))/")!)
      .sink { _ in
      } receiveValue: { _ in
      }
    loop.schedule(after: loop.now.advanced(by: .milliseconds(50))) {
      #expect(tracer.activeSpans.count == 1)
      asking.cancel()
      loop.stop()
    }
    loop.run(.untilStopped)
    #expect(tracer.activeSpans.isEmpty && tracer.finishedSpans.first?.status == nil)
    serving.cancel()
    server.close()
  }

  /// A task-local value that belongs to the program itself.
  private enum Visitor {
    @TaskLocal static var name = "nobody"
  }

  @Test func `a context travels with a stream across a queue, a timer, the thread pool and an async closure`() throws {
    let loop = EventLoop()
    defer { loop.close() }
    var context = ServiceContext.topLevel
    context.traceState = "ours"
    var seen: [String?] = []
    func note(_: Int) { seen.append(ServiceContext.current?.traceState) }
    let pooled = Deferred {
      Future<Int, Never> { promise in loop.offload({ 1 }) { promise(.success($0)) } }
    }
    let subscription = ServiceContext.withValue(context) {
      pooled.inContext()
        .handleEvents(receiveOutput: note)
        .delay(for: .milliseconds(5), scheduler: loop).inContext()
        .handleEvents(receiveOutput: note)
        .receive(on: DispatchQueue(label: "elsewhere")).inContext()
        .map { _ in ServiceContext.current?.traceState }
        .receive(on: loop).inContext()
        .handleEvents(receiveOutput: { seen.append($0) })
        .mapAsync(limit: 1) { _ in ServiceContext.current?.traceState }
        .sink { seen.append($0) }
    }
    #expect(ServiceContext.current == nil)
    loop.run()
    subscription.cancel()
    #expect(seen == ["ours", "ours", "ours", "ours"])
  }

  @Test func `wrapped work has the context in which it was wrapped, on the thread pool and on other loops`() throws {
    let loop = EventLoop()
    let group = try EventLoopGroup(count: 2)
    defer {
      loop.close()
      group.shutdown()
    }
    var context = ServiceContext.topLevel
    context.traceState = "ours"
    @Sendable func state() -> String? { ServiceContext.current?.traceState }
    var seen: [String?] = []
    let subscription = ServiceContext.withValue(context) {
      loop.offload(ServiceContext.wrap { state() }) { seen.append($0) }
      return (1...3).publisher
        .parallelMap(on: group, ServiceContext.wrap { (number: Int) in "\(number) \(state() ?? "none")" })
        .receive(on: loop)
        .sink { seen.append($0) }
    }
    loop.run()
    subscription.cancel()
    #expect(Set(seen) == ["ours", "1 ours", "2 ours", "3 ours"] && seen.count == 4)
    #expect(ServiceContext.current == nil)
    loop.offload(ServiceContext.wrap { state() }) { seen = [$0] }
    loop.run()
    #expect(seen == [nil])
  }

  @Test func `without inContext, what a timer delivers has no context, and a stream's context ends with its delivery`()
  {
    let loop = EventLoop()
    defer { loop.close() }
    var context = ServiceContext.topLevel
    context.traceState = "ours"
    var (below, above, after): (String?, String?, String?) = ("none", "none", "none")
    let subscription = ServiceContext.withValue(context) {
      Just(1).delay(for: .milliseconds(5), scheduler: loop)
        .handleEvents(receiveOutput: { _ in above = ServiceContext.current?.traceState })
        .inContext()
        .handleEvents(receiveOutput: { _ in
          below = ServiceContext.current?.traceState
          loop.schedule { after = ServiceContext.current?.traceState }
        })
        .sink { _ in }
    }
    loop.run()
    subscription.cancel()
    #expect(above == nil && below == "ours" && after == nil)
  }

  @Test func `a task-local value is bound for subscribing, requesting, delivering and cancelling`() {
    var events: [String] = []
    let subject = PassthroughSubject<Int, Never>()
    let stream = subject.handleEvents(
      receiveSubscription: { _ in events.append("subscription \(Visitor.name)") },
      receiveCancel: { events.append("cancel \(Visitor.name)") },
      receiveRequest: { _ in events.append("request \(Visitor.name)") }
    )
    .withTaskLocal(Visitor.$name) { "ann" }
    let subscription = stream.sink { events.append("value \($0) \(Visitor.name)") }
    subject.send(1)
    subscription.cancel()
    #expect(events == ["subscription ann", "request ann", "value 1 ann", "cancel ann"])
    #expect(Visitor.name == "nobody")
  }

  @Test func `requests that follow from a response belong to the trace of the first request`() throws {
    let tracer = InMemoryTracer()
    let loop = EventLoop()
    defer { loop.close() }
    let server = try HTTPServer(at: .internet("127.0.0.1", port: 0), on: loop)
    let serving = server.serve { _ in .text("") }
    let url = URL(string: "http://127.0.0.1:\(try #require(server.address?.port))/")!
    let client = CurlHTTPClient(on: loop).traced(tracer: tracer, instrument: tracer)
    let job = tracer.startAnySpan("job")
    let asking = ServiceContext.withValue(job.context) {
      client.get(url)
        .flatMap { _ in client.get(url) }
        .delay(for: .milliseconds(5), scheduler: loop).inContext()
        .flatMap { _ in client.get(url) }
        .sink { _ in
          loop.stop()
        } receiveValue: { _ in
        }
    }
    loop.run(.untilStopped)
    asking.cancel()
    serving.cancel()
    server.close()
    job.end()
    let spans = tracer.finishedSpans
    let first = try #require(spans.first { $0.operationName == "job" })
    #expect(spans.count == 4)
    for span in spans where span.operationName != "job" {
      #expect(span.traceID == first.traceID && span.parentSpanID == first.spanID)
    }
  }

  @Test(arguments: [
    "", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
    "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
    "00-00000000000000000000000000000000-b7ad6b7169203331-01",
    "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g",
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-",
    "0x-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01x",
  ]) func `an invalid traceparent is refused`(text: String) {
    #expect(TraceParent(text) == nil)
  }

  @Test func `a new traceparent is valid, and different each time`() {
    let made = (0..<100).map { _ in TraceParent.random() }
    #expect(Set(made).count == 100)
    for one in made { #expect(TraceParent("\(one)") == one && one.flags == 1) }
  }

  @Test func `a valid traceparent is parsed and written unchanged, even with a later version`() {
    #expect(TraceParent(Self.parent)?.description == Self.parent)
    let later = TraceParent("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03-more")
    #expect(later?.description == "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03")
  }

  @Test func `the live map shows what is above inContext and withTaskLocal`() {
    StreamDiagnostics.startMap()
    let numbers = PassthroughSubject<Int, Never>()
    let sink = numbers.filter { $0 < 0 }.inContext().map { $0 }.eraseToAnyPublisher().inContext().sink { _ in }
    numbers.send(1)
    let map = StreamDiagnostics.snapshot()
    #expect(map.nodes.contains { $0.name == "PassthroughSubject" })
    #expect(map.nodes.contains { $0.name == "Filter" && $0.received == 1 })
    sink.cancel()
  }
}
