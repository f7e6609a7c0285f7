import FeedFleet
import Foundation
import RedisTestSupport
import TestSupport
import Testing

@testable import feed

/// Arguments of a fleet's commands: hosts, lists, and the maximum number of clients.
@Suite(.settled, .timeLimit(.minutes(5))) struct FleetArgumentTests {
  @Test(arguments: [
    ("EXAMPLE.com", "example.com"), ("a.example:8080", "a.example:8080"), ("http://a.example:81/feed", "a.example:81"),
    ("https://B.example/", "b.example"), ("127.0.0.1:1", "127.0.0.1:1"),
  ])
  func `a host is parsed into the form that its feeds use`(_ text: String, _ name: String) throws {
    #expect(try HostArgument(parsing: text).name == name)
  }

  @Test(arguments: ["", " ", "a b", "/", "://", "ftp://a.example", "a.example:99999", "http://", "a\tb"])
  func `an invalid host is refused`(_ text: String) {
    #expect(throws: (any Error).self) { try HostArgument(parsing: text) }
  }

  @Test func `a lease shorter than a request is refused, and the default is as long as a request may take`() throws {
    func refusal(_ words: String...) -> String? {
      do {
        _ = try FeedCommand.parseAsRoot(["work", "--store", "redis://h"] + words)
        return nil
      } catch {
        return FeedCommand.message(for: error)
      }
    }
    #expect(
      refusal("--lease", "10s")?.contains("--lease 10s is shorter than --timeout 30s") == true,
      "\(refusal("--lease", "10s") ?? "")")
    #expect(refusal("--lease", "50s", "--timeout", "1m")?.contains("shorter than --timeout") == true)
    #expect(refusal("--lease", "10s", "--timeout", "10s") == nil && refusal("--timeout", "5m") == nil)
    var options = FleetWorker.Options()
    #expect(options.lease == .seconds(45))
    options.load.timeout = .seconds(300)
    #expect(options.lease == .seconds(300))
    options.lease = .seconds(400)
    #expect(options.lease == .seconds(400))
  }

  @Test func `pausing a host that has no feeds prints a warning`() async throws {
    let server = try RedisServer()
    _ = try await FeedBinary.run(["subscriptions", "add", "http://127.0.0.1:1/feed", "--store", server.text])
    let other = try await FeedBinary.run(["fleet", "pause", "127.0.0.1", "--store", server.text])
    #expect(
      other.status == 0 && other.errors == "No feed in this fleet is on 127.0.0.1; check the name\n", "\(other.errors)")
    let run = try await FeedBinary.run(["fleet", "pause", "http://127.0.0.1:1/feed", "--store", server.text])
    #expect(
      run.output == "127.0.0.1:1 is paused until you run \"feed fleet resume 127.0.0.1:1\"\n" && run.errors.isEmpty)
    let end = try await FeedBinary.run(["fleet", "resume", "127.0.0.1:1", "--store", server.text])
    #expect(end.output == "Resumed 127.0.0.1:1\n")
  }

  @Test func `import accepts a list with a byte order mark and notes after URLs, and rejects a file that isn't a list`()
    async throws
  {
    let server = try RedisServer()
    try await withFolder { folder in
      let list = folder.appending(path: "list").path
      try Data("\u{FEFF}http://a.example/1\r\nhttp://a.example/2 a note\r\n".utf8).write(to: URL(filePath: list))
      let run = try await FeedBinary.run(["subscriptions", "import", list, "--store", server.text])
      #expect(run.output == "Added 2 of 2 feeds\n" && run.errors.isEmpty, "\(run.errors)")
      try Data(repeating: UInt8(ascii: "a"), count: 3 << 20).write(to: URL(filePath: list))
      let long = try await FeedBinary.run(["subscriptions", "import", list, "--store", server.text])
      #expect(
        long.status == 1 && long.errors.contains("the input is not a list with one URL per line"), "\(long.errors)")
    }
  }

  @Test func `the soft limit of open files is raised for clients, up to the hard limit`() {
    let fitting = ConnectionLimit.raised(upTo: 2000)
    var limit = rlimit()
    getrlimit(.init(RLIMIT_NOFILE.rawValue), &limit)
    #expect(limit.rlim_cur == limit.rlim_max || limit.rlim_cur >= 2512)
    #expect(fitting == 2000 || fitting >= Int(limit.rlim_cur) / 4)
    #expect(ConnectionLimit.raised(upTo: 10) == 10)
  }
}
