import FeedHTTP
import Foundation
import TestSupport
import Testing

@testable import HTTPTestSupport
@testable import feed

/// Error messages: the first word is the program's name, and a hint has its own line.
@Suite(.settled) struct MessageTests {
  @Test(arguments: [
    (["laod", "https://e.example/"], "laod", "load"), (["wach"], "wach", "watch"),
    (["subscription"], "subscription", "subscriptions"), (["subscriptions", "ad", "https://e.example/"], "ad", "add"),
    (["cache", "images", "claer"], "claer", "clear"), (["fleet", "stat"], "stat", "status"),
    (["cache", "list"], "list", "show"), (["cache", "images", "ls"], "ls", "show"),
    (["help", "serv"], "serv", "serve"),
    (["help", "cache", "imags"], "imags", "images"), (["add", "https://e.example/"], "add", "feed subscriptions add"),
    (["list"], "list", "feed subscriptions list"), (["pause"], "pause", "feed fleet pause"),
  ]) func `a misspelled command gets a suggestion`(arguments: [String], word: String, name: String) async throws {
    let run = try await FeedBinary.run(arguments)
    #expect(run.status == 64 && run.output == "")
    #expect(run.errors.hasPrefix("feed: unknown command \"\(word)\"; did you mean \"\(name)\"?\nhint: "))
  }

  @Test func `an unknown command that resembles none gets no suggestion`() {
    #expect(UnknownCommand.message(["zzzzzz"])?.hasPrefix("unknown command \"zzzzzz\"\n") == true)
    for right in [
      ["load"], ["--help"], [], ["help", "load"], ["cache", "images", "http://e.example/"], ["fleet", "--help"],
    ] {
      #expect(UnknownCommand.message(right) == nil, "\(right)")
    }
  }

  @Test func `an error in a command shows that command's usage`() async throws {
    try await withFolder { folder in
      let list = folder.appendingPathComponent("list.opml").path
      let run = try await FeedBinary.run(["watch", "--every", "1m", "--opml", list])
      #expect(run.status == 64)
      #expect(run.errors.hasPrefix("feed: There is no file \(list).\nUsage: feed watch "))
    }
  }

  @Test func `watch without an interval lists the options to choose from`() async throws {
    let run = try await FeedBinary.run(["watch", "https://e.example/"])
    #expect(run.status == 64)
    #expect(run.errors.hasPrefix("feed: Choose --every 15m, --every auto, or --follow.\n"))
  }

  @Test func `an unmatched quote is reported`() async throws {
    let run = try await FeedBinary.run(["watch", "https://e.example/", "--every", "1m", "--exec", "echo 'a"])
    #expect(run.status == 64 && run.errors.hasPrefix("feed: --exec has an unmatched quote.\n"))
  }

  @Test func `a server that doesn't speak TLS is reported, with a hint`() async throws {
    let origin = RawOrigin { try $0.send(RawOrigin.answer("400 Bad Request")) }
    defer { origin.stop() }
    try await withFolder { folder in
      let url = origin.url().absoluteString.replacingOccurrences(of: "http://", with: "https://")
      let run = try await FeedBinary.run(["load", url, "--cache", folder.appendingPathComponent("feeds.db").path])
      #expect(run.status == 1)
      #expect(run.errors.contains("doesn't speak TLS; try http://\n"), "\(run.errors)")
      #expect(run.errors.hasSuffix("hint: try http://\n"))
    }
  }

