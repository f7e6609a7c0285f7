import FeedRedis
import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

/// Servers that name another server: Sentinels and cluster nodes.
@Suite(.settled) struct RedisPlacesTests {
  private static func place(_ number: Int) -> SocketAddress { .internet("10.0.0.\(number)", port: 6379) }
  private static let cluster = "%2\r\n+server\r\n+redis\r\n+mode\r\n+cluster\r\n"

  private func replies(
    of client: RedisClient, to words: [RedisArgument], on time: VirtualTimeScheduler,
    within limit: Duration = .seconds(8)
  ) -> [String] {
    var texts: [String] = []
    let subscriptions = words.map { word in
      client.send(RedisCommand("ECHO", word)).sink {
        if case .failure(let error) = $0 { texts.append("\(error)") }
      } receiveValue: {
        texts.append($0.text ?? "\($0)")
      }
    }
    time.advance(by: limit)
    for subscription in subscriptions { subscription.cancel() }
    return texts
  }

  private func sentinel(_ reply: String) -> ([String]) -> String? { { $0[0] == "SENTINEL" ? reply : nil } }

  private static func echo(_ words: [String]) -> String? { words[0] == "ECHO" ? "+\(words[1])\r\n" : nil }

  @Test func `a Sentinel is queried for each connection, and an unreachable one is skipped`() throws {
    try withVirtualTime { time in
      let primaries = try (1...2).map { number in
        try ScriptedRedis(at: Self.place(number), on: time) { $0[0] == "ECHO" ? "+\(number)\r\n" : nil }
      }
      let watcher = try ScriptedRedis(
        at: .internet("10.0.0.9", port: 26379), on: time, answer: sentinel("*2\r\n$8\r\n10.0.0.1\r\n$4\r\n6379\r\n"))
      let client = RedisClient(try RedisAddress(parsing: "redis+sentinel://10.0.0.8,10.0.0.9/main"), on: time)
      #expect(replies(of: client, to: ["a"], on: time) == ["1"])
      #expect(watcher.heard[0].last == "SENTINEL GET-MASTER-ADDR-BY-NAME main")
      // A failover: the connection ends, and the next one leads to the other server.
      watcher.answer = sentinel("*2\r\n$8\r\n10.0.0.2\r\n$4\r\n6379\r\n")
      primaries[0].hangUp()
      time.advance(by: .seconds(1))
      #expect(replies(of: client, to: ["a"], on: time) == ["2"])
      client.close()
      time.run()
      for server in primaries + [watcher] { server.close() }
    }
  }

  @Test func `the client leaves a primary that became a replica`() throws {
    try withVirtualTime { time in
      let old = try ScriptedRedis(at: Self.place(1), on: time) {
        $0[0] == "ECHO" ? "-READONLY You can't write against a read only replica.\r\n" : nil
      }
      let new = try ScriptedRedis(at: Self.place(2), on: time, answer: Self.echo)
      let watcher = try ScriptedRedis(
        at: .internet("10.0.0.9", port: 26379), on: time, answer: sentinel("*2\r\n$8\r\n10.0.0.1\r\n$4\r\n6379\r\n"))
      let client = RedisClient(try RedisAddress(parsing: "redis+sentinel://10.0.0.9/main"), on: time)
      #expect(replies(of: client, to: ["a"], on: time)[0].contains("read-only replica"))
      watcher.answer = sentinel("*2\r\n$8\r\n10.0.0.2\r\n$4\r\n6379\r\n")
      #expect(replies(of: client, to: ["b"], on: time) == ["b"])
      client.close()
      time.run()
      for server in [old, new, watcher] { server.close() }
    }
  }

  @Test func `a primary that no Sentinel knows is an error of the URL`() throws {
    try withVirtualTime { time in
      let watcher = try ScriptedRedis(
        at: .internet("10.0.0.9", port: 26379), on: time, answer: sentinel("*-1\r\n"))
      let client = RedisClient(try RedisAddress(parsing: "redis+sentinel://10.0.0.9/other"), on: time)
      #expect(replies(of: client, to: ["a"], on: time)[0].contains("monitors no primary called other"))
      client.close()
      time.run()
      watcher.close()
    }
  }

  @Test func `commands fail with the attempt that they start, even if it fails at once`() {
    withVirtualTime { time in
      // There is no Sentinel to query, so the attempt fails while the commands are being sent.
      let address = RedisAddress(.sentinel(hosts: [], name: "main"))
      let command = RedisCommand("ECHO", "a")
      let (client, other) = (RedisClient(address, on: time), RedisClient(address, on: time))
      let one = Outcome(client.send(command))
      let two = Outcome(other.send([command, command]))
      #expect(one.error == .unreadable(address, .malformed))
      #expect(two.error == .unreadable(address, .malformed))
      client.close()
      other.close()
      time.run()
    }
  }

  @Test func `the client follows MOVED to another cluster node`() throws {
    try withVirtualTime { time in
      let first = try ScriptedRedis(at: Self.place(1), on: time) {
        $0[0] == "HELLO" ? Self.cluster : $0[0] == "ECHO" ? "-MOVED 13907 10.0.0.2:6379\r\n" : nil
      }
      let second = try ScriptedRedis(at: Self.place(2), on: time) {
        $0[0] == "HELLO" ? Self.cluster : Self.echo($0)
      }
      let client = RedisClient(try RedisAddress(parsing: "redis://10.0.0.1"), on: time)
      #expect(replies(of: client, to: ["a", "b", "c"], on: time) == ["a", "b", "c"])
      #expect(replies(of: client, to: ["d"], on: time) == ["d"])
      #expect(first.heard.flatMap { $0 }.filter { $0.hasPrefix("ECHO") }.count == 3, "asked only once more")
      client.close()
      time.run()
      for server in [first, second] { server.close() }
    }
  }

