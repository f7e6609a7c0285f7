import FeedHTTPServer
import FeedStream
import Foundation

// A page that shows every posted message live, served by all processors. Run it, open the URL that it prints, and then
// curl -d hello http://127.0.0.1:8080/say

guard let port = Int(CommandLine.arguments.dropFirst().first ?? "8080"), 0...65_535 ~= port else {
  FileHandle.standardError.write(Data("usage: LiveEvents [port]\n".utf8))
  exit(64)
}
let loop = EventLoop()
let group = try EventLoopGroup(name: "serving")
let events = EventLog.Channel()

let servers: HTTPServerGroup
do {
  // Runs once on each loop of the group; the objects that it creates stay on that loop.
  servers = try HTTPServerGroup(at: .internet("127.0.0.1", port: port), on: group) { [events] server in
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
} catch {
  // The port may be in use.
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}

// On Ctrl-C or `kill`, let all running requests finish.
let endings = try [SIGINT, SIGTERM].map {
  try loop.signal($0) { [servers, group, loop] in
    Task {
      await servers.shutdown()
      group.shutdown()
      loop.stop()
    }
  }
}
FileHandle.standardOutput.write(Data("http://\(servers.address)/\n".utf8))
loop.run(.untilStopped)
for ending in endings { ending.cancel() }
