// One run of AsyncHTTPClient, started by `http`: prints its elapsed seconds and its CPU seconds.
import AsyncHTTPClient
import Foundation
import Tasks

guard CommandLine.arguments.count == 4, let inFlight = Int(CommandLine.arguments[2]),
  let count = Int(CommandLine.arguments[3])
else { fatalError("Usage: async-http-client URL IN-FLIGHT REQUESTS") }

var configuration = HTTPClient.Configuration()
configuration.timeout.connect = .seconds(10)
configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = inFlight
let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
var request = HTTPClientRequest(url: CommandLine.arguments[1])
request.headers.add(name: "User-Agent", value: "FeedStream/0.1")
let prepared = request
@Sendable func get() async throws {
  let response = try await client.execute(prepared, timeout: .seconds(30))
  let body = try await response.body.collect(upTo: 1 << 20)
  precondition(response.status == .ok && body.readableBytes > 0, "The origin answered \(response.status)")
}
// Warm up connections and caches before anything is counted, as the other contenders do in their first round.
_ = inLanes(inFlight, inFlight * 4, get)
let spent = inLanes(inFlight, count, get)
print(spent.wall, spent.processor)
try client.syncShutdown()
