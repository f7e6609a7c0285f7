import FeedHTTPServer
import FeedStream
import Foundation

/// Runs on the loop, so its methods can use the loop's streams without a lock.
actor Visits {
  private let loop: EventLoop
  private let paths = PassthroughSubject<String, Never>()
  private var counts: [String: Int] = [:]
  private var subscription: AnyCancellable?
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  init(on loop: EventLoop) { self.loop = loop }

  func start() {
    subscription = paths.collect(.byTime(loop, .milliseconds(500)))
      .sink { print("\($0.count) visits in half a second") }
  }

  /// Counts a visit. A public server would have to limit the number of paths.
  func visit(_ path: String) -> Int {
    paths.send(path)
    counts[path, default: 0] += 1
    return counts[path] ?? 0
  }
}

guard let port = Int(CommandLine.arguments.dropFirst().first ?? "8080"), 0...65_535 ~= port else {
  print("usage: CountVisits [port]")
  exit(64)
}
let thread = try EventLoopThread(name: "visits")
let visits = Visits(on: thread.loop)
await visits.start()

let loop = EventLoop()
let server: HTTPServer
do {
  server = try HTTPServer(at: .internet("127.0.0.1", port: port), on: loop)
} catch {
  print(error)  // the port is in use, for example
  exit(1)
}
let serving = server.serve { request in
  let path = request.path
  return Future { await visits.visit(path) }.map { ServerResponse.text("\(path): visit \($0)\n") }
}
loop.run(.untilStopped)
serving.cancel()