  @Test func `a command of a transaction isn't sent to another cluster node, but the next transaction is`() throws {
    try withVirtualTime { time in
      func node(_ number: Int, queued: String, executed: String) throws -> ScriptedRedis {
        try ScriptedRedis(at: Self.place(number), on: time) {
          switch $0[0] {
          case "HELLO": Self.cluster
          case "MULTI": "+OK\r\n"
          case "INCR": "\(queued)\r\n"
          case "EXEC": "\(executed)\r\n"
          default: nil
          }
        }
      }
      let first = try node(1, queued: "-MOVED 13907 10.0.0.2:6379", executed: "-EXECABORT Transaction discarded")
      let second = try node(2, queued: "+QUEUED", executed: "*1\r\n:1")
      let client = RedisClient(try RedisAddress(parsing: "redis://10.0.0.1"), on: time)
      var (errors, replies): ([RedisError], [[RedisValue]]) = ([], [])
      for _ in 0..<2 {
        #expect(second.heard.isEmpty)
        let transaction = client.send([RedisCommand("MULTI"), RedisCommand("INCR", "k"), RedisCommand("EXEC")])
        let subscription = transaction.sink {
          if case .failure(let error) = $0 { errors.append(error) }
        } receiveValue: {
          replies.append($0)
        }
        time.advance(by: .seconds(2))
        subscription.cancel()
      }
      #expect(errors.map { $0.refusal?.code } == ["MOVED"])
      #expect(replies == [[.status("OK"), .status("QUEUED"), .array([.integer(1)])]])
      #expect(second.heard.map { $0.suffix(3) } == [["MULTI", "INCR k", "EXEC"]])
      client.close()
      time.run()
      for server in [first, second] { server.close() }
    }
  }

  @Test func `nodes that redirect to each other end with an error`() throws {
    try withVirtualTime { time in
      let nodes = try [(1, 2), (2, 1)].map { here, there in
        try ScriptedRedis(at: Self.place(here), on: time) {
          $0[0] == "HELLO" ? Self.cluster : $0[0] == "ECHO" ? "-MOVED 13907 10.0.0.\(there):6379\r\n" : nil
        }
      }
      let client = RedisClient(try RedisAddress(parsing: "redis://10.0.0.1"), on: time)
      let texts = replies(of: client, to: ["a"], on: time)
      #expect(texts.count == 1 && texts[0].contains("is a cluster node"))
      #expect(nodes.flatMap { $0.heard.flatMap { $0 } }.count < 30)
      client.close()
      time.run()
      for node in nodes { node.close() }
    }
  }

  @Test func `a script is loaded on a node that the client is redirected to`() throws {
    try withVirtualTime { time in
      var isLoaded = false
      let first = try ScriptedRedis(at: Self.place(1), on: time) {
        switch $0[0] {
        case "HELLO": Self.cluster
        case "SCRIPT": "+digest\r\n"
        case "EVALSHA": "-MOVED 13907 10.0.0.2:6379\r\n"
        default: nil
        }
      }
      let second = try ScriptedRedis(at: Self.place(2), on: time) {
        switch $0[0] {
        case "HELLO": return Self.cluster
        case "SCRIPT":
          isLoaded = true
          return "+digest\r\n"
        case "EVALSHA": return isLoaded ? ":7\r\n" : "-NOSCRIPT No matching script.\r\n"
        default: return nil
        }
      }
      let client = RedisClient(try RedisAddress(parsing: "redis://10.0.0.1"), on: time)
      var value: RedisValue?
      let subscription = client.run(RedisScript("s", "return 7"), keys: ["{0}"]).sink { _ in
      } receiveValue: {
        value = $0
      }
      time.advance(by: .seconds(5))
      #expect(value == .integer(7))
      subscription.cancel()
      client.close()
      time.run()
      for server in [first, second] { server.close() }
    }
  }

  @Test func `a command for migrating keys (ASK) fails until the migration is complete`() throws {
    try withVirtualTime { time in
      var isMoving = true
      let first = try ScriptedRedis(at: Self.place(1), on: time) {
        $0[0] == "HELLO" ? Self.cluster : isMoving && $0[0] == "ECHO" ? "-ASK 13907 10.0.0.2:6379\r\n" : Self.echo($0)
      }
      let second = try ScriptedRedis(at: Self.place(2), on: time, answer: Self.echo)
      let client = RedisClient(try RedisAddress(parsing: "redis://10.0.0.1"), on: time)
      let text = replies(of: client, to: ["a"], on: time).joined()
      #expect(text.contains("is moving these keys to another node of its cluster") && text.contains("Wait until"))
      #expect(RedisError.refused(client.address, RedisRefusal("ASK 13907 10.0.0.2:6379")).isTemporary)
      isMoving = false
      #expect(replies(of: client, to: ["b"], on: time) == ["b"])
      #expect(second.heard.isEmpty)
      client.close()
      time.run()
      for server in [first, second] { server.close() }
    }
  }
}
