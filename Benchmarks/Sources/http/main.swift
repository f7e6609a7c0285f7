// HTTP against libcurl itself and against URLSession: a small feed from a local origin, over connections kept alive.
import CHTTP
import FeedStream
import Foundation
import Harness
import ImageFeed

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

struct Run {
  var requestsPerSecond: Double
  var processorMicroseconds: Double

  init(_ count: Int, seconds: Double, processorSeconds: Double) {
    requestsPerSecond = Double(count) / seconds
    processorMicroseconds = processorSeconds / Double(count) * 1e6
  }
}

/// Times `body`, which makes `count` requests.
func timed(_ count: Int, _ body: () -> Void) -> Run {
  let processor = Clock.processor.now
  let wall = Clock.wall.time(body).nanoseconds
  return Run(count, seconds: wall / 1e9, processorSeconds: (Clock.processor.now - processor) / 1e9)
}

func inC(_ url: URL, _ inFlight: Int, _ count: Int) -> Run {
  let result = chttp_run(url.absoluteString, Int32(inFlight), count)
  precondition(result.responses == count && result.failures == 0, "C: \(result.failures) requests failed")
  return Run(count, seconds: result.seconds, processorSeconds: result.processor_seconds)
}

/// Makes requests one after the other, each when the one before it has ended.
final class Asker: Subscriber {
  typealias Input = HTTPResponse
  typealias Failure = HTTPError

  private let ended: () -> Void

  init(_ ended: @escaping () -> Void) { self.ended = ended }

  func receive(subscription: any Subscription) { subscription.request(.unlimited) }

  func receive(_ response: HTTPResponse) -> Subscribers.Demand {
    precondition(response.status == 200 && !response.body.isEmpty, "The origin answered \(response.status)")
    return .none
  }

  func receive(completion: Subscribers.Completion<HTTPError>) {
    if case .failure(let error) = completion { fatalError("A request failed: \(error)") }
    ended()
  }
}

func ours(_ url: URL, _ inFlight: Int, _ count: Int) -> Run {
  let loop = EventLoop()
  defer { loop.close() }
  var configuration = CurlHTTPClient.Configuration()
  configuration.maxConnectionsPerHost = inFlight
  let client = CurlHTTPClient(on: loop, configuration)
  defer { client.close() }
  var started = 0
  func next() {
    guard started < count else { return }
    started += 1
    client.get(HTTPRequest(url)).subscribe(Asker(next))
  }
  return timed(count) {
    for _ in 0..<inFlight { next() }
    loop.run()
  }
}

func urlSession(_ url: URL, _ inFlight: Int, _ count: Int) -> Run {
  let configuration = URLSessionConfiguration.ephemeral
  configuration.httpMaximumConnectionsPerHost = inFlight
  configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
  let session = URLSession(configuration: configuration)
  defer { session.invalidateAndCancel() }
  return timed(count) {
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      await withTaskGroup(of: Void.self) { group in
        for lane in 0..<inFlight {
          group.addTask {
            for _ in stride(from: lane, to: count, by: inFlight) {
              do {
                let (body, _) = try await session.data(from: url)
                precondition(!body.isEmpty, "The origin sent nothing")
              } catch { fatalError("A request failed: \(error)") }
            }
          }
        }
      }
      done.signal()
    }
    done.wait()
  }
}

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
  let clients: [(name: String, share: Int, run: (URL, Int, Int) -> Run)] = [
    ("FeedStream", 1, ours), ("libcurl in C", 1, inC), ("URLSession", 10, urlSession),
  ]
  var runs = clients.map { _ in [Run]() }
  for round in 0...rounds {
    for (index, client) in clients.enumerated() {
      let run = client.run(url, inFlight, count / client.share)
      // The first round warms everything up.
      if round > 0 { runs[index].append(run) }
    }
  }
  for (client, its) in zip(clients, runs) {
    // Our time over its time: below one, ours is faster.
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
