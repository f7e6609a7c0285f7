import FeedRedis
import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct RedisClientTests {
  private let place = SocketAddress.unix("/run/redis")
  private let address = RedisAddress(.unix(path: "/run/redis"))

  /// The outcomes of commands, as text.
  private final class Outcomes {
    var texts: [String] = []
    private var subscriptions: Set<AnyCancellable> = []
    func note(_ publisher: AnyPublisher<RedisValue, RedisError>) {
      publisher.sink { [unowned self] in
        if case .failure(let error) = $0 { texts.append("\(error)") }
      } receiveValue: { [unowned self] in
        texts.append($0.text ?? "\($0)")
      }
      .store(in: &subscriptions)
    }
  }

  private func withServer(
    _ address: RedisAddress? = nil, _ options: RedisClient.Options = RedisClient.Options(),
    answer: @escaping ([String]) -> String? = { _ in nil },
    _ body: (VirtualTimeScheduler, ScriptedRedis, RedisClient, Outcomes) throws -> Void
  ) throws {
    try withVirtualTime { time in
      let server = try ScriptedRedis(at: place, on: time, answer: answer)
      let client = RedisClient(address ?? self.address, on: time, options: options)
      try body(time, server, client, Outcomes())
      client.close()
      time.run()
      server.close()
    }
  }

  @Test func `commands of one loop turn are sent together, and replies arrive in order`() throws {
    try withServer { words in
      words[0] == "ECHO" ? "$\(words[1].utf8.count)\r\n\(words[1])\r\n" : nil
    } _: {
      time, server, client, outcomes in
      for word in ["a", "b", "c"] { outcomes.note(client.send(RedisCommand("ECHO", RedisArgument(word)))) }
      #expect(server.heard.isEmpty)
      time.advance(by: .seconds(1))
      #expect(outcomes.texts == ["a", "b", "c"])
      #expect(server.heard == [["HELLO 3 SETNAME feedstream", "PING", "ECHO a", "ECHO b", "ECHO c"]])
    }
  }

  @Test func `the client logs in with user and password and selects the database`() throws {
    var address = address
    (address.user, address.password, address.database) = ("ann", "secret", 2)
    try withServer(address) { words in
      words[0] == "GET" ? "_\r\n" : nil
    } _: { time, server, client, outcomes in
      outcomes.note(client.send(RedisCommand("GET", "k")))
      time.advance(by: .seconds(1))
      #expect(server.heard == [["HELLO 3 AUTH ann secret SETNAME feedstream", "SELECT 2", "PING", "GET k"]])
    }
  }

  @Test func `the client falls back to RESP2 when the server doesn't know HELLO`() throws {
    var address = address
    address.password = "secret"
    try withServer(address) { words in
      words[0] == "HELLO" ? "-ERR unknown command `HELLO`\r\n" : words[0] == "GET" ? "$-1\r\n" : nil
    } _: { time, server, client, outcomes in
      outcomes.note(client.send(RedisCommand("GET", "k")))
      time.advance(by: .seconds(1))
      #expect(server.heard[0].dropFirst() == ["AUTH secret", "PING", "GET k"])
    }
  }

  @Test(arguments: [
    ("WRONGPASS invalid username-password pair or user is disabled.", "does not accept the password"),
    ("NOAUTH HELLO must be called with the client already authenticated", "requires a password"),
    ("LOADING Redis is loading the dataset in memory", "is loading its data"),
    ("ERR max number of clients reached", "too many clients"),
  ])
  func `a refused login has a readable error`(_ refusal: String, _ sentence: String) throws {
    try withServer { words in
      words[0] == "HELLO" ? "-\(refusal)\r\n" : nil
    } _: { time, server, client, outcomes in
      outcomes.note(client.send(RedisCommand("GET", "k")))
      time.advance(by: .seconds(1))
      #expect(outcomes.texts.count == 1 && outcomes.texts[0].contains(sentence))
    }
  }

  @Test func `another service's response is an error that asks whether it is Redis`() throws {
    try withServer { _ in
      "HTTP/1.1 400 Bad Request\r\n"
    } _: { time, server, client, outcomes in
      outcomes.note(client.send(RedisCommand("GET", "k")))
      time.advance(by: .seconds(1))
      #expect(outcomes.texts.first?.contains("Check that it is a Redis server.") == true)
    }
  }

  @Test func `a closed connection fails pending commands, and the next command reconnects`() throws {
    try withServer { words in
      words == ["GET", "1"] ? "" : words[0] == "GET" ? "$1\r\nx\r\n" : nil
    } _: {
      time, server, client, outcomes in
      outcomes.note(client.send(RedisCommand("GET", "1")))
      time.advance(by: .seconds(1))
      server.hangUp()
      time.advance(by: .seconds(1))
      #expect(outcomes.texts == ["unix:///run/redis closed the connection before it replied."])
      outcomes.note(client.send(RedisCommand("GET", "2")))
      time.advance(by: .seconds(1))
      #expect(outcomes.texts.last == "x")
      // The command without a reply was not sent again.
      #expect(server.heard.joined().filter { $0 == "GET 1" }.count == 1)
      #expect(client.connectionCount == 2)
    }
  }

  @Test func `onReply receives each command's name, duration and error before its result is delivered`() throws {
    var options = RedisClient.Options()
    options.patience = .seconds(3)
    try withServer(nil, options) { words in
      switch words[0] {
      case "SET": "+OK\r\n"
      case "LPUSH": "-WRONGTYPE no list\r\n"
      default: nil
      }
    } _: { time, server, client, outcomes in
      var reports: [RedisClient.CommandReport] = []
      var delivered: [Int] = []
      client.onReply = {
        reports.append($0)
        delivered.append(outcomes.texts.count)
      }
      for name in ["SET", "LPUSH", "GET"] { outcomes.note(client.send(RedisCommand(name, "k", "v"))) }
      time.advance(by: .seconds(4))
      #expect(reports.map(\.name) == ["SET", "LPUSH", "GET"])
      #expect(reports.map { $0.error?.refusal?.code } == [nil, "WRONGTYPE", nil])
      if case .timedOut? = reports.last?.error {} else { Issue.record("\(reports)") }
      #expect(reports.map { Int($0.duration / .seconds(1)) } == [0, 0, 3])
      #expect(reports.allSatisfy { $0.address == address })
      #expect(delivered == [0, 1, 2])
      client.onReply = nil
      outcomes.note(client.send(RedisCommand("SET", "k", "v")))
      time.advance(by: .seconds(1))
      #expect(reports.count == 3)
    }
  }

  @Test func `commands that change how replies follow, or the session, are refused, and the others get replies`()
    throws
  {
    try withServer { words in
      words[0] == "ECHO" ? "$\(words[1].utf8.count)\r\n\(words[1])\r\n" : nil
    } _: { time, server, client, outcomes in
      let refused: [RedisCommand] = [
        RedisCommand("SUBSCRIBE", "news"), RedisCommand("pUnsubscribe"), RedisCommand("MONITOR"),
        RedisCommand("Client", "REPLY", "OFF"), RedisCommand("PSYNC", "?", -1),
        RedisCommand("CLIENT", RedisArgument(Chunk("reply")), "SKIP"), RedisCommand("REPLCONF", "ACK", 0),
        RedisCommand("SCRIPT", "DEBUG", "YES"), RedisCommand("SELECT", 3), RedisCommand("auth", "secret"),
        RedisCommand("HELLO", 2), RedisCommand("RESET"),
      ]
      for command in refused { outcomes.note(client.send(command)) }
      for word in ["a", "b"] { outcomes.note(client.send(RedisCommand("ECHO", RedisArgument(word)))) }
      time.advance(by: .seconds(1))
      #expect(outcomes.texts.count == 14 && outcomes.texts.suffix(2) == ["a", "b"])
      #expect(outcomes.texts.prefix(12).allSatisfy { $0.hasPrefix("This client doesn't send ") })
      #expect(outcomes.texts[3].hasPrefix("This client doesn't send Client REPLY, "))
      #expect(outcomes.texts[8...10].allSatisfy { $0.hasSuffix("in the URL: redis://USER:PASSWORD@host/1.") })
      #expect(server.heard == [["HELLO 3 SETNAME feedstream", "PING", "ECHO a", "ECHO b"]])
    }
  }

  @Test(arguments: ["GET", "X", "CLIENT"]) func `a command knows its name`(_ name: String) {
    #expect(RedisCommand(name).name == name)
    #expect(RedisCommand(name, "an argument\r\nof two lines", 7).name == name)
  }

  @Test func `commands to a silent server fail after options.patience`() throws {
    var options = RedisClient.Options()
    options.patience = .seconds(3)
    try withServer(nil, options) { words in
      words[0] == "GET" ? "" : nil
    } _: { time, server, client, outcomes in
      outcomes.note(client.send(RedisCommand("GET", "1")))
      time.advance(by: .milliseconds(2990))
      #expect(outcomes.texts.isEmpty)
      time.advance(by: .milliseconds(20))
      #expect(outcomes.texts.count == 1 && outcomes.texts[0].contains("did not reply within 3s"))
    }
  }

  @Test func `large commands and replies may take longer than options.patience while their bytes are in transit`()
    throws
  {
    let large = String(repeating: "x", count: 2_000_000)
    var options = RedisClient.Options()
    options.patience = .seconds(3)
    try withServer(nil, options) { words in
      switch words[0] {
      case "GET": "$\(large.utf8.count)\r\n\(large)\r\n"
      case "SET": words[2].utf8.count == large.utf8.count ? "+OK\r\n" : "-ERR cut\r\n"
      default: nil
      }
    } _: { time, server, client, outcomes in
      time.network.link.bytesPerSecond = 200_000
      outcomes.note(client.send(RedisCommand("SET", "k", RedisArgument(large))))
      time.advance(by: .seconds(9))
      #expect(outcomes.texts.isEmpty)
      time.advance(by: .seconds(2))
      #expect(outcomes.texts == ["OK"])
      for _ in 0..<2 { outcomes.note(client.send(RedisCommand("GET", "k"))) }
      time.advance(by: .seconds(21))
      #expect(outcomes.texts.map(\.utf8.count) == [2, large.utf8.count, large.utf8.count])
      #expect(client.connectionCount == 1)
    }
  }

  @Test func `commands to a silent server fail even if later ones are being sent`() throws {
    var options = RedisClient.Options()
    options.patience = .seconds(3)
    try withServer(nil, options) { words in
      words[0] == "GET" ? "" : nil
    } _: { time, server, client, outcomes in
      for _ in 0..<4 {
        outcomes.note(client.send(RedisCommand("GET", "k")))
        time.advance(by: .seconds(1))
      }
      #expect(outcomes.texts.first?.contains("did not reply within 3s") == true)
    }
  }

  @Test func `a login that takes longer than options.patience in all fails`() throws {
    var options = RedisClient.Options()
    options.patience = .seconds(3)
    var address = address
    address.database = 1
    try withServer(address, options) { _ in
      nil
    } _: { time, server, client, outcomes in
      // HELLO, SELECT and PING take six seconds together.
      server.delay = .seconds(2)
      outcomes.note(client.send(RedisCommand("GET", "k")))
      time.advance(by: .milliseconds(2990))
      #expect(outcomes.texts.isEmpty)
      time.advance(by: .milliseconds(20))
      #expect(outcomes.texts.count == 1 && outcomes.texts[0].contains("did not reply within 3s"))
    }
  }

  @Test func `a server that doesn't reply to the TLS handshake isn't reported as unreachable`() throws {
    try withVirtualTime { time in
      let listener = try Listener(at: .internet("10.0.0.1", port: 6379), on: time)
      var connections: [Connection] = []
      let accepting = listener.connections.sink { connections.append($0) }
      var options = RedisClient.Options()
      options.patience = .seconds(3)
      let client = RedisClient(try RedisAddress(parsing: "rediss://10.0.0.1"), on: time, options: options)
      let outcomes = Outcomes()
      outcomes.note(client.send(RedisCommand("PING")))
      time.advance(by: .seconds(4))
      #expect(outcomes.texts.count == 1)
      #expect(outcomes.texts.allSatisfy { $0.contains("the TLS handshake took longer than") })
      #expect(
        outcomes.texts.allSatisfy { $0.hasSuffix("If the server doesn't speak TLS, use redis: instead of rediss:.") })
      client.close()
      accepting.cancel()
      for connection in connections { connection.close() }
      listener.close()
      time.run()
    }
  }

  @Test func `without a server, connection attempts are spaced out, however many commands are sent`() throws {
    try withVirtualTime { time in
      let client = RedisClient(address, on: time)
      let outcomes = Outcomes()
      var attempts = 0
      for _ in 0..<1000 {
        outcomes.note(client.send(RedisCommand("GET", "k")))
        let before = outcomes.texts.count
        time.advance(by: .milliseconds(10))
        if outcomes.texts.count > before { attempts += 1 }
      }
      // In ten seconds, the pauses are 50, 100, 200 … 2000 ms, each shortened by at most half.
      #expect(5...20 ~= attempts)
      #expect(outcomes.texts.allSatisfy { $0.contains("is unreachable") })
      let server = try ScriptedRedis(at: place, on: time) { $0[0] == "GET" ? "+found\r\n" : nil }
      time.advance(by: .seconds(3))
      outcomes.note(client.send(RedisCommand("GET", "k")))
      time.advance(by: .seconds(1))
      #expect(outcomes.texts.last == "found")
      client.close()
      time.run()
      server.close()
    }
  }

  @Test func `commands beyond maxWaiting fail`() throws {
    var options = RedisClient.Options()
    options.maxWaiting = 2
    try withServer(nil, options) { _ in
      nil
    } _: { time, _, client, outcomes in
      let replies = client.send(Array(repeating: RedisCommand("PING"), count: 3))
      outcomes.note(replies.map { RedisValue.array($0) }.eraseToAnyPublisher())
      for _ in 0..<3 { outcomes.note(client.send(RedisCommand("PING"))) }
      let message =
        "3 commands would wait for unix:///run/redis, which is more than maxWaiting. Wait until some have completed, "
        + "send fewer together, or raise maxWaiting."
      #expect(outcomes.texts == [message, message])
      time.advance(by: .seconds(1))
      #expect(outcomes.texts.suffix(2) == ["PONG", "PONG"])
    }
  }

  @Test func `commands sent together are sent all, or none if they don't all fit or one is refused`() throws {
    var options = RedisClient.Options()
    options.maxWaiting = 3
    try withServer(nil, options) { words in
      words[0] == "ECHO" ? "+\(words[1])\r\n" : ["MULTI", "SET", "EXEC"].contains(words[0]) ? "+OK\r\n" : nil
    } _: { time, server, client, outcomes in
      var reports: [String] = []
      client.onReply = { reports.append($0.name) }
      func send(_ names: String...) {
        let replies = client.send(names.map { RedisCommand($0, "k") })
        outcomes.note(replies.map { RedisValue.array($0) }.eraseToAnyPublisher())
      }
      send("MULTI", "SUBSCRIBE", "EXEC")
      // The list doesn't fit while there is no connection …
      outcomes.note(client.send(RedisCommand("ECHO", "a")))
      send("MULTI", "SET", "EXEC")
      #expect(outcomes.texts.count == 2)
      #expect(outcomes.texts.last?.hasPrefix("4 commands would wait for ") == true)
      #expect(reports == ["MULTI", "SET", "EXEC"])
      time.advance(by: .seconds(1))
      // … nor while there is one.
      outcomes.note(client.send(RedisCommand("ECHO", "b")))
      send("MULTI", "SET", "EXEC")
      #expect(outcomes.texts.count == 4)
      time.advance(by: .seconds(1))
      #expect(server.heard == [["HELLO 3 SETNAME feedstream", "PING", "ECHO a", "ECHO b"]])
      send("MULTI", "SET", "EXEC")
      time.advance(by: .seconds(1))
      #expect(server.heard[0].suffix(3) == ["MULTI k", "SET k", "EXEC k"])
      #expect(outcomes.texts.count == 6)
    }
  }

  @Test func `scripts whose texts have the same characters but different bytes are different scripts`() throws {
    try withServer { words in
      switch words[0] {
      case "SCRIPT": "+\(words[2].utf8.count)\r\n"
      case "EVALSHA": "+\(words[1])\r\n"
      default: nil
      }
    } _: { time, _, client, outcomes in
      for text in ["\u{E9}", "e\u{301}"] {
        outcomes.note(client.run(RedisScript("s", text), keys: []))
        time.advance(by: .seconds(1))
      }
      #expect(outcomes.texts == ["2", "3"])
    }
  }

  @Test func `a script is loaded once, and again when the server has forgotten it`() throws {
    var hasForgotten = false
    try withServer { words in
      if words.prefix(2) == ["SCRIPT", "LOAD"] { return "$3\r\nsha\r\n" }
      guard words[0] == "EVALSHA" else { return nil }
      guard hasForgotten else { return ":1\r\n" }
      hasForgotten = false
      return "-NOSCRIPT No matching script.\r\n"
    } _: { time, server, client, outcomes in
      let script = RedisScript("test", "return 1")
      for round in 0..<3 {
        hasForgotten = round == 2
        outcomes.note(client.run(script, keys: ["k"], ["v"]))
        time.advance(by: .seconds(1))
      }
      #expect(outcomes.texts == ["1", "1", "1"])
      #expect(
        server.heard[0].dropFirst(2) == [
          "SCRIPT LOAD return 1", "EVALSHA sha 1 k v", "EVALSHA sha 1 k v", "EVALSHA sha 1 k v", "SCRIPT LOAD return 1",
          "EVALSHA sha 1 k v",
        ])
    }
  }

  @Test func `a stream is read on its own connection, and only as requested`() throws {
    var next = 1
    try withServer { words in
      guard words[0] == "XREAD" else { return nil }
      defer { next += 2 }
      let entries = [next, next + 1].map { "*2\r\n$3\r\n\($0)-0\r\n*2\r\n$1\r\na\r\n$1\r\n\($0)\r\n" }
      return next > 8 ? "" : "%1\r\n$1\r\ns\r\n*2\r\n\(entries.joined())"
    } _: { time, server, client, _ in
      var (subscription, ids): ((any Subscription)?, [String]) = (nil, [])
      client.entries(of: "s", after: "0-0", count: 2).subscribe(
        AnySubscriber(
          receiveSubscription: { subscription = $0 },
          receiveValue: {
            ids.append($0.id + ($0["a"]?.text ?? ""))
            return .none
          }))
      time.advance(by: .seconds(1))
      #expect(ids == [])
      subscription?.request(.max(1))
      time.advance(by: .seconds(1))
      #expect(ids == ["1-01"])
      let asked = server.heard.joined().filter { $0.hasPrefix("XREAD") }.count
      #expect(asked == 1)
      subscription?.request(.max(4))
      time.advance(by: .seconds(1))
      #expect(ids == ["1-01", "2-02", "3-03", "4-04", "5-05"])
      #expect(!client.isConnected)
      subscription?.cancel()
      time.advance(by: .seconds(1))
    }
  }

  @Test(arguments: [true, false])
  func `after $, every read of a stream begins where the stream ended at first`(hasEntry: Bool) throws {
    var reads = 0
    try withServer { words in
      let entry = "*2\r\n$3\r\n5-0\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n"
      if words[0] == "XREVRANGE" { return hasEntry ? "*1\r\n\(entry)" : "*0\r\n" }
      guard words[0] == "XREAD" else { return nil }
      reads += 1
      // The first read ends without an entry.
      return reads == 1 ? "_\r\n" : ""
    } _: { time, server, client, _ in
      let reading = client.entries(of: "s", after: "$").sink { _ in
      } receiveValue: { _ in
      }
      time.advance(by: .seconds(1))
      let last = hasEntry ? "5-0" : "0-0"
      let read = "XREAD COUNT 512 BLOCK 5000 STREAMS s \(last)"
      #expect(server.heard.joined().filter { $0.hasPrefix("X") } == ["XREVRANGE s + - COUNT 1", read, read])
      reading.cancel()
      time.advance(by: .seconds(1))
    }
  }

  @Test func `a cancelled command's reply isn't delivered to the next command`() throws {
    try withServer { words in
      words[0] == "ECHO" ? "+\(words[1])\r\n" : nil
    } _: { time, _, client, outcomes in
      let first = client.send(RedisCommand("ECHO", "a")).sink { _ in
      } receiveValue: { _ in
        Issue.record("delivered after cancelling")
      }
      outcomes.note(client.send(RedisCommand("ECHO", "b")))
      first.cancel()
      time.advance(by: .seconds(1))
      #expect(outcomes.texts == ["b"])
    }
  }
}