  @Test func `sizes, refused addresses and redirects are described in plain words`() {
    #expect("\(HTTPError(.tooLarge(limit: 32 << 20), host: "e.example"))".hasSuffix("larger than the limit of 32 MiB"))
    #expect("\(HTTPError(.tooLarge(limit: 1_500), host: "e.example"))".hasSuffix("1.5 KiB"))
    #expect(
      "\(HTTPError(.redirectRefused, host: "e.example"))".hasPrefix("e.example redirects to a URL that isn't followed"))
    #expect(
      "\(HTTPError(.privateNetwork, host: "10.0.0.1"))"
        .hasPrefix("refused private address 10.0.0.1, reached through a link or redirect"))
  }

  @Test func `an --exec command with a dollar sign but without --shell gets a hint`() async throws {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      let options = [url, "--every", "50ms", "--count", "1", "--exec", "echo \"$ITEM_URL\"", "--cache"]
      let run = try await FeedBinary.run(["watch"] + options + [cache])
      #expect(run.output == "$ITEM_URL\n")
      #expect(run.errors.hasPrefix("hint: --exec runs without a shell, so $ has no effect; add --shell\n"))
      let quiet = try await FeedBinary.run(["watch", "--quiet"] + options + ["\(cache).2"])
      #expect(quiet.status == 0 && quiet.errors == "")
    }
  }

  @Test(.timeLimit(.minutes(5)))
  func `with --from-now, items that a feed has at first aren't new, but those that arrive before a restart are`()
    async throws
  {
    try await withOrigin(serving: document("old")) { origin, url, cache in
      let arguments = [
        "watch", url, "--every", "50ms", "--new", "--from-now", "--count", "1", "--format", "json", "--cache", cache,
      ]
      let run = try RunningFeed(arguments)
      while await origin.requestCount < 2 { try await Task.sleep(for: .milliseconds(10)) }
      let item = ["id": "BA298A85-6275-48D3-8315-9C8F7C1CD109", "description": "young", "image": "https://url-2.com"]
      await origin.setAnswer(body: try JSONEncoder().encode(["items": [item]]))
      let output = await run.ending().output
      #expect(output.contains("young") && !output.contains("old"))
      let id = "0E1D8B5C-3D0C-4B5A-9C55-7F6E5B8E3A11"
      let next = ["id": id, "description": "while away", "image": "https://url-3.com"]
      await origin.setAnswer(body: try JSONEncoder().encode(["items": [next, item]]))
      #expect(await (try RunningFeed(arguments)).ending().output.contains("while away"))
    }
  }
}

/// Servers whose certificates the system does not trust, and feeds that require a login.
@Suite(.settled) struct PrivateServerTests {
  @Test func `a private authority is trusted by option or environment, and the hint names the option`() async throws {
    let body = String(decoding: document("A view"), as: UTF8.self)
    let origin = try SecureOrigin(
      host: "localhost", response: "HTTP/1.0 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    defer { origin.stop() }
    try await withFolder { folder in
      let load = [
        "load", origin.url.absoluteString + "answer", "--cache", folder.appendingPathComponent("feeds.db").path,
      ]
      let refused = try await FeedBinary.run(load)
      #expect(refused.status == 1)
      #expect(
        refused.errors.hasSuffix(
          "hint: if you trust the certificate's issuer, pass the issuer's certificate with --cacert <file>\n"))
      #expect(try await FeedBinary.run(load + ["--cacert", origin.certificate]).status == 0)
      #expect(try await FeedBinary.run(load, environment: ["SSL_CERT_FILE": origin.certificate]).status == 0)
      let none = origin.certificate + ".none"
      let missing = try await FeedBinary.run(load + ["--cacert", none])
      #expect(missing.status == 64 && missing.errors.hasPrefix("feed: --cacert: \(none) can't be read."))
    }
  }

  @Test(.timeLimit(.minutes(5))) func `a feed's login is saved in the list, sent by serve, and not exported`()
    async throws
  {
    let origin = RawOrigin.answering { request in
      request["Authorization"] == "Basic bWU6c2VjcmV0" && request["X-Key"] == "k"
        ? RawOrigin.answer("200 OK", [], document("A view")) : RawOrigin.answer("401 Unauthorized")
    }
    defer { origin.stop() }
    try await withFolder { folder in
      let user = [
        "XDG_CONFIG_HOME": folder.appendingPathComponent("config").path,
        "XDG_CACHE_HOME": folder.appendingPathComponent("cache").path,
      ]
      let url = origin.url().absoluteString
      let login = ["--user", "me:secret", "--header", "X-Key: k"]
      #expect(try await FeedBinary.run(["subscriptions", "add", url], environment: user).status == 1)
      let added = try await FeedBinary.run(["subscriptions", "add", url] + login, environment: user)
      #expect(added.output == "Added 1 image: \(url)\n", "\(added.errors)")
      #expect(try await FeedBinary.run(["load"], environment: user).output.contains("A view"))
      let exported = try await FeedBinary.run(["subscriptions", "export"], environment: user)
      #expect(
        exported.output.contains(url) && !exported.output.contains("secret") && !exported.output.contains("X-Key"))
      try FileManager.default.removeItem(at: folder.appendingPathComponent("cache"))
      let run = try RunningFeed(["serve", "--port", "0"], environment: user)
      let port = try port(of: try #require(await run.output.line()))
      while try await !get(port, "/").contains("A view") { try await Task.sleep(for: .milliseconds(20)) }
      run.send(SIGTERM)
      _ = await run.status()
    }
  }
}
