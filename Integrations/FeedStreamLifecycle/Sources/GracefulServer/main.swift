import FeedHTTPServer
import FeedStream
import FeedStreamLifecycle
import Foundation
import Logging
import ServiceLifecycle

// Serves until SIGTERM: `/` immediately, `/slow` after 0.3 s, and `/events`, where an event arrives every 50 ms.
let group = try EventLoopGroup(count: 2)
let events = EventLog.Channel()
let servers = try HTTPServerGroup(at: .internet("127.0.0.1", port: 0), on: group) { server in
  let log = EventLog(of: events, on: server.scheduler)
  var routes = HTTPRoutes()
  routes.on(.get, "/") { _ in .text("here\n") }
  routes.on(.get, "/slow") { request in
    Just(ServerResponse.text("at last\n")).delay(for: .milliseconds(300), scheduler: request.scheduler)
  }
  routes.on(.get, "/events") { _ in .events(log) }
  return server.serve(routes)
}
let ticking = StreamService(on: group.loops[0]) { loop in
  let ended = PassthroughSubject<Void, Never>()
  let ticks = Interval(every: .milliseconds(50), scheduler: loop).handleEvents(receiveOutput: { events.send("\($0)") })
  return .init(ticks.prefix(untilOutputFrom: ended)) { ended.send() }
}
print(servers.address)
// The script waits for this line, which would otherwise stay in the output buffer of this process.
fflush(nil)
// Services are stopped in reverse order, so the loops shut down last.
let services: [any Service] = [group, ticking, servers]
let configuration = ServiceGroupConfiguration(
  services: services.map { service in ServiceGroupConfiguration.ServiceConfiguration(service: service) },
  gracefulShutdownSignals: [.sigterm], logger: Logger(label: "services") { _ in SwiftLogNoOpLogHandler() })
try await ServiceGroup(configuration: configuration).run()
