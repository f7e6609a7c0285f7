// Compares FeedStream's HTTP client with libcurl itself, AsyncHTTPClient and URLSession: a small feed from a local
// origin, over persistent connections.
import Foundation
import Harness

let report = Report()
guard let text = ProcessInfo.processInfo.environment["ORIGIN"], let url = URL(string: text) else {
  fatalError("http: no origin to ask; run Scripts/bench http, which starts one")
}
let rounds = report.isShort ? 3 : 7
let count = report.isShort ? 4_000 : 20_000

show(
  """
  | Client | in flight | requests a second | processor time a request, µs | ours in its time | ours in its processor time |
  |---|---|---|---|---|---|
  """)
for inFlight in [1, 64] {
  var clients: [(name: String, share: Int, run: (URL, Int, Int) -> Run)] = [
    ("FeedStream", 1, ours), ("libcurl in C", 1, inC), ("URLSession", 10, urlSession),
  ]
  // AsyncHTTPClient takes minutes to build.
  if report.isShort {
    report.leaveOut("AsyncHTTPClient")
  } else {
    clients.append(("AsyncHTTPClient", 2, asyncHTTPClient))
  }
  clients = clients.filter { $0.name == "FeedStream" || report.wants($0.name) }
  var runs = clients.map { _ in [Run]() }
  for round in 0...rounds {
    // Reverse every other round, so that no contender is always first.
    let order = round % 2 == 0 ? Array(clients.indices) : clients.indices.reversed()
    for index in order {
      let client = clients[index]
      let run = client.run(url, inFlight, count / client.share)
      // The first round warms everything up.
      if round > 0 { runs[index].append(run) }
    }
  }
  for (client, its) in zip(clients, runs) {
    // Our time divided by the other client's: below one, ours is faster.
    let wall = ratio(its.map(\.requestsPerSecond), to: runs[0].map(\.requestsPerSecond))
    let processor = ratio(runs[0].map(\.processorMicroseconds), to: its.map(\.processorMicroseconds))
    let cells = [
      client.name, "\(inFlight)", number(its.map(\.requestsPerSecond).median),
      number(its.map(\.processorMicroseconds).median), number(wall), number(processor),
    ]
    show("| " + cells.joined(separator: " | ") + " |")
    guard client.name != "FeedStream" else { continue }
    report.note("http/\(inFlight)/\(client.name)/time", 1 / wall)
    report.note("http/\(inFlight)/\(client.name)/processor", 1 / processor)
    let limit = client.name == "libcurl in C" ? 1.15 : 1
    report.target(
      "\(inFlight) in flight, requests a second: within \(limit)× of \(client.name)", wall <= limit, number(wall))
    report.target(
      "\(inFlight) in flight, processor time: within \(limit)× of \(client.name)", processor <= limit,
      number(processor))
  }
}
try report.finish()
