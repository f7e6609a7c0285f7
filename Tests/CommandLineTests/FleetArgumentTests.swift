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

  @Test(arguments: [(10, 8), (64, 63), (64, 1), (7, 7), (200, 3)])
  func `the shares of a worker's loops add up to --concurrency`(_ concurrency: Int, _ loops: Int) {
    let shares = (1...loops).map { WorkCommand.share(of: concurrency, forWorker: $0, of: loops) }
    #expect(shares.reduce(0, +) == concurrency)
    #expect(shares.min()! >= 1 && shares.max()! - shares.min()! <= 1)
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

  @Test func `the help line in a usage error is the option's help, unchanged`() async throws {
    for words in [["fleet", "status"], ["work"], ["fleet", "status", "--store", "localhost"]] {
      let run = try await FeedBinary.run(words)
      #expect(run.status == 64)
      #expect(
        run.errors.contains("[/database], rediss://… for TLS, redis+sentinel://[user:password@]host[:port]"),
        "\(run.errors)")
    }
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

  @Test func `import into a fleet reads all of a named pipe`() async throws {
    let server = try RedisServer()
    try await withFolder { folder in
      let (pipe, list) = (folder.appending(path: "pipe").path, folder.appending(path: "list"))
      try Data((0..<1000).map { "http://a.example/\($0)\n" }.joined().utf8).write(to: list)
      let run = try await FeedBinary.shell(
        """
        mkfifo \(pipe)
        cat \(list.path) >\(pipe) &
        "$FEED" subscriptions import \(pipe) --store \(server.text)
        """)
      #expect(run.output == "Added 1000 of 1000 feeds\n" && run.errors.isEmpty, "\(run.errors)")
    }
  }

  @Test func `import into a fleet accepts angle brackets in a list of URLs, and says when OPML is cut off`()
    async throws
  {
    let server = try RedisServer()
    try await withFolder { folder in
      let list = folder.appending(path: "list")
      try Data("# from <me@a.example>\nhttp://a.example/1 <A>\n".utf8).write(to: list)
      let lines = try await FeedBinary.run(["subscriptions", "import", list.path, "--store", server.text])
      #expect(lines.output == "Added 1 of 1 feed\n", "\(lines.errors)")
      try Data("<opml version='2.0'><body><outline xmlUrl='http://a.example/2'/>".utf8).write(to: list)
      let cut = try await FeedBinary.run(["subscriptions", "import", list.path, "--store", server.text])
      #expect(cut.output == "Added 1 of 1 feed\n")
      #expect(cut.errors == "\(list.path) is cut off; feeds may be missing\n", "\(cut.errors)")
    }
  }

  @Test(arguments: [
    "<rss version='2.0'><channel><title>A</title><link>\nhttp://a.example/\n</link></channel></rss>",
    "\u{FEFF}<!DOCTYPE html><p>\nhttp://a.example/\n</p>",
    "A warning\n<rss version='2.0'><channel><title>A</title><link>\nhttp://a.example/\n</link></channel></rss>",
  ]) func `import into a fleet rejects a feed and a web page`(document: String) async throws {
    let server = try RedisServer()
    try await withFolder { folder in
      let file = folder.appending(path: "file")
      try Data(document.utf8).write(to: file)
      let run = try await FeedBinary.run(["subscriptions", "import", file.path, "--store", server.text])
      #expect(run.status == 64 && run.output.isEmpty && run.errors.contains(", not a list of "), "\(run.errors)")
      // Standard input is read piece by piece.
      guard !document.hasPrefix("A") else { return }
      let input = try await FeedBinary.shell(
        "exec \"$FEED\" subscriptions import --store \(server.text) - <\(file.path)")
      #expect(input.status == 1 && input.output.isEmpty && input.errors.contains(" is not a list "), "\(input.errors)")
    }
  }

  @Test func `import into a fleet rejects OPML from a pipe`() async throws {
    let server = try RedisServer()
    let list = "<opml version='2.0'><body>\n<outline xmlUrl='http://a.example/'/>\n</body></opml>"
    let run = try await FeedBinary.shell("echo \"\(list)\" | \"$FEED\" subscriptions import - --store \(server.text)")
    #expect(run.status == 1 && run.errors.contains("With --store, OPML must be a regular file"), "\(run.errors)")
  }

  @Test func `import into a fleet accepts a long list of URLs with an angle bracket at its beginning`() async throws {
    let server = try RedisServer()
    try await withFolder { folder in
      let list = folder.appending(path: "list")
      // Longer than OPML may be.
      let comments = String(repeating: "# \(String(repeating: "x", count: 1_000))\n", count: 34_000)
      try Data("# from <me@a.example>\n\(comments)http://a.example/1\n".utf8).write(to: list)
      let run = try await FeedBinary.run(["subscriptions", "import", list.path, "--store", server.text])
      #expect(run.output == "Added 1 of 1 feed\n", "\(run.errors)")
    }
  }

  @Test func `fleet status in JSON contains no characters that a terminal interprets`() async throws {
    let server = try RedisServer()
    _ = try await FeedBinary.run(["subscriptions", "add", "http://a.example/", "--store", server.text])
    let reason = "\u{9B}2J\u{202E}"
    let pause = try await FeedBinary.run(["fleet", "pause", "a.example", "--reason", reason, "--store", server.text])
    #expect(pause.status == 0, "\(pause.errors)")
    let run = try await FeedBinary.run(["fleet", "status", "--format", "json", "--store", server.text])
    let status = try #require(try JSONSchema(named: "fleet-status").check(lines: run.output).first)
    #expect((status["pauses"] as? [[String: Any]])?.first?["reason"] as? String == reason, "\(run.output)")
    #expect(run.output.unicodeScalars.allSatisfy { $0.isASCII })
  }

  @Test func `subscriptions add --store writes its messages as --log-format says`() async throws {
    let run = try await FeedBinary.run([
      "subscriptions", "add", "http://a.example/", "--store", "redis://127.0.0.1:1", "--log-format", "json",
    ])
    #expect(run.status == 1 && run.errors.hasPrefix("{"), "\(run.errors)")
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
