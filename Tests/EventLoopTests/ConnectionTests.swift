import FeedStream
import Foundation
import TestSupport
import Testing

@Suite(.settled, .timeLimit(.minutes(5))) struct ConnectionTests {
  private let loop = EventLoop()

  private func listener() throws -> Listener { try Listener(at: .internet("127.0.0.1", port: 0), on: loop) }

  @Test func `an echo server is one chain`() throws {
    let listener = try listener()
    let server = listener.connections
      .flatMap { $0.bytes.write(to: $0).catch { _ in Empty<Never, Never>() } }
      .sink { _ in }
    var lines: [String] = []
    let client = Connection.connect(to: listener.address, on: loop)
      .eraseFailureType()
      .flatMap { connection in
        let sent = ["hello\nwor", "ld\n"].map { Chunk($0) }.publisher
          .write(to: connection, atEnd: .endsWriting)
          .eraseFailureType().map { (_: Never) -> String in }
        return connection.bytes.lines().merge(with: sent)
      }
      .sink { completion in
        if case .failure(let error) = completion { Issue.record(error) }
        listener.close()
      } receiveValue: {
        lines.append($0)
      }
    loop.run()
    #expect(lines == ["hello", "world"])
    for subscription in [server, client] { subscription.cancel() }
  }

  @Test func `a listener keeps the loop running while its connections have a subscriber`() throws {
    let listener = try listener()
    loop.run()
    let server = listener.connections.sink { _ in }
    loop.schedule(after: loop.now.advanced(by: .milliseconds(20))) { server.cancel() }
    loop.run()
    #expect(!listener.isClosed)
    listener.close()
  }

  @Test func `a loop that closes while a stream connects doesn't let the stream try again`() {
    let outcome = Outcome(Connection.connect(to: .internet("127.0.0.1", port: 1), on: loop).retry(1))
    loop.close()
    #expect(outcome.values.isEmpty && outcome.completion == nil)
  }

  @Test func `listeners that share a port divide all connections among them`() throws {
    let first = try Listener(at: .internet("127.0.0.1", port: 0), sharingPort: true, on: loop)
    let second = try Listener(at: first.address, sharingPort: true, on: loop)
    #expect(second.address == first.address)
    #expect(throws: SystemError("listen on", "\(first.address)", code: 98)) {
      try Listener(at: first.address, on: loop)
    }
    #expect(throws: SystemError("listen on", "/tmp/x", code: 95)) {
      try Listener(at: .unix("/tmp/x"), sharingPort: true, on: loop)
    }
    var counts = [0, 0]
    var kept: [Connection] = []
    let servers = [first, second].enumerated().map { index, listener in
      listener.connections.sink {
        counts[index] += 1
        kept.append($0)
      }
    }
    var clients: [AnyCancellable] = []
    for _ in 0..<64 {
      clients.append(
        Connection.connect(to: first.address, on: loop).sink { _ in
        } receiveValue: {
          kept.append($0)
        })
    }
    loop.run { kept.count == 128 }
    #expect(counts[0] + counts[1] == 64 && counts[0] > 0 && counts[1] > 0, "\(counts)")
    for connection in kept { connection.close() }
    for listener in [first, second] { listener.close() }
    for subscription in servers { subscription.cancel() }
    loop.run()
  }

  @Test func `a connection reads nothing without demand, and the writer waits`() throws {
    let listener = try listener()
    var connection: Connection?
    let server = listener.connections.prefix(1).sink { connection = $0 }
    var written = 0
    let block = Chunk(repeatElement(7, count: 64 * 1024))
    let client = Connection.connect(to: listener.address, on: loop)
      .eraseFailureType()
      .flatMap {
        repeatElement(block, count: 16 * 1024).publisher.handleEvents(receiveOutput: { written += $0.count })
          .write(to: $0).eraseFailureType()
      }
      .sink { _ in
      } receiveValue: { _ in
      }
    loop.run { connection != nil && written > 0 }
    loop.run(for: .milliseconds(300))
    // The system's buffers and the waiting bytes: far less than the available gigabyte.
    #expect(written > 0 && written < 32 * 1024 * 1024)

    let before = written
    var read = 0
    let reader = connection?.bytes.sink { _ in
    } receiveValue: {
      read += $0.count
    }
    loop.run { read > before && written > before }
    #expect(read > before && written > before)
    for subscription in [server, client, reader] { subscription?.cancel() }
    listener.close()
    connection?.close()
    loop.run()
  }

  @Test func `a listener accepts a connection only when one is requested`() throws {
    let listener = try listener()
    var subscription: (any Subscription)?
    var accepted = 0
    listener.connections.subscribe(
      AnySubscriber(
        receiveSubscription: {
          subscription = $0
          $0.request(.max(1))
        },
        receiveValue: { _ in
          accepted += 1
          return .none
        }))
    var connected = 0
    let clients = (0..<3).map { _ in
      Connection.connect(to: listener.address, on: loop).sink { _ in
      } receiveValue: { _ in
        connected += 1
      }
    }
    let pause = LoopTimer(on: loop) { [loop] in loop.stop() }
    pause.start(after: .milliseconds(100))
    loop.run()
    #expect((connected, accepted) == (3, 1))
    subscription?.request(.max(2))
    pause.start(after: .milliseconds(100))
    loop.run()
    #expect(accepted == 3)
    pause.close()
    listener.close()
    for client in clients { client.cancel() }
    loop.run()
  }

  #if os(Linux)
    @Test func `after ignoreNewConnections, a listener accepts only established connections`() throws {
      let listener = try listener()
      var accepted: [Connection] = []
      var results: [String] = []
      func connect(_ name: String) -> AnyCancellable {
        Connection.connect(to: listener.address, on: loop).sink { _ in
        } receiveValue: {
          results.append(name)
          accepted.append($0)
        }
      }
      let early = connect("early")
      loop.schedule(after: loop.now.advanced(by: .milliseconds(50))) { [loop] in loop.stop() }
      loop.run(.untilStopped)
      #expect(results == ["early"])
      #expect(listener.ignoreNewConnections())
      let late = connect("late")
      let server = listener.connections.sink {
        results.append("accepted")
        accepted.append($0)
      }
      loop.schedule(after: loop.now.advanced(by: .milliseconds(50))) { [loop] in loop.stop() }
      loop.run(.untilStopped)
      // The system repeats the attempt after a second.
      #expect(results == ["early", "accepted"])
      for connection in accepted { connection.close() }
      for subscription in [early, late, server] { subscription.cancel() }
      listener.close()
      #expect(!listener.ignoreNewConnections())
      loop.run()
    }

    @Test func `a Unix socket's listener can't ignore new connections`() throws {
      let path = "/tmp/feedstream-\(UInt64.random(in: 0 ... .max))"
      let listener = try Listener(at: .unix(path), on: loop)
      #expect(!listener.ignoreNewConnections())
      listener.close()
      loop.run()
    }
  #endif

  @Test func `errors state the operation, its subject and the reason`() throws {
    let listener = try listener()
    let address = listener.address
    #expect(throws: SystemError.self) { try Listener(at: address, on: loop) }
    #expect(throws: SystemError.self) { try Listener(at: .internet("not an address", port: 1), on: loop) }
    #expect(throws: SystemError.self) { try Listener(at: .internet("127.0.0.1", port: 70_000), on: loop) }
    listener.close()
    // Only privileged programs may listen on port 1. The listener's own port may have been taken by another test.
    let outcome = Outcome(Connection.connect(to: .internet("127.0.0.1", port: 1), on: loop))
    loop.run()
    #expect(
      outcome.error.map { "\($0)" } == "cannot connect to 127.0.0.1:1: connection refused (ECONNREFUSED)")
  }

  @Test(arguments: [
    (SocketAddress.unix(""), "EINVAL"), (.unix("/tmp/a\0b"), "EINVAL"),
    (.unix("/tmp/" + String(repeating: "n", count: 103)), "ENAMETOOLONG"),
    (.internet("127.0.0.1\0", port: 80), "EINVAL"),
    (.internet("::1\0x", port: 80), "EINVAL"), (.internet("", port: 80), "EINVAL"),
    (.internet("127.0.0.1", port: -1), "EINVAL"), (.internet("127.0.0.1:80", port: 80), "EINVAL"),
  ])
  func `an invalid socket address is refused, not truncated`(_ address: SocketAddress, _ reason: String) {
    let failure = #expect(throws: SystemError.self) { try Listener(at: address, on: loop) }
    #expect(failure == SystemError("listen on", "\(address)", code: failure?.code ?? 0))
    #expect(failure?.name == reason)
    let outcome = Outcome(Connection.connect(to: address, on: loop))
    loop.run()
    #expect(outcome.error?.subject == "\(address)" && outcome.error?.name == reason)
  }

  @Test func `listening at a path in a missing folder fails because the folder is missing`() {
    let place = SocketAddress.unix("/tmp/\(UInt64.random(in: 0...UInt64.max))/socket")
    #expect(throws: SystemError("listen on", "\(place)", code: ENOENT)) { try Listener(at: place, on: loop) }
    loop.run()
  }

  @Test func `a Unix socket works with the longest possible path`() throws {
    let name = String(UInt64.random(in: 0...UInt64.max), radix: 36)
    let path = "/tmp/" + name.padding(toLength: 102, withPad: "n", startingAt: 0)
    let listener = try Listener(at: .unix(path), on: loop)
    #expect(FileManager.default.fileExists(atPath: path))
    let outcome = Outcome(Connection.connect(to: .unix(path), on: loop))
    loop.run { outcome.completion != nil }
    #expect(outcome.values.count == 1)
    outcome.values = []
    listener.close()
    loop.run()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `a connection can be closed after one of its two writers was cancelled`() throws {
    let listener = try listener()
    var other: Connection?
    let accepting = listener.connections.prefix(1).sink { other = $0 }
    let block = Chunk(repeatElement(120, count: 16 << 20))
    var writers: [AnyCancellable] = []
    var isOver = false
    let client = Connection.connect(to: listener.address, on: loop)
      .sink { _ in
      } receiveValue: { [loop] connection in
        // Write more than the system accepts, so that both writes are in progress.
        for _ in 0..<2 {
          writers.append(
            Just(block).write(to: connection).sink { _ in
            } receiveValue: { _ in
            })
          writers.last?.cancel()
        }
        writers.append(
          Just(block).write(to: connection).sink { _ in
          } receiveValue: { _ in
          })
        loop.schedule {
          connection.close()
          isOver = true
        }
      }
    loop.run { isOver }
    writers = []
    listener.close()
    other?.close()
    for subscription in [accepting, client] { subscription.cancel() }
    loop.run()
  }

  @Test func `writing to a closed connection fails with the unwritten chunks`() throws {
    let listener = try listener()
    var outcome: Outcome<Never, WriteError>?
    var other: Connection?
    let accepting = listener.connections.prefix(1).sink { other = $0 }
    let block = Chunk(repeatElement(120, count: 1 << 20))
    let client = Connection.connect(to: listener.address, on: loop)
      .sink { _ in
      } receiveValue: { [loop] connection in
        outcome = Outcome(repeatElement(block, count: 1 << 20).publisher.write(to: connection))
        loop.schedule { connection.close() }
      }
    loop.run { outcome?.completion != nil }
    #expect((outcome?.error?.cause as? SystemError)?.name == "ECANCELED")
    #expect(outcome?.error?.unwritten.isEmpty == false)
    // The same without bytes, while no write is in progress.
    var idle: Outcome<Never, WriteError>?
    let second = Connection.connect(to: listener.address, on: loop)
      .sink { _ in
      } receiveValue: { connection in
        idle = Outcome(PassthroughSubject<Chunk, Never>().write(to: connection))
        connection.close()
      }
    loop.run { idle?.completion != nil }
    #expect((idle?.error?.cause as? SystemError)?.name == "ECANCELED")
    #expect(idle?.error?.unwritten.isEmpty == true)
    listener.close()
    other?.close()
    for subscription in [accepting, client, second] { subscription.cancel() }
    loop.run()
  }

  @Test func `a connection has one reader at a time, and closes when it is released`() throws {
    let listener = try listener()
    var ended = false
    let server = listener.connections.flatMap { $0.bytes.catch { _ in Empty() } }.prefix(1)
      .sink { _ in
        ended = true
      } receiveValue: { _ in
      }
    var error: SystemError?
    let client = Connection.connect(to: listener.address, on: loop)
      .sink { _ in
      } receiveValue: { connection in
        let first = connection.bytes.sink { _ in
        } receiveValue: { _ in
        }
        let second = connection.bytes
          .sink {
            if case .failure(let failure) = $0 { error = failure }
          } receiveValue: { _ in
          }
        for subscription in [first, second] { subscription.cancel() }
        let written = Just(Chunk("x")).write(to: connection).sink { _ in
        } receiveValue: { _ in
        }
        written.cancel()
        listener.close()
      }
    loop.run()
    #expect(error?.name == "EBUSY")
    #expect(ended)
    for subscription in [server, client] { subscription.cancel() }
  }

  @Test func `connections over a Unix socket work`() throws {
    let path = "/tmp/feedstream-\(UInt32.random(in: 0...UInt32.max)).socket"
    let listener = try Listener(at: .unix(path), on: loop)
    var text = ""
    let server = listener.connections
      .flatMap { Just(Chunk("hi")).write(to: $0, atEnd: .closes).catch { _ in Empty<Never, Never>() } }
      .sink { _ in }
    let client = Connection.connect(to: .unix(path), on: loop).flatMap { $0.bytes }.utf8Text()
      .sink { _ in
        listener.close()
      } receiveValue: {
        text += $0
      }
    loop.run()
    #expect(text == "hi")
    for subscription in [server, client] { subscription.cancel() }
  }

  @Test func `each publisher that ends writing completes, even while an earlier one still waits`() throws {
    let listener = try listener()
    let server = Outcome(listener.connections.prefix(1))
    let client = Outcome(Connection.connect(to: listener.address, on: loop))
    loop.run { !server.values.isEmpty && !client.values.isEmpty }
    let (near, far) = (client.values[0], server.values[0])
    let count = 16 << 20
    let first = Outcome(Just(Chunk(repeatElement(1, count: count))).write(to: near))
    first.cancel()
    let second = Outcome(Empty<Chunk, Never>().write(to: near, atEnd: .endsWriting))
    second.cancel()
    let third = Outcome(Empty<Chunk, Never>().write(to: near, atEnd: .endsWriting))
    let all = Outcome(far.bytes)
    loop.run { all.isFinished && third.completion != nil }
    #expect(all.values.reduce(0) { $0 + $1.count } == count)
    #expect(third.isFinished)
    for connection in [near, far] { connection.close() }
    listener.close()
    loop.run()
  }

  @Test func `a listener that closes leaves another listener's socket at its path`() throws {
    let folder = TemporaryFolder()
    let old = try Listener(at: .unix(folder("socket")), on: loop)
    try FileManager.default.removeItem(atPath: folder("socket"))
    let new = try Listener(at: .unix(folder("socket")), on: loop)
    old.close()
    loop.run()
    #expect(folder.names == ["socket"])
    new.close()
    loop.run()
    #expect(folder.names.isEmpty)
  }

  @Test func `a closed listener refuses connections, even if another process has a copy of its socket`() throws {
    let listener = try listener()
    let port = try #require(listener.address.port)
    let socket = try #require((0..<1024).first { localPort(of: $0) == port })
    // A program that is being started has such a copy for a moment.
    let copy = dup(socket)
    defer { close(copy) }
    listener.close()
    let outcome = Outcome(Connection.connect(to: listener.address, on: loop))
    loop.run()
    #expect((outcome.error as? SystemError)?.name == "ECONNREFUSED")
  }

  private func localPort(of descriptor: Int32) -> Int? {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    return code == 0 && address.sin_family == AF_INET ? Int(UInt16(bigEndian: address.sin_port)) : nil
  }
}
