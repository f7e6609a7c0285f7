import FeedHTTPServer
import FeedStream
import Foundation

// A page that shows what anybody says, live: run it, open the address it prints, and then
// curl -d hello http://127.0.0.1:8080/say

let page = """
  <!doctype html><title>Live</title><ul></ul><script>
  new EventSource("/events").addEventListener("said", (event) => {
    const line = document.createElement("li");
    line.textContent = event.data;
    document.querySelector("ul").append(line);
  });
  </script>
  """

let loop = EventLoop()
let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
let server = try HTTPServer(at: .internet("127.0.0.1", port: port), on: loop)
let log = HTTPServer.EventLog(on: loop)

var routes = HTTPServer.Routes()
routes.get("/") { _ in .html(page) }
routes.get("/events") { _ in .events(log, greeting: .init("\(log.clientCount) are listening", name: "hello")) }
routes.post("/say") { request in
  request.body.whole().map { text in
    log.send(text.text, name: "said")
    return .init(.noContent)
  }
}
let serving = server.serve(routes)

// Ctrl-C lets everybody finish.
let ending = try loop.signal(SIGINT) { server.shutdown() }
ending.keepsLoopAlive = false
FileHandle.standardOutput.write(Data("http://127.0.0.1:\(server.address?.port ?? port)/\n".utf8))
loop.run()
