import FeedHTTPServer
import FeedStream
import FeedStreamLifecycle
import Foundation
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct ServiceTests {
  private struct Refused: Error {}

  /// Runs `service` until it ends, and at the same time runs `body`, which may trigger a graceful shutdown.
  private static func run(
    _ service: some Service, while body: @escaping @Sendable (GracefulShutdownTestTrigger) async throws -> Void
  ) async throws {
    try await testGracefulShutdown { trigger in
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await service.run() }
        group.addTask { try await body(trigger) }
        try await group.waitForAll()
      }
    }
  }

  @Test func `a service ends when its stream completes, with the stream's failure if it fails`() async throws {
    let thread = try EventLoopThread()
    defer { thread.shutdown() }
    try await StreamService(on: thread.loop) { _ in .init((0..<3).publisher) {} }.run()
    await #expect(throws: Refused.self) {
      try await StreamService(on: thread.loop) { _ in .init(Fail<Int, Refused>(error: Refused())) {} }.run()
    }
    await #expect(throws: Refused.self) { try await StreamService(on: thread.loop) { _ in throw Refused() }.run() }
  }

  @Test func `a graceful shutdown calls the stop closure, and the stream may complete its work`() async throws {
    let thread = try EventLoopThread()
    defer { thread.shutdown() }
    let completed = SharedValue(0)
    let service = StreamService(on: thread.loop) { loop in
      let stop = PassthroughSubject<Void, Never>()
      let work = stop.delay(for: .milliseconds(50), scheduler: loop).handleEvents(receiveOutput: {
        completed.update { $0 = 1 }
      })
      return .init(work.first()) { stop.send() }
    }
    try await Self.run(service) { trigger in
      try await Task.sleep(for: .milliseconds(50))
      trigger.triggerGracefulShutdown()
    }
    #expect(completed.value == 1)
  }

  @Test func `a cancelled service cancels its stream`() async throws {
    let thread = try EventLoopThread()
    defer { thread.shutdown() }
    let (cancelled, tell) = AsyncStream.makeStream(of: Void.self)
    let service = StreamService(on: thread.loop) { _ in
      .init(PassthroughSubject<Int, Never>().handleEvents(receiveCancel: { tell.finish() })) {}
    }
    let running = Task { try await service.run() }
    try await Task.sleep(for: .milliseconds(50))
    running.cancel()
    await #expect(throws: CancellationError.self) { try await running.value }
    for await _ in cancelled {}
  }

  @Test(.timeLimit(.minutes(1))) func `closing its loop ends a service`() async throws {
    let thread = try EventLoopThread()
    let service = StreamService(on: thread.loop) { _ in .init(PassthroughSubject<Int, Never>()) {} }
    let running = Task { try await service.run() }
    try await Task.sleep(for: .milliseconds(50))
    thread.shutdown()
    try await running.value
    // A service on a loop that is already closed ends immediately, too.
    try await service.run()
  }

  @Test func `a graceful shutdown completes running requests before the loops of the group shut down`() async throws {
    let group = try EventLoopGroup(count: 2)
    let servers = try HTTPServerGroup(at: .internet("127.0.0.1", port: 0), on: group) { server in
      server.serve { request in
        Just(ServerResponse.text("late")).delay(for: .milliseconds(300), scheduler: request.scheduler)
      }
    }
    let address = "\(servers.address)"
    let services = ServiceGroup(
      configuration: .init(
        services: [.init(service: group), .init(service: servers)], logger: .init(label: "services")))
    let running = Task { try await services.run() }
    let responding = Task { try await URLSession.shared.data(from: URL(string: "http://\(address)/")!).0 }
    while await servers.connectionCount == 0 { try await Task.sleep(for: .milliseconds(10)) }
    try await Task.sleep(for: .milliseconds(100))
    await services.triggerGracefulShutdown()
    #expect(String(decoding: try await responding.value, as: UTF8.self) == "late")
    try await running.value
    #expect(await servers.connectionCount == 0)
  }
}
