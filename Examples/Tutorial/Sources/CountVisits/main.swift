import FeedStream
import FlyingFox
import Foundation

/// Lives on the loop: its methods run there, and use its streams without a lock.
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

let port = UInt16(CommandLine.arguments.dropFirst().first ?? "8080")!
let thread = try EventLoopThread(name: "visits")
let visits = Visits(on: thread.loop)
await visits.start()

let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: port), logger: .disabled)
await server.appendRoute("*") { request in
  let count = await visits.visit(request.path)
  return HTTPResponse(statusCode: .ok, body: Data("\(request.path): visit \(count)\n".utf8))
}
try await server.run()
