// A server whose log lines contain the trace of their request, as docs/how-to/SeeInside.md shows.
import FeedHTTPServer
import FeedStream
import FeedStreamTracing
import Logging
import Tracing

InstrumentationSystem.bootstrap(TraceContextPropagator())
LoggingSystem.bootstrap(StreamLogHandler.standardError, metadataProvider: .traceContext())
let log = Logger(label: "orders")

let loop = EventLoop()
var routes = HTTPRoutes()
routes.use(.tracing())
routes.on(.get, "/orders") { request in
  Just("none")
    .handleEvents(receiveOutput: { _ in log.info("reading orders") })
    .delay(for: .milliseconds(10), scheduler: loop)
    .inContext()
    .map { orders in
      log.info("orders read")
      return .text(orders)
    }
}

let server = try HTTPServer(at: .internet("127.0.0.1", port: 8080), on: loop)
let serving = server.serve(routes)
loop.run(.untilStopped)
