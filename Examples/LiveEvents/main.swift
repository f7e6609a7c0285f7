import FeedHTTPServer
import FeedStream
import Foundation

// A page that shows every posted message live, served by all processors. Run it, open the URL that it prints, and then
// curl -d hello http://127.0.0.1:8080/say

let loop = EventLoop()
let group = try EventLoopGroup(name: "serving")
let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
let events = EventLog.Channel()

// Runs once on each loop of the group; the objects that it creates stay on that loop.
let servers = try HTTPServerGroup(at: .internet("127.0.0.1", port: port), on: group) { [events] server in
  let log = EventLog(of: events, on: server.scheduler)
  var routes = HTTPRoutes()
  routes.get("/") { _ in .html(page) }
  routes.get("/events") { _ in .events(log, greeting: .init("you are listening", name: "hello")) }
  routes.post("/say") { request in
    request.body.whole().map { text in
      events.send(text.text, name: "said")
      return .init(.noContent)
    }
  }
  return server.serve(routes)
}

// On Ctrl-C, let all running requests finish.
let ending = try loop.signal(SIGINT) { [servers, group, loop] in
  Task {
    await servers.shutdown()
    group.shutdown()
    loop.stop()
  }
}
FileHandle.standardOutput.write(Data("http://\(servers.address)/\n".utf8))
loop.run(.untilStopped)
ending.cancel()
