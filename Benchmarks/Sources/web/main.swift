// Servers and a client for Benchmarks/web, which measures them: each mode acts as a separate program.
import CIO
import FeedHTTP
import FeedHTTPServer
import FeedStream
import FeedWebSocket
import Foundation

let words = Array(CommandLine.arguments.dropFirst())
let loop = EventLoop()
var limits = HTTPServerLimits()
limits.connections = 20_000
limits.idle = .seconds(600)

/// Prints the port, and then serves.
func serve(_ routes: HTTPRoutes) throws {
  let server = try HTTPServer(at: .internet("127.0.0.1", port: 0), limits: limits, on: loop)
  let serving = server.serve(routes)
  print(server.address!.port!)
  fflush(nil)
  loop.run()
  serving.cancel()
}

var routes = HTTPRoutes()
let page = String(cString: c_http_page())
routes.get("/") { _ in .html(page) }

switch words.first {
case "http": try serve(routes)
case "http-c": c_http_server(1)
case "middleware":
  // Middleware that only passes requests on.
  routes.use(HTTPMiddleware { next in { request in try next(request) } })
  try serve(routes)
case "logging":
  var count = 0
  routes.use(.requestIDs())
  routes.use(.log { count += $0.status.code })
  try serve(routes)
case "load" where words.count == 4:
  print(c_http_client(Int32(words[1])!, Int32(words[2])!, Int(words[3])!))
case "echo":
  var options = WebSocketUpgrade()
  if words.count == 2 { options.compression = nil }
  routes.get("/echo") { request in
    request.upgradeToWebSocket(options) { socket in socket.messages.write(to: socket) }
  }
  try serve(routes)
case "room":
  let said = PassthroughSubject<WebSocketMessage, Never>()
  routes.get("/room") { request in
    request.upgradeToWebSocket { socket -> AnyCancellable in
      let hearing = said.buffer(size: 100, prefetch: .byRequest, whenFull: .dropOldest).write(to: socket).sink { _ in
      } receiveValue: { _ in
      }
      let saying = socket.messages.sink { _ in
      } receiveValue: {
        said.send($0)
      }
      return AnyCancellable {
        hearing.cancel()
        saying.cancel()
      }
    }
  }
  try serve(routes)
case "put" where words.count == 3:
  let client = CurlHTTPClient(on: loop)
  var request = HTTPRequest(.put, URL(string: words[1])!, body: .file(words[2]))
  request.timeout = .seconds(600)
  let sending = client.send(request).sink { _ in
  } receiveValue: {
    print($0.status)
  }
  loop.run()
  withExtendedLifetime(sending) {}
default:
  print(
    "usage: web http|http-c|middleware|logging|echo [plain]|room|load <port> <connections> <requests>|put <url> <file>")
  exit(64)
}
