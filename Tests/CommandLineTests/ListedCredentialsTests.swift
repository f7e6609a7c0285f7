import Foundation
import RedisTestSupport
import TestSupport
import Testing

@testable import HTTPTestSupport
@testable import feed

/// Feeds whose logins are in the list of subscriptions: `serve` and `work` send a login only to that feed's server.
@Suite(.settled, .timeLimit(.minutes(5))) struct ListedCredentialsTests {
  /// The header field that the server requires at each path.
  private static let wanted = [
    "/user": ("Authorization", "Basic bWU6c2VjcmV0"), "/header": ("X-Key", "open sesame"),
    "/netrc": ("Authorization", "Basic aGlzOnNlY3JldA=="),
  ]

  /// Calls `body` with a server that requires logins, a list with the logins, and the header fields of the requests.
  private func withList(
    isolation: isolated (any Actor)? = #isolation,
    _ body: (_ list: String, _ base: String, [String: String]) async throws -> Void
  ) async throws {
    let origin = RawOrigin.answering { request in
      guard request.path != "/open" else {
        // This path requires no login, and none must be sent.
        let isPlain = request["Authorization"] == nil && request["X-Key"] == nil
        return RawOrigin.answer("200 OK", [], document(isPlain ? "open" : "told too much"))
      }
      guard let (name, value) = Self.wanted[request.path], request[name] == value else {
        return RawOrigin.answer("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"feeds\""])
      }
      return RawOrigin.answer("200 OK", [], document("for members of \(request.path)"))
    }
    defer { origin.stop() }
    try await withFolder { folder in
      let base = String(origin.url("").absoluteString)
      let home = folder.appendingPathComponent("home")
      try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
      let netrc = home.appendingPathComponent(".netrc").path
      try Data("machine 127.0.0.1 login his password secret\n".utf8).write(to: URL(fileURLWithPath: netrc))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: netrc)
      let list = folder.appendingPathComponent("list.opml").path
      try Data(
        """
        <opml version="2.0" xmlns:feed="urn:feedstream:subscription"><body>
        <outline text="a" xmlUrl="\(base)/user" feed:user="me:secret"/>
        <outline text="b" xmlUrl="\(base)/header" feed:header="X-Key: open sesame"/>
        <outline text="c" xmlUrl="\(base)/netrc" feed:netrc="yes"/>
        <outline text="d" xmlUrl="\(base)/open"/>
        <outline text="e" xmlUrl="\(base)/refused"/>
        </body></opml>
        """.utf8
      ).write(to: URL(fileURLWithPath: list))
      try await body(list, base, ["HOME": home.path, "XDG_CONFIG_HOME": home.path, "XDG_CACHE_HOME": home.path])
    }
  }

  private static let members = ["for members of /user", "for members of /header", "for members of /netrc", "open"]

  @Test func `serve logs in to each feed with the credentials in its list`() async throws {
    try await withList { list, _, environment in
      let run = try RunningFeed(["serve", "--port", "0", "--every", "1h", "--opml", list], environment: environment)
      let number = try port(of: try #require(await run.output.line()))
      for text in Self.members { try await wait(while: try await !get(number, "/").contains(text)) }
      // A port may contain the digits 401, too.
      try await wait(while: try await !get(number, "/health").contains("class=\"failing\">failing since <time"))
      #expect(try await get(number, "/health").contains("401"))
      run.send(SIGTERM)
      #expect(await run.status() == 143)
    }
  }

  @Test func `credentials for the only feed in a list aren't sent to a feed that is added later`() async throws {
    let mine = RawOrigin.answering { request in
      guard request["Authorization"] == "Basic bWU6c2VjcmV0" else { return RawOrigin.answer("401 Unauthorized") }
      return RawOrigin.answer("200 OK", [], document("mine"))
    }
    let other = RawOrigin.answering(at: "127.0.0.2") { request in
      let isPlain = request["Authorization"] == nil && request["X-Key"] == nil
      return RawOrigin.answer("200 OK", [], document(isPlain ? "open" : "told too much"))
    }
    defer {
      mine.stop()
      other.stop()
    }
    try await withFolder { folder in
      let list = folder.appending(path: "list.opml")
      func write(_ urls: [URL]) throws {
        let outlines = urls.map { "<outline xmlUrl=\"\($0.absoluteString)\"/>" }.joined()
        try Data("<opml version=\"2.0\"><body>\(outlines)</body></opml>".utf8).write(to: list, options: .atomic)
      }
      try write([mine.url()])
      let run = try RunningFeed([
        "watch", "--opml", list.path, "--every", "1h", "--user", "me:secret", "--header", "X-Key: open sesame",
        "--format", "json", "--cache", "\(list.path).db",
      ])
      #expect(try #require(await run.output.line()).contains("mine"))
      try write([mine.url(), other.url()])
      let line = try #require(await run.output.line())
      #expect(line.contains("\"open\""), "\(line)")
      run.send(SIGTERM)
      _ = await run.status()
    }
  }

  @Test func `credentials in a list that can't be sent cause a warning that doesn't repeat them`() async throws {
    let origin = RawOrigin.answering { _ in RawOrigin.answer("200 OK", [], document("open")) }
    defer { origin.stop() }
    try await withFolder { folder in
      let (list, base) = (folder.appending(path: "list.opml"), origin.url("").absoluteString)
      try Data(
        """
        <opml version="2.0" xmlns:feed="urn:feedstream:subscription"><body>
        <outline text="a" xmlUrl="\(base)/a" feed:header="X-Key: k&#xD;&#xA;secret"/>
        <outline text="b" xmlUrl="\(base)/b" feed:user="secret"/>
        <outline text="c" xmlUrl="\(base)/c" feed:netrc="yes"/>
        <outline text="d" xmlUrl="\(base)/d" feed:netrc="yes"/>
        </body></opml>
        """.utf8
      ).write(to: list)
      // This home folder has no netrc file.
      let ending = try await FeedBinary.run(
        ["load", "--opml", list.path, "--cache", "\(list.path).db"], environment: ["HOME": folder.path])
      #expect(ending.status == 0)
      #expect(ending.errors.contains("feed:header of \(base)/a"))
      #expect(ending.errors.contains("feed:user of \(base)/b"))
      #expect(ending.errors.ranges(of: "feed:netrc has no effect: cannot read \(folder.path)/.netrc").count == 1)
      #expect(!ending.errors.contains("secret"))
    }
  }

  @Test func `a list that changes causes warnings only about new and changed feeds`() async throws {
    let origin = RawOrigin.answering { RawOrigin.answer("200 OK", [], document("open at \($0.path.dropFirst())")) }
    defer { origin.stop() }
    try await withFolder { folder in
      let (list, base) = (folder.appending(path: "list.opml"), origin.url("").absoluteString)
      func write(_ paths: [String]) throws {
        let outlines = paths.map { "<outline xmlUrl=\"\(base)/\($0)\" feed:user=\"secret\"/>" }.joined()
        let text = "<opml version=\"2.0\" xmlns:feed=\"urn:feedstream:subscription\"><body>\(outlines)</body></opml>"
        try Data(text.utf8).write(to: list, options: .atomic)
      }
      try write(["a"])
      let run = try RunningFeed([
        "watch", "--opml", list.path, "--every", "1h", "--format", "json", "--cache", "\(list.path).db",
      ])
      #expect(try #require(await run.output.line()).contains("open at a"))
      for (paths, added) in [(["a", "b"], "b"), (["a", "b", "c"], "c")] {
        try write(paths)
        #expect(try #require(await run.output.line()).contains("open at \(added)"))
      }
      run.send(SIGTERM)
      let errors = await run.ending().errors
      for path in ["a", "b", "c"] {
        #expect(errors.ranges(of: "feed:user of \(base)/\(path) isn't sent").count == 1, "\(errors)")
      }
    }
  }

  @Test func `work logs in to each feed with the credentials in its list, and stores none of them`() async throws {
    let server = try RedisServer()
    try await withList { list, base, environment in
      for path in ["user", "header", "netrc", "open", "refused"] {
        let added = try await FeedBinary.run(
          ["subscriptions", "add", "\(base)/\(path)", "--store", server.text], environment: environment)
        #expect(added.status == 0, "\(added.errors)")
      }
      let worker = try RunningFeed(
        [
          "work", "--store", server.text, "--opml", list, "--gap", "1ms", "--verbose", "--every", "1h", "--format",
          "json",
        ],
        environment: environment)
      var outcomes: [String: String] = [:]
      for _ in 0..<5 {
        let line = try #require(await worker.output.line())
        let report = try #require(try JSONSchema(named: "work").check(lines: line).first)
        let path = (report["url"] as? String).flatMap { URL(string: $0) }?.path ?? ""
        outcomes[path] = report["outcome"] as? String
      }
      worker.send(SIGINT)
      #expect(await worker.status() == 130)
      #expect(
        ["/user", "/header", "/netrc", "/open"].allSatisfy { outcomes[$0] == "changed" }
          && outcomes["/refused"] != "changed",
        "\(outcomes)")
      for path in ["user", "header", "netrc", "open"] {
        let explained = try await FeedBinary.run(["explain", "\(base)/\(path)", "--store", server.text])
        #expect(explained.output.contains("saved:  1 image"), "\(explained.output)")
      }
      let keys = try server.cli("KEYS", "*").split(separator: "\n").map(String.init)
      for key in keys {
        let dump = try server.cli("DUMP", key)
        #expect(!dump.contains("secret") && !dump.contains("sesame") && !dump.contains("bWU6c2VjcmV0"), "\(key)")
      }
    }
  }
}
