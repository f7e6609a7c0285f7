import FeedStream
import Foundation
import TestSupport
import Testing

/// The rules of streams, for publishers that use the operating system, on a real loop: with every kind of demand,
/// cancelled at every point, and with nothing left that keeps the loop running.
@Suite(.settled, .timeLimit(.minutes(5))) struct RealLoopRuleTests {
  @Test(arguments: RealRow.all) func `each system stream keeps the rules on a real loop`(_ row: RealRow) throws {
    for cancelAt in [nil, 0, 1] as [Int?] {
      for demand in [0, 1, 2, Int.max] {
        try row.check(demand: demand, oneByOne: false, cancelAt: cancelAt)
        if demand > 1 { try row.check(demand: demand, oneByOne: true, cancelAt: cancelAt) }
      }
    }
  }

  @Test func `the check reports streams that break the rules`() throws {
    let greedy = RealRow("greedy", []) { _, _ in Greedy().eraseToAnyPublisher() }
    withKnownIssue { try greedy.check(demand: 1, oneByOne: false, cancelAt: nil) }
    let leaving = RealRow("leaving", .isEndless) { loop, _ in
      // This timer is closed only with the loop, which is too late.
      let timer = LoopTimer(on: loop) {}
      timer.start(after: .seconds(20))
      return Empty<Any, any Error>(completeImmediately: false)
        .handleEvents(receiveSubscription: { _ in leftOpen = timer }).eraseToAnyPublisher()
    }
    withKnownIssue { try leaving.check(demand: 1, oneByOne: false, cancelAt: 0, patience: 0.2) }
    leftOpen = nil
  }
}

// Safe, because only one test uses it.
nonisolated(unsafe) private var leftOpen: AnyObject?

/// Delivers more than is requested.
private struct Greedy: Publisher {
  typealias Output = Any
  typealias Failure = any Error

  func receive<S: Subscriber>(subscriber: S) where S.Input == Any, S.Failure == any Error {
    subscriber.receive(subscription: Subscriptions.empty)
    for value in 0..<3 { _ = subscriber.receive(value) }
    subscriber.receive(completion: .finished)
  }
}

/// A publisher that is created again for each run.
struct RealRow: CustomTestStringConvertible, Sendable {
  struct Traits: OptionSet, Sendable {
    let rawValue: Int
    static let isEndless = Traits(rawValue: 1)
    static let fails = Traits(rawValue: 2)
  }

  let testDescription: String
  let traits: Traits
  let make: @Sendable (EventLoop, TemporaryFolder) throws -> AnyPublisher<Any, any Error>

  init(
    _ name: String, _ traits: Traits,
    _ make: @escaping @Sendable (EventLoop, TemporaryFolder) throws -> AnyPublisher<Any, any Error>
  ) {
    testDescription = name
    self.traits = traits
    self.make = make
  }

  /// - Parameters:
  ///   - demand: the total number of values to request; `Int.max` for unlimited demand.
  ///   - oneByOne: true to request one value at a time.
  ///   - cancelAt: cancels after this many values.
  ///   - patience: the number of seconds within which the loop must become idle.
  func check(demand: Int, oneByOne: Bool, cancelAt: Int?, patience: Double = 5) throws {
    let loop = EventLoop()
    let folder = TemporaryFolder()
    let subscriber = StrictSubscriber(loop, demand: demand, oneByOne: oneByOne, cancelAt: cancelAt)
    try make(loop, folder).subscribe(subscriber)
    // Only a stream from which everything is requested has to complete.
    let waits = traits.contains(.isEndless) || demand != .max || cancelAt != nil
    // Give a stream that doesn't complete by itself time to misbehave.
    let pause = LoopTimer(on: loop) { loop.stop() }
    pause.start(after: waits ? .milliseconds(10) : .seconds(5))
    subscriber.onEnding = { loop.stop() }
    loop.run(.untilStopped)
    pause.close()
    let way = oneByOne ? "one by one" : "in one request"
    let context = "\(testDescription), demand \(demand), \(way), cancelled at \(cancelAt as Any)"
    if !waits {
      #expect(subscriber.isOver, "it did not end: \(context)")
      let failure = subscriber.failure
      #expect((failure != nil) == traits.contains(.fails), "it ended with \(failure as Any): \(context)")
    }
    subscriber.cancel()
    let isIdle = runsDry(loop, within: patience)
    #expect(isIdle, "it keeps the loop running: \(context)")
    #expect(subscriber.violations == [], "\(context)")
    loop.close()
  }

