import Foundation
import TestSupport
import Testing

/// The compiler keeps streams on their thread (`CONTRACT.md`, rule 1): these tests compile code against the module
/// under test.
@Suite(.settled) struct CompilerGuardTests {
  @Test(arguments: Snippet.refused)
  private func `code that would touch a stream on another thread doesn't compile`(_ snippet: Snippet) async throws {
    let errors = try await snippet.errors()
    #expect(errors.contains { $0.contains(snippet.error) }, "got: \(errors)")
  }

  @Test(arguments: Snippet.accepted)
  private func `code that keeps a stream on its loop, or hands over its values, compiles without a warning`(
    _ snippet: Snippet
  ) async throws {
    #expect(try await snippet.compile() == "")
  }
}

/// A piece of code, and the compiler's expected diagnostics.
private struct Snippet: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let code: String
  var error = ""

  func errors() async throws -> [String] {
    try await compile().split(separator: "\n").map(String.init)
      .filter { $0.hasPrefix(Self.fileName) && $0.contains(": error: ") }
  }

  /// Compiles in the Swift 6 language mode, far enough for the data race checks, and writes nothing.
  ///
  /// - Returns: the compiler's diagnostics.
  func compile() async throws -> String {
    let folder = TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    try "import FeedStream\n\(code)\n".write(
      toFile: folder.file(Self.fileName), atomically: false, encoding: .utf8)
    let products = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    let project = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    // The module of the running build, and the module maps of its C headers.
    let maps = ["CLibUV", "CThread"].map { "-Xcc '-fmodule-map-file=\(project.path)/Sources/\($0)/module.modulemap'" }
    let output = try await ChildProcess.shell(
      """
      cd '\(folder.path)' && swiftc -emit-sil -o /dev/null -swift-version 6 \
      -module-cache-path '\(products.path)/ModuleCache' -I '\(products.path)/Modules' \(maps.joined(separator: " ")) \
      \(Self.fileName) 2>&1
      """)
    #expect(!output.contains("no such module") && !output.contains("missing required module"), "\(output)")
    return output
  }

  private static let fileName = "snippet.swift"

  static let refused = [
    Snippet(
      testDescription: "sending to a subject from work posted to a loop",
      code: """
        func post(_ subject: PassthroughSubject<Int, Never>, to loop: EventLoop) {
          loop.execute { subject.send(1) }
        }
        """,
      error: "capture of 'subject' with non-Sendable type"),
    Snippet(
      testDescription: "sending to a subject from a detached task",
      code: """
        func detach(_ subject: CurrentValueSubject<Int, Never>) {
          Task.detached { subject.send(1) }
        }
        """,
      error: "risks causing data races"),
    Snippet(
      testDescription: "handing a publisher to another actor",
      code: """
        actor Other {
          func subscribe(to publisher: AnyPublisher<Int, Never>) {}
        }
        func hand(_ publisher: AnyPublisher<Int, Never>, to other: Other) async {
          await other.subscribe(to: publisher)
        }
        """,
      error: "sending 'publisher' risks causing data races"),
    Snippet(
      testDescription: "cancelling from work aside",
      code: """
        func aside(_ subscription: AnyCancellable, _ loop: EventLoop) {
          loop.offload({ subscription.cancel() }, completion: {})
        }
        """,
      error: "capture of 'subscription' with non-Sendable type"),
    Snippet(
      testDescription: "taking values that are not sendable off their loop",
      code: """
        final class Box {}
        @MainActor func first(_ subject: sending CurrentValueSubject<Box, Never>) async -> Box? {
          let values = subject.values
          return await Task.detached { for await box in values { return box }; return nil }.value
        }
        """,
      error: "'Box'"),
    Snippet(
      testDescription: "delivering a result that an actor still holds",
      code: """
        final class Box {}
        actor Keeper {
          private let box = Box()
          func held(_ number: Int) -> Box { box }
        }
        func boxes(_ keeper: Keeper, _ group: EventLoopGroup) -> AnyCancellable {
          (0..<3).publisher.parallelMap(on: group) { await keeper.held($0) }.sink { print($0) }
        }
        """,
      error: "'Box'"),
    Snippet(
      testDescription: "delivering an object that the work shares",
      code: """
        final class Box {}
        func boxes(_ box: Box, _ group: EventLoopGroup) -> AnyCancellable {
          (0..<3).publisher.parallelMap(on: group) { _ in box }.sink { print($0) }
        }
        """,
      error: "capture of 'box' with non-Sendable type"),
  ]

  static let accepted = [
    Snippet(
      testDescription: "sending from any thread, waiting for demand in a task",
      code: """
        import Foundation
        func start(_ subject: PassthroughSubject<Int, Never>, on loop: EventLoop) {
          let sender = subject.sender(on: loop)
          loop.execute { sender.send(1) }
          Thread.detachNewThread { sender.send(2) }
          Task {
            await sender.send(3)
            sender.send(completion: .finished)
          }
        }
        """),
    Snippet(
      testDescription: "a delegate's callback, as a subject",
      code: """
        final class Location: Sendable {
          let places: StreamSender<String, Never>
          init(_ places: StreamSender<String, Never>) { self.places = places }
          func didMove(to place: String) { places.send(place) }
        }
        let loop = EventLoop()
        let places = PassthroughSubject<String, Never>()
        let subscription = places.removeDuplicates().sink { print($0) }
        let delegate = Location(places.sender(on: loop))
        """),
    Snippet(
      testDescription: "a completion handler, as a future",
      code: """
        struct Refusal: Error {}
        func download(_ url: String, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {}
        let page = Future<Int, any Error> { promise in
          download("https://example.com") { promise($0) }
        }
        let subscription = page.sink(receiveCompletion: { _ in }, receiveValue: { print($0) })
        """),
    Snippet(
      testDescription: "a notification, as a publisher",
      code: """
        import Foundation
        func notifications(_ name: Notification.Name) -> Create<Date, Never> {
          Create { emitter in
            let sender = emitter.sender
            let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in
              sender.send(Date())
            }
            emitter.onCancel { NotificationCenter.default.removeObserver(token) }
          }
        }
        """),
    Snippet(
      testDescription: "an asynchronous function, as a publisher",
      code: """
        struct Refusal: Error {}
        func length(of text: String) async throws(Refusal) -> Int { text.count }
        let one = Future { try await length(of: "sea") }
        let typed: Future<Int, Refusal> = Future { () async throws(Refusal) in try await length(of: "sea") }
        let pages = ["a", "b"].publisher.tryMapAsync(limit: 2) { text in
          let doubled = text + text
          return try await length(of: doubled)
        }
        .sink(receiveCompletion: { _ in }, receiveValue: { print($0) })
        let doubled = [1, 2].publisher.mapAsync(limit: 1) { n in let m = n; return m * 2 }.sink { print($0) }
        """),
    Snippet(
      testDescription: "work in several statements, without a result type",
      code: """
        func read(_ number: Int) throws -> Int { number }
        func map(on group: EventLoopGroup) -> [AnyCancellable] {
          let numbers = (0..<3).publisher
          return [
            numbers.parallelMap(on: group) { n in let m = n * 2; return m }.sink { print($0) },
            numbers.parallelMap(on: group) { n in await Task.yield(); return n * 2 }.sink { print($0) },
            numbers.tryParallelMap(on: group) { n in let m = try read(n); return m }
              .sink(receiveCompletion: { _ in }, receiveValue: { print($0) }),
            numbers.tryParallelMap(on: group) { n in await Task.yield(); return try read(n) }
              .sink(receiveCompletion: { _ in }, receiveValue: { print($0) }),
          ]
        }
        func offload(on loop: EventLoop, _ scheduler: any LoopScheduler) {
          loop.offload { let n = 2; return n } completion: { print($0) }
          scheduler.offload { let n = 2; return n } completion: { print($0) }
        }
        func work(on worker: SerialWorker) -> [AnyCancellable] {
          worker.perform { let n = 2; return n } completion: { print($0) }
          return [
            worker.publisher { let n = 2; return n }.sink { print($0) },
            worker.publisher { let n = try read(2); return n }
              .sink(receiveCompletion: { _ in }, receiveValue: { print($0) }),
          ]
        }
        """),
    Snippet(
      testDescription: "functions as work, and results that only their receiver holds",
      code: """
        final class Box {}
        @Sendable func box(_ number: Int) -> Box { Box() }
        @Sendable func double(_ number: Int) -> Int { number * 2 }
        @Sendable func read(_ number: Int) throws -> Int { number }
        @Sendable func fetch(_ number: Int) async -> Int { number }
        @Sendable func load(_ number: Int) async throws -> Int { number }
        func map<T: Sendable>(_ own: @escaping @Sendable (Int) -> T, on group: EventLoopGroup) -> [AnyCancellable] {
          let numbers = (0..<3).publisher
          return [
            numbers.parallelMap(on: group, own).sink { print($0) },
            numbers.parallelMap(on: group, double).sink { print($0) },
            numbers.parallelMap(on: group, box).sink { print($0) },
            numbers.parallelMap(on: group, fetch).sink { print($0) },
            numbers.parallelMap(on: group) { _ in await Task.yield(); return Box() }.sink { print($0) },
            numbers.tryParallelMap(on: group, read).sink(receiveCompletion: { _ in }, receiveValue: { print($0) }),
            numbers.tryParallelMap(on: group, load).sink(receiveCompletion: { _ in }, receiveValue: { print($0) }),
            numbers.mapAsync(limit: 2, fetch).sink { print($0) },
            numbers.tryMapAsync(limit: 2, load).sink(receiveCompletion: { _ in }, receiveValue: { print($0) }),
          ]
        }
        """),
    Snippet(
      testDescription: "a publisher, as an asynchronous sequence in a task that was handed it",
      code: """
        func consume(_ numbers: sending AnyPublisher<Int, Never>) {
          Task {
            for await number in numbers.values { print(number) }
          }
        }
        func total(_ numbers: AnyPublisher<Int, any Error>) async throws -> Int {
          var total = 0
          for try await number in numbers.values { total += number }
          return total
        }
        """),
    Snippet(
      testDescription: "an actor that lives on a loop and owns streams",
      code: """
        actor Reader {
          private let loop: EventLoop
          private let subject = PassthroughSubject<Int, Never>()
          private var seen: [Int] = []
          private var subscription: AnyCancellable?
          nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

          init(on loop: EventLoop) { self.loop = loop }

          func listen() {
            subscription = subject.map { $0 + 1 }.sink { [unowned self] value in
              assumeIsolated { $0.seen.append(value) }
            }
          }

          func send(_ value: Int) { subject.send(value) }
        }
        """),
    Snippet(
      testDescription: "values that cross isolation",
      code: """
        @MainActor func first(of subject: CurrentValueSubject<Int, Never>) async -> Int? {
          let values = subject.values
          return await Task.detached {
            for await value in values { return value }
            return nil
          }.value
        }

        actor Source {
          private let subject = PassthroughSubject<Int, any Error>()
          var numbers: AsyncThrowingPublisher<AnyPublisher<Int, any Error>> { subject.eraseToAnyPublisher().values }
        }
        @MainActor func total(_ source: Source) async throws -> Int {
          var total = 0
          for try await number in await source.numbers { total += number }
          return total
        }
        """),
    Snippet(
      testDescription: "a stream built on its loop by whoever gets onto it",
      code: """
        func listen(on loop: EventLoop) {
          loop.execute {
            let subject = PassthroughSubject<Int, Never>()
            let subscription = subject.sink { print($0) }
            subject.send(1)
            subscription.cancel()
          }
        }
        """),
  ]
}
