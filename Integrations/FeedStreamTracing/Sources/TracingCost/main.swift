// Serves requests, one after another on one connection, to measure the cost of tracing with Scripts/tracing-cost.
//
//   TracingCost off|ids|spans answer|request COUNT
//
// "ids" passes trace IDs on, without a tracer. "spans" also makes spans, with the tracer for tests. "answer" measures
// only the server, with a client that sends prepared bytes; "request" also traces the client.
import FeedHTTP
import FeedHTTPServer
import FeedStream
import FeedStreamTracing
import Foundation
import InMemoryTracing
import Tracing

let words = Array(CommandLine.arguments.dropFirst())
guard words.count == 3, let count = Int(words[2]) else { fatalError("TracingCost off|ids|spans answer|request COUNT") }
let isTraced = words[0] != "off"
if words[0] == "ids" { InstrumentationSystem.bootstrap(TraceContextPropagator()) }
if words[0] == "spans" { InstrumentationSystem.bootstrap(InMemoryTracer()) }

let loop = EventLoop()
var routes = HTTPRoutes()
if isTraced { routes.use(.tracing()) }
routes.get("/orders") { _ in .text("none") }
let server = try HTTPServer(at: .internet("127.0.0.1", port: 0), on: loop)
let serving = server.serve(routes)
guard let port = server.address?.port else { fatalError("no port") }

/// The responses to `count` requests that are sent one after another.
func requests() -> AnyPublisher<Int, Never> {
  var client: any HTTPClient = CurlHTTPClient(on: loop)
  if isTraced { client = client.traced() }
  guard let url = URL(string: "http://127.0.0.1:\(port)/orders") else { fatalError("no URL") }
  return (0..<count).publisher
    .flatMap(maxPublishers: .max(1)) { [client] _ in client.get(url).map(\.status).replaceError(with: 0) }
    .filter { $0 == 200 }
    .count()
    .eraseToAnyPublisher()
}

/// The responses to `count` requests made of prepared bytes.
func answers() -> AnyPublisher<Int, Never> {
  let id = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
  let request = Chunk("GET /orders HTTP/1.1\r\nHost: 127.0.0.1\r\ntraceparent: \(id)\r\n\r\n")
  return Connection.connect(to: .internet("127.0.0.1", port: port), on: loop)
    .flatMap { connection in
      let next = PassthroughSubject<Chunk, Never>()
      let sent = next.prepend(request).write(to: connection).catch { _ in Empty<Never, Never>() }
        .map { (_: Never) -> Chunk in }.setFailureType(to: SystemError.self)
      return connection.bytes.merge(with: sent)
        .filter { $0.text.hasSuffix("none") }
        .handleEvents(receiveOutput: { _ in next.send(request) })
    }
    .prefix(count)
    .count()
    .replaceError(with: 0)
    .eraseToAnyPublisher()
}

let running = (words[1] == "answer" ? answers() : requests()).sink { answered in
  print("\(answered) of \(count) answered")
  loop.stop()
}
loop.run(.untilStopped)
serving.cancel()
