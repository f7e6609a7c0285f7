import FeedHTTPServer
import FeedStream

/// Runs on the loop, so its methods can use the loop's streams without a lock.
actor Visits {
  private let loop: EventLoop
  private let paths = PassthroughSubject<String, Never>()
  private let counts = CurrentValueSubject<[String: Int], Never>([:])
  private var subscriptions: Set<AnyCancellable> = []
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  init(on loop: EventLoop) { self.loop = loop }

  func start() {
    paths.sink { [counts] in counts.value[$0, default: 0] += 1 }.store(in: &subscriptions)
    paths.collect(.byTime(loop, .milliseconds(500)))
      .sink { print("\($0.count) visits in half a second") }
      .store(in: &subscriptions)
  }

  func visit(_ path: String) -> Int {
    paths.send(path)
    return counts.value[path] ?? 0
  }
}

let thread = try EventLoopThread(name: "visits")
let visits = Visits(on: thread.loop)
await visits.start()

let loop = EventLoop()
let port = Int(CommandLine.arguments.dropFirst().first ?? "8080")!
let server = try HTTPServer(at: .internet("127.0.0.1", port: port), on: loop)
let serving = server.serve { request in
  let path = request.path
  return Future { await visits.visit(path) }.map { ServerResponse.text("\(path): visit \($0)\n") }
}
loop.run(.untilStopped)
serving.cancel()
