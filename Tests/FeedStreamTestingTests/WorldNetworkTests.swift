import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct WorldNetworkTests {
  private let place = SocketAddress.internet("10.0.0.1", port: 80)

  /// The events, with the milliseconds of virtual time.
  private final class Log {
    var entries: [String] = []
    private let time: VirtualTimeScheduler
    init(_ time: VirtualTimeScheduler) { self.time = time }
    func note(_ text: String) { entries.append("\(time.now.nanoseconds / 1_000_000): \(text)") }
  }

  /// Connects; the test retains both ends of the connection.
  private func pair(
    _ time: VirtualTimeScheduler, at place: SocketAddress? = nil
  ) throws -> (client: Connection, server: Connection) {
    let place = place ?? self.place
    let listener = try Listener(at: place, on: time)
    var (client, server): (Connection?, Connection?)
    let accepting = listener.connections.sink { server = $0 }
    let connecting = Connection.connect(to: place, on: time).sink { _ in
    } receiveValue: {
      client = $0
    }
    time.run()
    for subscription in [accepting, connecting] { subscription.cancel() }
    listener.close()
    return (try #require(client), try #require(server))
  }

  private func read(_ connection: Connection, _ log: Log) -> AnyCancellable {
    connection.bytes.sink {
      if case .failure(let error) = $0 { log.note(error.name) } else { log.note("end") }
    } receiveValue: {
      log.note($0.text)
    }
  }

  private func write(
    _ chunks: [Chunk], to connection: Connection, _ log: Log, atEnd ending: WriteEnding = .leavesOpen
  ) -> AnyCancellable {
    chunks.publisher.write(to: connection, atEnd: ending).sink {
      if case .failure(let error) = $0 {
        log.note("\((error.cause as? SystemError)?.name ?? "?"), unwritten \(Chunk(joining: error.unwritten).text)")
      } else {
        log.note("written")
      }
    } receiveValue: { _ in
    }
  }

  @Test func `the echo server runs in virtual time, with latency`() throws {
    try withVirtualTime { time in
      time.network.link.latency = .milliseconds(10)
      let log = Log(time)
      let listener = try Listener(at: place, on: time)
      let server = listener.connections
        .flatMap { $0.bytes.write(to: $0, atEnd: .closes).catch { _ in Empty<Never, Never>() } }
        .sink { _ in }
      let client = Connection.connect(to: place, on: time)
        .flatMap { connection in
          connection.bytes.merge(
            with: Just(Chunk("hello")).write(to: connection, atEnd: .endsWriting)
              .mapError { $0.cause as! SystemError }.map { (_: Never) -> Chunk in })
        }
        .sink { _ in
          log.note("end")
        } receiveValue: {
          log.note($0.text)
        }
      time.run()
      #expect(log.entries == ["40: hello", "40: end"])
      for subscription in [server, client] { subscription.cancel() }
      listener.close()
    }
  }

  @Test func `a connection has a limited rate`() throws {
    try withVirtualTime { time in
      time.network.link.bytesPerSecond = 1_000
      time.network.link.segment = 100
      let (client, server) = try pair(time)
      let log = Log(time)
      let streams = [
        server.bytes.sink { _ in
        } receiveValue: {
          log.note("\($0.count)")
        }, write([Chunk(repeatElement(1, count: 250))], to: client, log),
      ]
      time.run()
      #expect(log.entries == ["0: written", "100: 100", "200: 100", "250: 50"])
      for stream in streams { stream.cancel() }
      client.close()
      server.close()
      time.run()
    }
  }

  @Test func `a writer waits when the buffers are full`() throws {
    try withVirtualTime { time in
      time.network.link.buffer = 4
      let (client, server) = try pair(time)
      let log = Log(time)
      let writing = write(["abcdefgh", "ijkl"], to: client, log)
      time.run()
      #expect(log.entries == [])
      var subscription: (any Subscription)?
      server.bytes.subscribe(
        AnySubscriber(
          receiveSubscription: { subscription = $0 },
          receiveValue: {
            log.note($0.text)
            return .none
          }))
      subscription?.request(.max(1))
      time.run()
      #expect(log.entries == ["0: abcd"])
      subscription?.request(.max(2))
      time.run()
      #expect(log.entries == ["0: abcd", "0: efgh", "0: ijkl", "0: written"])
      subscription?.cancel()
      writing.cancel()
      client.close()
      server.close()
      time.run()
    }
  }

  // With an array in place of a queue, this takes many minutes.
  @Test(.timeLimit(.minutes(2))) func `the time to carry a byte doesn't grow with the number of bytes in transit`()
    throws
  {
    try withVirtualTime { time in
      time.network.link.segment = 1
      time.network.link.buffer = 1 << 19
      let (client, server) = try pair(time)
      var count = 0
      let streams = [
        server.bytes.sink(receiveCompletion: { _ in }, receiveValue: { count += $0.count }),
        write([Chunk(repeatElement(1, count: 1 << 19))], to: client, Log(time)),
      ]
      time.run()
      #expect(count == 1 << 19)
      for stream in streams { stream.cancel() }
      client.close()
      server.close()
      time.run()
    }
  }

  @Test func `a side that has closed its output still reads`() throws {
    try withVirtualTime { time in
      let (client, server) = try pair(time)
      let log = Log(time)
      var streams = [read(server, log), write(["question"], to: client, log, atEnd: .endsWriting)]
      time.run()
      #expect(log.entries.contains("0: end"))
      streams += [read(client, log), write(["answer"], to: server, log, atEnd: .closes)]
      time.run()
      #expect(log.entries.suffix(3).contains("0: answer"))
      #expect(log.entries.last == "0: end")
      for stream in streams { stream.cancel() }
      client.close()
      time.run()
    }
  }

  @Test(arguments: 0...6) func `a connection can be lost at any byte`(_ count: Int) throws {
    try withVirtualTime { time in
      time.network.link.lostAfterBytesUp = count
      time.network.link.segment = 2
      let (client, server) = try pair(time)
      var (text, error): (String, SystemError?) = ("", nil)
      let log = Log(time)
      let reading = server.bytes.sink {
        if case .failure(let failure) = $0 { error = failure }
      } receiveValue: {
        text += $0.text
      }
      let streams = [reading, read(client, log), write(["abcdef"], to: client, log)]
      time.run()
      #expect(text == "abcdef".prefix(count))
      #expect(error?.name == "ECONNRESET")
      #expect(log.entries.contains("0: ECONNRESET"))
      for stream in streams { stream.cancel() }
      for connection in [client, server] { connection.close() }
      time.run()
    }
  }

  @Test func `writing to a closed connection fails, with the unsent chunks`() throws {
    try withVirtualTime { time in
      time.network.link.buffer = 2
      let (client, server) = try pair(time)
      let log = Log(time)
      let writing = write(["abc", "def"], to: client, log)
      time.run()
      server.close()
      time.run()
      #expect(log.entries == ["0: EPIPE, unwritten abcdef"])
      writing.cancel()
      client.close()
      time.run()
    }
  }

  @Test(arguments: [false, true]) func `a cancelled write completes before the next one, which has its own end`(
    _ isAccepted: Bool
  ) throws {
    try withVirtualTime { time in
      time.network.link.buffer = 4
      let (client, server) = try pair(time)
      let log = Log(time)
      // The bytes of the first write either wait, or were accepted in this turn.
      let begin: Chunk = isAccepted ? "ab" : "abcdef"
      write([begin], to: client, log).cancel()
      let next = write(["ghijkl"], to: client, log, atEnd: .closes)
      time.run()
      #expect(log.entries == [])
      var text = ""
      let reading = server.bytes.sink { _ in
      } receiveValue: {
        text += $0.text
      }
      time.run()
      #expect(text == begin.text + "ghijkl" && log.entries == ["0: written"])
      for subscription in [next, reading] { subscription.cancel() }
      server.close()
      time.run()
    }
  }

  @Test func `after the end of writing, a write fails, and ending again finishes, even if the peer is gone`() throws {
    try withVirtualTime { time in
      let (client, server) = try pair(time)
      let log = Log(time)
      var writing = [write(["question"], to: client, log, atEnd: .endsWriting)]
      time.run()
      writing.append(write(["late"], to: client, log))
      time.run()
      writing.append(write([], to: client, log, atEnd: .endsWriting))
      time.run()
      #expect(log.entries == ["0: written", "0: EPIPE, unwritten late", "0: written"])
      client.close()
      time.run()
      writing.append(write([], to: server, log, atEnd: .endsWriting))
      time.run()
      #expect(log.entries.count == 4 && log.entries.last == "0: written")
      for subscription in writing { subscription.cancel() }
      server.close()
      time.run()
    }
  }

  @Test func `an end of writing after a cancelled write whose report is still due finishes`() throws {
    try withVirtualTime { time in
      let (client, server) = try pair(time)
      let log = Log(time)
      write(["a"], to: client, log).cancel()
      let ending = write([], to: client, log, atEnd: .endsWriting)
      time.run()
      #expect(log.entries == ["0: written"])
      ending.cancel()
      for connection in [client, server] { connection.close() }
      time.run()
    }
  }

  @Test func `closing with unread bytes resets the connection, and what it has sent is lost`() throws {
    try withVirtualTime { time in
      time.network.link.latency = .milliseconds(10)
      let (client, server) = try pair(time)
      let log = Log(time)
      let question = write(["unread"], to: client, log)
      time.run()
      let streams = [question, read(client, log), write(["response"], to: server, log, atEnd: .closes)]
      time.run()
      // Closing takes as long to be noticed as a byte.
      let closed = (time.now.nanoseconds / 1_000_000) - 10
      #expect(log.entries.dropFirst() == ["\(closed): written", "\(closed + 10): ECONNRESET"])
      for stream in streams { stream.cancel() }
      client.close()
      time.run()
    }
  }

  @Test(arguments: [false, true]) func `breaking a connection off resets it, except over a Unix socket`(
    _ isUnix: Bool
  ) throws {
    try withVirtualTime { time in
      let (client, server) = try pair(time, at: isUnix ? .unix("/run/place") : nil)
      let log = Log(time)
      let reading = read(client, log)
      time.run()
      server.channel.breakOffAtClose()
      server.close()
      time.run()
      #expect(log.entries == [isUnix ? "0: end" : "0: ECONNRESET"])
      reading.cancel()
      client.close()
      time.run()
    }
  }

  @Test(arguments: [false, true])
  func `a listener that closes leaves the connections that wait for its backlog to the next listener, if any`(
    _ restarts: Bool
  ) throws {
    try withVirtualTime { time in
      let listener = try Listener(at: place, backlog: 1, on: time)
      var events: [String] = []
      let clients = (0..<2).map { number in
        Connection.connect(to: place, on: time).sink {
          if case .failure(let error) = $0 { events.append("\(number) \(error.name)") }
        } receiveValue: { _ in
          events.append("\(number) connected")
        }
      }
      time.run()
      listener.close()
      let next = restarts ? try Listener(at: place, backlog: 1, on: time) : nil
      time.run()
      #expect(events == ["0 connected", restarts ? "1 connected" : "1 ECONNREFUSED"])
      for client in clients { client.cancel() }
      next?.close()
      time.run()
    }
  }

  @Test func `a wildcard address includes the others`() throws {
    try withVirtualTime { time in
      let listener = try Listener(at: .internet("0.0.0.0", port: 80), on: time)
      for host in ["0.0.0.0", "10.0.0.1", "::"] {
        #expect(throws: SystemError.self) { try Listener(at: .internet(host, port: 80), on: time) }
      }
      try Listener(at: .internet("::1", port: 80), on: time).close()
      for host in ["127.0.0.1", "10.0.0.1"] {
        var isConnected = false
        let client = Connection.connect(to: .internet(host, port: 80), on: time).sink { _ in
        } receiveValue: { _ in
          isConnected = true
        }
        time.run()
        #expect(isConnected)
        client.cancel()
      }
      listener.close()
      time.run()
    }
  }

  @Test func `connections beyond the backlog wait`() throws {
    try withVirtualTime { time in
      let listener = try Listener(at: place, backlog: 1, on: time)
      var connected = 0
      let clients = (0..<3).map { _ in
        Connection.connect(to: place, on: time).sink { _ in
        } receiveValue: { _ in
          connected += 1
        }
      }
      time.run()
      #expect(connected == 1)
      let server = listener.connections.sink { _ in }
      time.run()
      #expect(connected == 3)
      for subscription in clients + [server] { subscription.cancel() }
      listener.close()
      time.run()
    }
  }

  // MARK: Names (RFC 8305)

  private func race(_ time: VirtualTimeScheduler, _ log: Log) -> AnyCancellable {
    Connection.connect(to: "host:80", on: time).sink {
      if case .failure(let error) = $0 { log.note("\(error)") }
    } receiveValue: {
      log.note("\($0.peer)")
    }
  }

  @Test func `the case of a host's name doesn't matter`() throws {
    try withVirtualTime { time in
      time.network.hosts["example.com"] = ["10.0.0.1"]
      let listener = try Listener(at: place, on: time)
      var peers: [String] = []
      let attempt = Connection.connect(to: "Example.COM:80", on: time).sink { _ in
      } receiveValue: {
        peers.append("\($0.peer)")
      }
      time.run()
      #expect(peers == ["10.0.0.1:80"])
      attempt.cancel()
      listener.close()
      time.run()
    }
  }

  @Test func `a connection attempt takes a round trip, even if it is refused`() {
    withVirtualTime { time in
      time.network.link.latency = .milliseconds(10)
      let log = Log(time)
      let attempt = Connection.connect(to: place, on: time).sink {
        if case .failure(let error) = $0 { log.note(error.name) }
      } receiveValue: { _ in
      }
      time.run()
      #expect(log.entries == ["20: ECONNREFUSED"])
      attempt.cancel()
    }
  }

  @Test func `a chosen port is free, and at most 65,535`() throws {
    try withVirtualTime { time in
      let first = try Listener(at: .internet("127.0.0.1", port: 49_152), on: time)
      for _ in 0..<17_000 {
        let listener = try Listener(at: .internet("127.0.0.1", port: 0), on: time)
        let port = try #require(listener.address.port)
        if !(49_153...65_535).contains(port) { Issue.record("\(port)") }
        listener.close()
      }
      first.close()
    }
  }

  @Test func `a chosen port isn't that of an open connection`() throws {
    try withVirtualTime { time in
      let first = try pair(time)
      // Use the other ports, so that the first one is the next to choose.
      for _ in 49_153...65_535 { try Listener(at: .internet("127.0.0.1", port: 0), on: time).close() }
      let second = try pair(time)
      #expect(first.server.peer != second.server.peer)
      for connection in [first.client, first.server, second.client, second.server] { connection.close() }
      time.run()
    }
  }

  @Test func `an address family that doesn't respond delays a connection by 250 ms`() throws {
    try withVirtualTime { time in
      let (six, four) = (SocketAddress.internet("fd00::1", port: 80), place)
      time.network.hosts["host"] = ["fd00::1", "fd00::2", "10.0.0.1"]
      time.network.answers[six] = .silence
      let listener = try Listener(at: four, on: time)
      let log = Log(time)
      let attempt = race(time, log)
      time.run()
      #expect(log.entries == ["250: 10.0.0.1:80"])
      // A server that refuses doesn't even cause that delay.
      time.network.answers[six] = .failure(101)
      let next = race(time, log)
      time.run()
      #expect(log.entries.last == "250: 10.0.0.1:80")
      for subscription in [attempt, next] { subscription.cancel() }
      listener.close()
      time.run()
    }
  }

  @Test func `each phase has its timeout, and the error names the phase`() {
    withVirtualTime { time in
      let log = Log(time)
      time.network.lookUpLatency = nil
      let looking = race(time, log)
      time.run()
      #expect(log.entries == ["5000: cannot look up host: connection timed out (ETIMEDOUT)"])
      time.network.lookUpLatency = .zero
      time.network.hosts["host"] = ["10.0.0.1", "fd00::1"]
      for address in [place, .internet("fd00::1", port: 80)] { time.network.answers[address] = .silence }
      let connecting = race(time, log)
      time.run()
      #expect(
        log.entries.last
          == "15000: cannot connect to host:80 (10.0.0.1:80, [fd00::1]:80): connection timed out (ETIMEDOUT)")
      time.network.hosts["host"] = nil
      let unknown = race(time, log)
      time.run()
      #expect(log.entries.last?.contains("EAI_NONAME") == true)
      for subscription in [looking, connecting, unknown] { subscription.cancel() }
    }
  }

  @Test func `a cancelled connection attempt leaves nothing behind`() {
    withVirtualTime { time in
      time.network.hosts["host"] = ["10.0.0.1", "fd00::1"]
      for address in [place, .internet("fd00::1", port: 80)] { time.network.answers[address] = .silence }
      let log = Log(time)
      let attempt = race(time, log)
      time.advance(by: .milliseconds(300))
      attempt.cancel()
      #expect(time.pending.isEmpty)
      #expect(log.entries.isEmpty)
    }
  }

  @Test(arguments: ["1.2.3", "7", "+1.2.3.4", "01.2.3.4", "a:b"])
  func `text that isn't an IP address is a name`(_ host: String) {
    withVirtualTime { time in
      #expect(throws: SystemError.self) { try Listener(at: .internet(host, port: 80), on: time) }
    }
  }

  @Test func `an invalid address is refused as an event loop refuses it`() {
    func results(_ scheduler: any LoopScheduler, _ run: () -> Void) -> [String] {
      let addresses: [SocketAddress] = [
        .internet("localhost", port: 80), .internet("127.0.0.1", port: 70_000), .unix(""), .unix("a\0b"),
        .unix("/" + String(repeating: "x", count: 107)),
      ]
      var results: [String] = []
      for address in addresses {
        do throws(SystemError) {
          try Listener(at: address, on: scheduler).close()
        } catch {
          results.append("\(error)")
        }
        let connecting = Connection.connect(to: address, on: scheduler).sink {
          if case .failure(let error) = $0 { results.append("\(error)") }
        } receiveValue: { _ in
        }
        run()
        connecting.cancel()
      }
      return results
    }
    let loop = EventLoop()
    let expected = results(loop) { loop.run() }
    #expect(expected.count == 10)
    withVirtualTime { time in #expect(results(time) { time.run() } == expected) }
  }

  @Test func `the result of a connection to a name can't be set`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      VirtualTimeScheduler().network.answers[.internet("example.com", port: 80)] = .silence
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("nothing connects to the name example.com; use its numeric addresses"))
  }

  // MARK: Datagrams

  @Test func `a datagram to an invalid address fails, as on an event loop`() throws {
    try withVirtualTime { time in
      let socket = try DatagramSocket(at: place, on: time)
      let addresses: [SocketAddress] = [
        .internet("localhost", port: 80), .internet("10.0.0.1", port: 70_000), .unix("a"),
      ]
      for address in addresses {
        var name: String?
        let sending = Just(Datagram("x", to: address)).write(to: socket).sink {
          if case .failure(let error) = $0 { name = (error.cause as? SystemError)?.name }
        } receiveValue: { _ in
        }
        time.run()
        #expect(name == "EINVAL")
        sending.cancel()
      }
      #expect(time.network.lostDatagrams == 0)
      socket.close()
      #expect(throws: SystemError("receive at", "a", code: 22)) { try DatagramSocket(at: .unix("a"), on: time) }
    }
  }

  @Test(arguments: ["0.0.0.0", "::"])
  func `a socket at a wildcard address sends from an address that can be responded to`(_ wildcard: String) throws {
    try withVirtualTime { time in
      let everywhere = try DatagramSocket(at: .internet(wildcard, port: 0), on: time)
      let other = try DatagramSocket(at: .internet("10.0.0.2", port: 0), on: time)
      var senders: [String] = []
      let streams = [
        everywhere.datagrams.sink { _ in
        } receiveValue: {
          senders.append("\($0.address)")
        },
        other.datagrams.handleEvents(receiveOutput: { senders.append($0.address.host ?? "") })
          .map { Datagram("response", to: $0.address) }.write(to: other).sink { _ in
          } receiveValue: { _ in
          },
      ]
      let sending = Just(Datagram("request", to: other.address)).write(to: everywhere).sink { _ in
      } receiveValue: { _ in
      }
      time.run()
      #expect(senders == ["127.0.0.1", "\(other.address)"])
      for subscription in streams + [sending] { subscription.cancel() }
      for socket in [everywhere, other] { socket.close() }
    }
  }

  @Test func `datagrams are lost on request, and when the buffer is full`() throws {
    try withVirtualTime { time in
      time.network.losesDatagram = { $0.bytes == "b" }
      let a = try DatagramSocket(at: .internet("10.0.0.1", port: 0), on: time)
      let b = try DatagramSocket(at: .internet("10.0.0.2", port: 0), on: time)
      var texts: [String] = []
      let reading = b.datagrams.sink { _ in
      } receiveValue: {
        texts.append($0.bytes.text)
      }
      let sending = ["a", "b", "c"].publisher.map { Datagram(Chunk($0), to: b.address) }.write(to: a).sink { _ in
      } receiveValue: { _ in
      }
      time.run()
      #expect(texts == ["a", "c"])
      #expect(time.network.lostDatagrams == 1)
      reading.cancel()
      time.network.datagramBuffer = 2
      let more = ["d", "e", "f"].publisher.map { Datagram(Chunk($0), to: b.address) }.write(to: a).sink { _ in
      } receiveValue: { _ in
      }
      time.run()
      #expect(time.network.lostDatagrams == 2)
      for subscription in [sending, more] { subscription.cancel() }
      for socket in [a, b] { socket.close() }
    }
  }
}
