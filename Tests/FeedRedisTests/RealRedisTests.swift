import FeedRedis
import FeedStream
import FeedTLS
import Foundation
import RedisTestSupport
import TestSupport
import Testing

@Suite(.settled, .timeLimit(.minutes(5))) struct RealRedisTests {
  private let loop = EventLoop()
  private let folder = TemporaryFolder()

  private func reply(
    to publisher: AnyPublisher<RedisValue, RedisError>, closing client: RedisClient
  ) -> Result<RedisValue, RedisError>? {
    var result: Result<RedisValue, RedisError>?
    let subscription = publisher.sink {
      if case .failure(let error) = $0 { result = .failure(error) }
      client.close()
    } receiveValue: {
      result = .success($0)
    }
    loop.run()
    subscription.cancel()
    return result
  }

  @Test(arguments: [false, true]) func `a real server replies in RESP2 and RESP3`(_ usesVersion2: Bool) throws {
    let server = try RedisServer()
    var options = RedisClient.Options()
    options.usesVersion2 = usesVersion2
    let client = RedisClient(server.address, on: loop, options: options)
    let bytes = RedisArgument(Chunk((0...255).map { UInt8($0) }))
    let result = reply(
      to: client.send([
        RedisCommand("SET", "k", bytes), RedisCommand("GET", "k"), RedisCommand("HSET", "h", "a", "1"),
        RedisCommand("HGETALL", "h"), RedisCommand("GET", "none"),
      ])
      .map { .array($0) }.eraseToAnyPublisher(), closing: client)
    let values = try #require(try result?.get().elements)
    #expect(values[0] == .status("OK"))
    #expect(values[1].bytes.map { Array($0) } == (0...255).map { UInt8($0) })
    #expect(values[3]["a"]?.text == "1" && values[4] == .null)
  }

  /// A server that speaks TLS with a self-signed certificate, and the certificate's file.
  private func secureServer(at port: Int) throws -> (RedisServer, certificate: String) {
    let name = folder.file("redis")
    let words =
      "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=redis -addext subjectAltName=IP:127.0.0.1 -keyout \(name).key -out \(name).crt"
    _ = try ChildProcess.run("/usr/bin/openssl", words.split(separator: " ").map(String.init))
    let server = try RedisServer([
      "--tls-port", "\(port)", "--tls-cert-file", "\(name).crt", "--tls-key-file", "\(name).key", "--tls-auth-clients",
      "no",
    ])
    return (server, "\(name).crt")
  }

  @Test func `a server over TLS is accepted only if its certificate is trusted`() throws {
    let reserved = try ReservedPort()
    defer { withExtendedLifetime(reserved) {} }
    let port = reserved.number
    let (server, certificate) = try secureServer(at: port)
    let address = try RedisAddress(parsing: "rediss://127.0.0.1:\(port)")
    var options = RedisClient.Options()
    options.tls = try TLSClient(trusting: .only(file: certificate))
    let client = RedisClient(address, on: loop, options: options)
    #expect(try reply(to: client.send(RedisCommand("PING")), closing: client)?.get().text == "PONG")
    let stranger = RedisClient(address, on: loop)
    let refused = reply(to: stranger.send(RedisCommand("PING")), closing: stranger)
    guard case .failure(.notSecure(_, .selfSigned)) = refused else {
      Issue.record("\(String(describing: refused))")
      return
    }
    #expect(server.log.isEmpty == false)
  }

  @Test func `a rediss URL of a server without TLS fails`() throws {
    let reserved = try ReservedPort()
    defer { withExtendedLifetime(reserved) {} }
    let port = reserved.number
    let server = try RedisServer(port: port)
    let client = RedisClient(try RedisAddress(parsing: "rediss://127.0.0.1:\(port)"), on: loop)
    let refused = reply(to: client.send(RedisCommand("PING")), closing: client)
    guard case .failure(.notSecure) = refused else {
      Issue.record("\(String(describing: refused)) \(server.log)")
      return
    }
  }

  @Test func `ten thousand commands can be pipelined`() throws {
    let server = try RedisServer()
    let client = RedisClient(server.address, on: loop)
    let commands = (0..<10_000).map { RedisCommand("SET", RedisArgument("k\($0)"), RedisArgument($0)) }
    let last = client.send(commands).flatMap { _ in client.send(RedisCommand("DBSIZE")) }.eraseToAnyPublisher()
    #expect(try reply(to: last, closing: client)?.get() == .integer(10_000))
  }

  @Test func `a wrong password, a wrong user and a missing password are distinguished`() throws {
    let server = try RedisServer(["--requirepass", "secret"])
    for (password, kind) in [("wrong", RedisRefusal.Kind.wrongPassword), (nil, .passwordWanted)] {
      var address = server.address
      address.password = password
      let client = RedisClient(address, on: loop)
      let result = reply(to: client.send(RedisCommand("GET", "k")), closing: client)
      guard case .failure(.refused(_, let refusal)) = result else { return #expect(Bool(false), "\(result!)") }
      #expect(refusal.kind == kind)
    }
    var address = server.address
    (address.password, address.database) = ("secret", 99)
    var client = RedisClient(address, on: loop)
    guard case .failure(.refused(_, let refusal)) = reply(to: client.send(RedisCommand("GET", "k")), closing: client)
    else { return #expect(Bool(false)) }
    #expect(refusal.kind == .wrongDatabase)
    address.database = 1
    client = RedisClient(address, on: loop)
    #expect(try reply(to: client.send(RedisCommand("GET", "k")), closing: client)?.get() == .null)
  }

  @Test func `the client reconnects to a server that was killed and restarted`() throws {
    let server = try RedisServer()
    let client = RedisClient(server.address, on: loop)
    var texts: [String] = []
    func ping(then next: @escaping () -> Void) {
      client.perform(RedisCommand("ECHO", "alive")) { result in
        switch result {
        case .success(let value): texts.append(value.text ?? "?")
        case .failure(let error): texts.append(error.isTemporary ? "away" : "\(error)")
        }
        next()
      }
    }
    ping {
      server.kill()
      ping {
        do { try server.start() } catch { Issue.record(error) }
        ping { client.close() }
      }
    }
    loop.run()
    #expect(texts == ["alive", "away", "alive"])
  }

  @Test func `entries of a stream are delivered as they are written`() throws {
    let server = try RedisServer()
    let client = RedisClient(server.address, on: loop)
    var texts: [String] = []
    let reader = client.entries(of: "log", after: "0-0").prefix(3).sink { _ in
      client.close()
    } receiveValue: {
      texts.append($0["n"]?.text ?? "?")
      client.perform(RedisCommand("XADD", "log", "*", "n", RedisArgument(texts.count + 1))) { _ in }
    }
    client.perform(RedisCommand("XADD", "log", "*", "n", 1)) { _ in }
    loop.run()
    #expect(texts == ["1", "2", "3"])
    reader.cancel()
  }
}
