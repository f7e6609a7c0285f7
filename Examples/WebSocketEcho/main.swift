import FeedHTTPServer
import FeedStream
import FeedWebSocket
import Foundation

// Sends back what it receives:
//   WebSocketEcho serve [--port N]   to every client; prints its URL
//   WebSocketEcho connect <url>      to the server, until it closes the socket

var limits = WebSocketLimits()
limits.messageBytes = 64 << 20
limits.frameBytes = 64 << 20

func say(_ text: String, to file: FileHandle = .standardOutput) { file.write(Data("\(text)\n".utf8)) }

func fail(_ text: String, _ status: Int32 = 1) -> Never {
  say(text, to: .standardError)
  exit(status)
}

let usage = "usage: WebSocketEcho serve [--port N] | connect <url>"
let loop = EventLoop()
let arguments = Array(CommandLine.arguments.dropFirst())
var running: [AnyCancellable] = []
var status: Int32 = 0

switch arguments.first {
case "serve" where arguments.count == 1 || arguments.count == 3 && arguments[1] == "--port":
  guard let port = arguments.count == 3 ? Int(arguments[2]) : 9001, (0...65_535).contains(port) else { fail(usage, 64) }
  var options = WebSocketUpgrade()
  options.limits = limits
  options.compression = WebSocketCompression(keepsContext: true)
  do {
    var serverLimits = HTTPServerLimits()
    serverLimits.connections = 20_000
    let server = try HTTPServer(at: .internet("127.0.0.1", port: port), limits: serverLimits, on: loop)
    running.append(
      server.serve { request in
        request.upgradeToWebSocket(options) { socket in socket.messages.write(to: socket) }
      })
    // On Ctrl-C or `kill`, let all running requests finish.
    let endings = try [SIGINT, SIGTERM].map { try loop.signal($0) { server.shutdown() } }
    for ending in endings { ending.keepsLoopAlive = false }
    say("ws://127.0.0.1:\(server.address?.port ?? port)/")
    loop.run()
    for ending in endings { ending.cancel() }
  } catch {
    fail("\(error)")
  }

case "connect" where arguments.count == 2:
  var options = WebSocketClient.Options()
  options.limits = limits
  let echo = WebSocketClient(options, on: loop).webSocket(arguments[1])
    .eraseFailureType()
    .flatMap { socket in socket.messages.write(to: socket) }
    .sink { completion in
      guard case .failure(let error) = completion else { return }
      // The other side may close the socket before the last echo is sent; this is a normal completion.
      if case .closed? = error as? WebSocketError { return }
      say("\(error)", to: .standardError)
      status = 1
    } receiveValue: { _ in
    }
  running.append(echo)
  loop.run()

default: fail(usage, 64)
}
running = []
exit(status)
