import FeedHTTPServer
import FeedStream
import FeedTLS
import Foundation
import TestSupport
import Testing

/// Tests against third-party programs, over real sockets.
@Suite(.settled, .timeLimit(.minutes(5))) struct OpenSSLTests {
  private let loop = EventLoop()
  private let papers: Papers

  init() throws { papers = try Papers.all.get() }

  private func listener() throws -> Listener { try Listener(at: .internet("127.0.0.1", port: 0), on: loop) }

  private func run(_ program: String, _ arguments: [String], input: Chunk = Chunk()) -> Outcome<Chunk, SubprocessError>
  {
    var subprocess = Subprocess(program, arguments)
    subprocess.standardErrors = .null
    subprocess.standardInput = .pipe
    return Outcome(Just(input).pipe(through: subprocess, on: loop))
  }

  /// Runs the loop until a condition holds, for at most two minutes.
  private func run(until isDone: @escaping () -> Bool) {
    let deadline = loop.now.advanced(by: .seconds(120))
    let look = loop.schedule(after: loop.now, interval: .milliseconds(2)) { [loop] in
      if isDone() || loop.now > deadline { loop.stop() }
    }
    loop.run(.untilStopped)
    look.cancel()
  }

  @Test(arguments: ["-tls1_3", "-tls1_2"])
  func `openssl's client connects to our server and verifies it`(version: String) throws {
    let listener = try listener()
    let server = try papers.server(protocols: ["echo"])
    var session: TLSSession?
    let serving = listener.connections.secured(by: server, on: loop)
      .flatMap { connection in
        session = connection.tls
        return connection.bytes.prefix(1).map { Chunk("<\($0.text)>") }.write(to: connection, atEnd: .closes)
          .catch { _ in Empty<Never, Never>() }
      }
      .sink { _ in }
    let client = run(
      "openssl",
      [
        "s_client", "-connect", "\(listener.address)", "-CAfile", papers("root.pem"), "-verify_return_error",
        "-verify_hostname", "localhost", "-servername", "localhost", "-alpn", "echo", "-quiet", version,
      ], input: "hello\n")
    run { client.completion != nil }
    #expect(client.text.contains("<hello\n>"))
    #expect(session?.version == (version == "-tls1_3" ? "TLSv1.3" : "TLSv1.2"))
    #expect(session?.serverName == "localhost" && session?.applicationProtocol == "echo")
    serving.cancel()
    listener.close()
    loop.run()
  }

  @Test(arguments: ["-tls1_3", "-tls1_2"])
  func `our client connects to openssl's server`(version: String) throws {
    let reserved = try ReservedPort()
    defer { withExtendedLifetime(reserved) {} }
    let port = reserved.number
    var arguments = [
      "s_server", "-accept", "127.0.0.1:\(port)", "-cert", papers("localhost.pem"), "-key", papers("localhost.key"),
      "-rev", "-Verify", "1", "-verify_return_error", "-CAfile", papers("root.pem"), version,
    ]
    arguments.append("-quiet")
    var program = Subprocess("openssl", arguments)
    program.standardErrors = .null
    let server = try program.start(on: loop)
    let client = try TLSClient(trusting: papers.roots, identity: papers.identity("client"))
    let connecting = Outcome(
      Connection.connect(to: "localhost:\(port)", securedBy: client, on: loop)
        .retry(.constant(.milliseconds(50), limit: 100), scheduler: loop))
    run { connecting.completion != nil }
    let connection = try #require(connecting.values.first)
    let answer = Outcome(connection.bytes.lines())
    let asking = Outcome((["abc\n"] as [Chunk]).publisher.write(to: connection))
    run { !answer.values.isEmpty }
    #expect(answer.values == ["cba"] && asking.isFinished)
    #expect(connection.tls?.version == (version == "-tls1_3" ? "TLSv1.3" : "TLSv1.2"))
    // The end is announced with `close_notify` in both directions.
    connection.close()
    server.cancel()
    loop.run()
  }

  @Test func `curl reads ten megabytes from the HTTP server, and refuses a certificate for another host`() throws {
    let listener = try listener()
    let server = HTTPServer(
      listener.connections.secured(by: try papers.server(protocols: ["http/1.1"]), on: loop), on: loop)
    let block = Chunk(repeatElement(120, count: 100_000))
    let serving = server.serve { request in
      request.path == "/long"
        ? .init(body: repeatElement(block, count: 100).publisher) : .text("\(request.method) \(request.path)")
    }
    let port = try #require(listener.address.port)
    func curl(_ arguments: String...) -> Outcome<Chunk, SubprocessError> {
      run("curl", ["--silent", "--max-time", "60", "--cacert", papers("root.pem")] + arguments)
    }
    let short = curl("https://localhost:\(port)/a", "https://localhost:\(port)/b")
    let long = curl("https://localhost:\(port)/long")
    let wrong = curl("--resolve", "wrong.example:\(port):127.0.0.1", "https://wrong.example:\(port)/")
    run { short.completion != nil && long.completion != nil && wrong.completion != nil }
    #expect(short.text == "GET /aGET /b" && short.isFinished)
    #expect(long.values.reduce(0) { $0 + $1.count } == 10_000_000 && long.isFinished)
    guard case .ended(_, .exited(60), _)? = wrong.error else {
      Issue.record("\(String(describing: wrong.completion))")
      return
    }
    serving.cancel()
    server.close()
    listener.close()
    loop.run()
  }
}
