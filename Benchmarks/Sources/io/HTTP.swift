import CIO
import FeedHTTPServer
import FeedStream
import Foundation
import Harness

func httpServer() throws {
  let loop = EventLoop()
  var limits = HTTPServerLimits()
  limits.connections = 20_000
  limits.idle = .seconds(600)
  let server = try HTTPServer(at: .internet("127.0.0.1", port: 0), limits: limits, on: loop)
  let log = EventLog(heartbeat: .seconds(600), on: loop)
  let page = String(cString: c_http_page())
  let block = Chunk(repeatElement(120, count: 64 * 1024))
  var routes = HTTPRoutes()
  routes.get("/") { _ in .html(page) }
  routes.get("/endless") { _ in .init(body: repeatElement(block, count: 1 << 30).publisher) }
  routes.get("/events") { _ in .events(log, greeting: .init("hello")) }
  routes.post("/say") { request in
    request.body.whole().map { text in
      log.send(text.text)
      return .init(.noContent)
    }
  }
  let serving = server.serve(routes)
  print(server.address!.port!)
  fflush(nil)
  loop.run()
  serving.cancel()
}

func httpRows(_ isShort: Bool, rounds: Int) throws {
  let (ours, theirs) = (try Server("http-swift"), try Server("http-c"))
  let requests = isShort ? 20_000 : 200_000
  for connections in [1, 64] {
    try row(
      "HTTP, small answers, \(connections) connections", 1.25, rounds: rounds,
      { c_http_client(ours.port, Int32(connections), requests) },
      { c_http_client(theirs.port, Int32(connections), requests) })
    try row(
      "HTTP, small answers, \(connections) connections, processor of the server", 1.25, rounds: rounds,
      { ours.processor { c_http_client(ours.port, Int32(connections), requests) } },
      { theirs.processor { c_http_client(theirs.port, Int32(connections), requests) } })
  }
  for server in [ours, theirs] { server.end() }
}

/// Measures third-party servers in Swift (`Benchmarks/Servers`), if the environment says where they were built.
func peerRows(_ isShort: Bool, rounds: Int) throws {
  guard let folder = ProcessInfo.processInfo.environment["SERVERS"] else { return }
  let requests = isShort ? 20_000 : 200_000
  for peer in ["hummingbird", "flyingfox"] where chosen("HTTP, against \(peer)") {
    let (ours, theirs) = (try Server("http-swift"), try Server(program: "\(folder)/\(peer)-server"))
    try row(
      "HTTP, against \(peer), 64 connections", 1, rounds: rounds,
      { c_http_client(ours.port, 64, requests) }, { c_http_client(theirs.port, 64, requests) })
    try row(
      "HTTP, against \(peer), 64 connections, processor of the server", 1, rounds: rounds,
      { ours.processor { c_http_client(ours.port, 64, requests) } },
      { theirs.processor { c_http_client(theirs.port, 64, requests) } })
    for server in [ours, theirs] { server.end() }
  }
}

/// Measures clients that do not read. These figures have no peer: how much a server in C keeps is its author's choice.
func crowdRows(_ isShort: Bool) throws {
  let crowd = isShort ? 1_000 : 10_000
  try figure("\(crowd) idle connections, KiB each beside the system's", "4") {
    let server = try Server("http-swift")
    _ = c_http_client(server.port, 64, 10_000)
    let before = server.residentBytes
    c_http_hold(server.port, Int32(crowd))
    let each = Double(server.residentBytes - before) / 1024 / Double(crowd)
    c_http_release()
    server.end()
    return String(format: "%.2f", each)
  }
  try figure("one event to \(crowd) clients, 1 % of them standing still, ms: median, longest of 20", "50") {
    let server = try Server("http-swift")
    c_events_open(server.port, Int32(crowd), Int32(crowd / 100))
    // More than the system's buffers hold for clients that do not read.
    for _ in 0..<40 { _ = c_events_send(server.port, 8_192) }
    let used = server.processorSeconds
    let times = (0..<20).map { _ in c_events_send(server.port, 100) * 1000 }.sorted()
    let each = (server.processorSeconds - used) / 20 * 1000
    let memory = server.residentBytes
    c_events_close()
    server.end()
    let mebibytes = Double(memory) / 1_048_576
    return String(
      format: "%.1f, %.1f (%.1f of the server's processor, %.1f MiB)", times[10], times[19], each, mebibytes)
  }
  try figure("an endless answer read at 1 MB/s: growth of the server in 5 s, KiB", "flat") {
    let server = try Server("http-swift")
    _ = c_read_slowly(server.port, 1_000_000, 1)
    let before = server.residentBytes
    let count = c_read_slowly(server.port, 1_000_000, 5)
    let growth = (server.residentBytes - before) / 1024
    server.end()
    return "\(growth) (\(count / 1_000_000) MB read)"
  }
}