  /// Runs until nothing keeps the loop running.
  ///
  /// - Returns: false if the loop had to be stopped.
  private func runsDry(_ loop: EventLoop, within patience: Double) -> Bool {
    let start = loop.now
    let stop = DispatchWorkItem { loop.stop() }
    DispatchQueue.global().asyncAfter(deadline: .now() + patience, execute: stop)
    loop.run(.untilIdle)
    stop.cancel()
    return start.distance(to: loop.now).seconds < patience
  }
}

/// A subscriber that counts its demand, and records violations of the rules.
private final class StrictSubscriber: Subscriber {
  typealias Input = Any
  typealias Failure = any Error

  private let loop: EventLoop
  /// The loop's thread: the test runs the loop.
  private let thread = Thread.current
  private let limit: Int
  private let oneByOne: Bool
  private let cancelAt: Int?
  private var subscription: (any Subscription)?
  private var asked = 0
  private var received = 0
  private var isCancelled = false
  private(set) var isOver = false
  private(set) var failure: (any Error)?
  private(set) var violations: Set<String> = []
  var onEnding: (() -> Void)?

  init(_ loop: EventLoop, demand: Int, oneByOne: Bool, cancelAt: Int?) {
    self.loop = loop
    limit = demand
    self.oneByOne = oneByOne
    self.cancelAt = cancelAt
  }

  private func expect(_ isRight: Bool, _ rule: String) { if !isRight { violations.insert(rule) } }

  func receive(subscription: any Subscription) {
    expect(self.subscription == nil, "two subscriptions")
    self.subscription = subscription
    if cancelAt == 0 { return cancel() }
    guard limit > 0 else { return }
    if oneByOne { ask() } else { ask(limit) }
  }

  private func ask(_ count: Int = 1) {
    asked = count == .max ? .max : asked + count
    subscription?.request(count == .max ? .unlimited : .max(count))
  }

  func receive(_ input: Any) -> Subscribers.Demand {
    expect(Thread.current == thread, "a value on another thread")
    expect(subscription != nil, "a value before the subscription")
    expect(!isOver, "a value after the ending")
    expect(!isCancelled, "a value after cancel()")
    received += 1
    expect(received <= asked, "a value that was not asked for")
    if received == cancelAt {
      cancel()
      return .none
    }
    guard oneByOne, asked < limit else { return .none }
    // Alternate between returning demand and requesting it later.
    if received % 2 == 0 {
      asked += 1
      return .max(1)
    }
    loop.schedule { [self] in if !isCancelled, !isOver { ask() } }
    return .none
  }

  func receive(completion: Subscribers.Completion<any Error>) {
    expect(Thread.current == thread, "an ending on another thread")
    expect(subscription != nil, "an ending before the subscription")
    expect(!isOver, "two endings")
    expect(!isCancelled, "an ending after cancel()")
    isOver = true
    subscription = nil
    if case .failure(let error) = completion { failure = error }
    onEnding?()
  }

  func cancel() {
    isCancelled = true
    let subscription = self.subscription
    self.subscription = nil
    subscription?.cancel()
    // A later event must not be reported as missing a subscription.
    self.subscription = isOver ? nil : Subscriptions.empty
  }
}

extension Publisher {
  fileprivate func erased() -> AnyPublisher<Any, any Error> {
    map { $0 as Any }.mapError { $0 as any Error }.eraseToAnyPublisher()
  }
}

extension RealRow {
  private static let lines = (0..<4).map { Chunk("\($0)\n") }

  /// A connection whose other side reads everything, and sends four lines.
  private static func connected(_ loop: EventLoop) throws -> AnyPublisher<Connection, any Error> {
    let listener = try Listener(at: .internet("127.0.0.1", port: 0), on: loop)
    // No code retains this stream: it ends with its connection, or with the listener.
    listener.connections.prefix(1)
      .flatMap { connection in
        lines.publisher.write(to: connection, atEnd: .endsWriting).map { (_: Never) -> Chunk in }
          .mapError { $0 as any Error }
          .merge(with: connection.bytes.mapError { $0 as any Error })
          .catch { _ in Empty<Chunk, Never>() }
      }
      .subscribe(Subscribers.Sink(receiveCompletion: { _ in }, receiveValue: { _ in }))
    return Connection.connect(to: listener.address, on: loop).mapError { $0 as any Error }
      .handleEvents(
        receiveOutput: { _ in loop.schedule { listener.close() } }, receiveCancel: { listener.close() }
      )
      .eraseToAnyPublisher()
  }

  static let all: [RealRow] = [
    RealRow("File.bytes", []) { loop, folder in
      folder.write("abcde", to: "f")
      return File(folder("f")).bytes(chunkSize: 2, on: loop).erased()
    },
    RealRow("File.bytes of no file", .fails) { loop, folder in File(folder("none")).bytes(on: loop).erased() },
    RealRow("lines of a file", []) { loop, folder in
      folder.write("a\nb\nc", to: "f")
      return File(folder("f")).bytes(chunkSize: 2, on: loop).lines().erased()
    },
    RealRow("File.following", .isEndless) { loop, folder in
      folder.write("abcde", to: "f")
      return File(folder("f")).following(from: .beginning, chunkSize: 2, on: loop).erased()
    },
    RealRow("write to a file", []) { loop, folder in
      lines.publisher.write(to: File(folder("f")), .atomically, limit: 1, on: loop).erased()
    },
    RealRow("Folder.entries", []) { loop, folder in
      for name in ["a", "b", "c"] { folder.write("", to: name) }
      return Folder(folder.path).entries(recursively: true, on: loop).erased()
    },
    RealRow("Folder.changes", .isEndless) { loop, folder in
      loop.schedule { for name in ["a", "b", "c"] { folder.write("", to: name) } }
      return Folder(folder.path).changes(on: loop).erased()
    },
    RealRow("Connection.bytes", []) { loop, _ in
      try connected(loop).flatMap { $0.bytes.lines().mapError { $0 as any Error } }.erased()
    },
    RealRow("write to a connection", []) { loop, _ in
      try connected(loop).flatMap {
        lines.publisher.write(to: $0, limit: 1, atEnd: .closes).mapError { $0 as any Error }
      }.erased()
    },
    RealRow("Listener.connections", .isEndless) { loop, _ in
      let listener = try Listener(at: .internet("127.0.0.1", port: 0), on: loop)
      let clients = (0..<3).map { _ in
        Connection.connect(to: listener.address, on: loop).sink { _ in
        } receiveValue: { _ in
        }
      }
      return listener.connections
        .handleEvents(receiveCancel: { for client in clients { client.cancel() } }).erased()
    },
    RealRow("Connection.connect to nobody", .fails) { loop, folder in
      Connection.connect(to: .unix(folder("none")), on: loop).erased()
    },
    RealRow("Connection.connect by name", .fails) { loop, _ in Connection.connect(to: "localhost:1", on: loop).erased()
    },
    RealRow("SocketAddress.lookUp", []) { loop, _ in SocketAddress.lookUp("localhost", port: 80, on: loop).erased() },
    RealRow("Subprocess.output", []) { loop, _ in Subprocess("echo", ["a"]).output(on: loop).erased() },
    RealRow("Subprocess.output of what fails", .fails) { loop, _ in Subprocess("false").output(on: loop).erased() },
    RealRow("pipe(through:)", []) { loop, _ in lines.publisher.pipe(through: Subprocess("cat"), on: loop).erased() },
    RealRow("Signals.received", .isEndless) { loop, _ in Signals.received(SIGUSR1, on: loop).erased() },
    RealRow("RandomBytes.chunks", []) { loop, _ in RandomBytes.chunks(of: 4, on: loop).prefix(3).erased() },
    RealRow("DatagramSocket.datagrams", .isEndless) { loop, _ in
      let socket = try DatagramSocket(at: .internet("127.0.0.1", port: 0), on: loop)
      let sending = lines.publisher.map { Datagram($0, to: socket.address) }.write(to: socket)
        .sink { _ in
        } receiveValue: { _ in
        }
      return socket.datagrams
        .handleEvents(receiveCancel: { sending.cancel() }).erased()
    },
    RealRow("write to a datagram socket", []) { loop, _ in
      let socket = try DatagramSocket(at: .internet("127.0.0.1", port: 0), on: loop)
      return lines.publisher.map { Datagram($0, to: socket.address) }.write(to: socket).erased()
    },
  ]
}
