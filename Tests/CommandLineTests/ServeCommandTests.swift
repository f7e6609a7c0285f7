import ArgumentParser
import FeedHTTPServer
import FeedStream
import Foundation
import ImageFeed
import Samples
import TestSupport
import Testing

@testable import feed

@Suite(.settled, .timeLimit(.minutes(5))) struct ServeCommandTests {
  private func body(_ answer: String) -> String {
    answer.components(separatedBy: "\r\n\r\n").dropFirst().joined(separator: "\r\n\r\n")
  }

  @Test func `the page shows feeds' texts escaped, under a strict Content-Security-Policy`() async throws {
    try await withGallery(["<script>alert(1)</script>\u{1B}[2J", "\"quoted\" & plain"]) { port, _, _ in
      let page = try await get(port, "/")
      #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(
        page.contains(
          "Content-Security-Policy: default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'"))
      #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;\\u{1B}[2J"))
      #expect(page.contains("alt=\"&quot;quoted&quot; &amp; plain\""))
      #expect(!page.contains("<script>") && !page.contains("\u{1B}"))
      let outside = page.components(separatedBy: "\"").filter { $0.hasPrefix("http") || $0.hasPrefix("//") }
      #expect(outside == [])
      for path in ["/style.css", "/script.js", "/icon.svg", "/health"] {
        #expect(try await get(port, path).hasPrefix("HTTP/1.1 200 OK\r\n"), "\(path)")
      }
      #expect(try await get(port, "/nothing").hasPrefix("HTTP/1.1 404"))
    }
  }

  @Test func `serve sends only images of its feeds, checks that they are images, and loads each once`() async throws {
    try await withGallery(["a", "b"]) { port, origin, _ in
      let paths = try await imagePaths(port)
      #expect(paths.count == 2)
      for query in ["", "?w=400"] {
        let image = try await get(port, paths[0] + query)
        #expect(
          image.contains("Content-Type: image/gif\r\n") && image.contains("X-Content-Type-Options: nosniff\r\n"))
        #expect(image.contains("GIF89a") && image.contains("; sandbox\r\n"))
      }
      #expect(await origin.asked.count { $0 == "/0" } == 1)
      #expect(try await get(port, paths[1]).hasPrefix("HTTP/1.1 502"))
      #expect(try await get(port, paths[0] + "?w=0").hasPrefix("HTTP/1.1 400"))
      for path in ["/image/none", "/image/http:%2F%2F127.0.0.1%2F", "/image/..%2Ffeed.json", "/image/"] {
        #expect(try await get(port, path).hasPrefix("HTTP/1.1 404"), "\(path)")
      }
    }
  }

  @Test func `images are served in the page's sizes, and not sent again when unchanged`() async throws {
    try await withGallery(["a"]) { port, origin, _ in
      await origin.serve(Chunk(MadeImage.png(width: 600, height: 450)), at: "/0")
      let path = try #require(try await imagePaths(port).first)
      let original = try await answer(port, path)
      #expect(original.head.contains("Content-Type: image/png\r\n"))
      for (width, size) in [(1, [200, 150]), (400, [400, 300]), (400, [400, 300])] {
        let small = try await answer(port, "\(path)?w=\(width)")
        #expect(small.head.contains("Content-Type: image/jpeg\r\n") && small.body.count < original.body.count / 10)
        #expect(jpegSize(small.body) == size)
        let tag = try #require(small.head.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") })
        let again = try await answer(port, "\(path)?w=\(width)", "If-None-Match: \(tag.dropFirst(6))\r\n")
        #expect(again.head.hasPrefix("HTTP/1.1 304") && again.body.isEmpty)
      }
      for width in ["800", "1601", "4096"] {
        #expect(try await answer(port, "\(path)?w=\(width)").body == original.body, "it is not made larger")
      }
      #expect(await origin.asked.count { $0 == "/0" } == 1)
      #expect(try await get(port, "/metrics").contains("feed_serve_images_made_total 3\n"))
    }
  }

  @Test func `an image that can't be decoded isn't sent, and the response says why`() async throws {
    try await withGallery(["a", "b"]) { port, origin, _ in
      await origin.serve(Chunk(MadeImage.zeros(width: 8_000, height: 5_001, .gray)), at: "/0")
      let paths = try await imagePaths(port)
      let answers = try await [get(port, paths[0] + "?w=400"), get(port, paths[1] + "?w=400")]
      for (answer, reason) in zip(
        answers,
        [
          "The image has 8000 × 5001 pixels; the limits are 40 megapixels, and 16,384 pixels per side.\n",
          "The server sent a web page where an image was expected.\n",
        ])
      {
        #expect(answer.hasPrefix("HTTP/1.1 502") && answer.contains("Content-Type: text/plain; charset=utf-8\r\n"))
        #expect(body(answer) == reason)
        #expect(answer.contains("Cache-Control: private, max-age=60\r\n"))
      }
    }
  }

  @Test func `serve reports when a feed starts and stops failing`() async throws {
    try await withOrigin(serving: CaseStudyFeed.body) { origin, url, cache in
      await origin.setAnswer(status: 500, body: Data())
      let run = try RunningFeed([
        "serve", "--port", "0", "--every", "50ms", "--images-ahead", "0", "--cache", cache, url,
      ])
      #expect(await run.errors.read(upTo: "Warning: \(url) can't be loaded: ") != nil)
      await origin.setAnswer(body: CaseStudyFeed.body)
      #expect(await run.errors.read(upTo: "\(url) is loaded again\n") != nil)
      run.send(SIGTERM)
      _ = await run.status()
    }
  }

  @Test func `if image-decoder can't be run, load prints a warning`() async throws {
    try await withFolder { folder in
      let copy = folder.appendingPathComponent("feed")
      try ExecutableFile.copy(FeedBinary.path, to: copy.path)
      try ExecutableFile.write(script: "exit 127", to: folder.appendingPathComponent("image-decoder").path)
      let origin = try ImageOrigin()
      let url = try await origin.start(["a", "b"])
      for place in ["/0", "/1"] { await origin.serve(Chunk(MadeImage.png(width: 6, height: 4)), at: place) }
      let cache = folder.appendingPathComponent("feeds.db").path
      let run = try RunningFeed(
        program: copy.path, ["load", "--images", "always", "--cache", cache, url], environment: [:])
      let ending = await run.ending()
      #expect(ending.errors.components(separatedBy: "image-decoder can't be loaded").count == 2, "\(ending.errors)")
      #expect(ending.output.contains("no decoder"))
      await origin.stop()
      origin.thread.shutdown()
    }
  }

  @Test func `without image-decoder, images are served in their original size`() async throws {
    try await withFolder { folder in
      // A copy of the command in a separate folder.
      let copy = folder.appendingPathComponent("feed")
      try ExecutableFile.copy(FeedBinary.path, to: copy.path)
      let origin = try ImageOrigin()
      let url = try await origin.start(["a"])
      await origin.serve(Chunk(MadeImage.png(width: 600, height: 450)), at: "/0")
      let cache = folder.appendingPathComponent("feeds.db").path
      let run = try RunningFeed(program: copy.path, ["serve", "--port", "0", "--cache", cache, url], environment: [:])
      let number = try port(of: try #require(await run.output.line()))
      while try await get(number, "/metrics").contains("feed_checks_total{feed=\"\(url)\"} 0\n") {
        try await Task.sleep(for: .milliseconds(20))
      }
      let path = try #require(try await imagePaths(number).first)
      #expect(try await answer(number, "\(path)?w=200").head.contains("Content-Type: image/png\r\n"))
      run.send(SIGTERM)
      let ending = await run.ending()
      #expect(ending.errors.contains("image-decoder isn't installed next to feed"))
      await origin.stop()
      origin.thread.shutdown()
    }
  }

  /// The size in a JPEG's frame header.
  private func jpegSize(_ bytes: Chunk) -> [Int]? {
    var place = 2
    while place + 9 < bytes.count, bytes[place] == 0xFF {
      if (0xC0...0xC2).contains(bytes[place + 1]) {
        return [7, 5].map { Int(bytes[place + $0]) << 8 | Int(bytes[place + $0 + 1]) }
      }
      place += 2 + (Int(bytes[place + 2]) << 8 | Int(bytes[place + 3]))
    }
    return nil
  }

  @Test func `serve requests a feed conditionally, and after a restart not before its due time`() async throws {
    try await withFolder { folder in
      let origin = try ImageOrigin()
      let url = try await origin.start(["a"])
      await origin.send(withFeed: [("ETag", "\"1\"")])
      let cache = folder.appendingPathComponent("feeds.db").path
      func serve(_ body: (Int) async throws -> Void) async throws {
        let run = try RunningFeed(["serve", "--port", "0", "--every", "50ms", "--cache", cache, url])
        try await body(try port(of: try #require(await run.output.line())))
        run.send(SIGTERM)
        _ = await run.status()
      }
      func checks(_ port: Int) async throws -> Int {
        let line = try await get(port, "/metrics").split(separator: "\n").first { $0.hasPrefix("feed_checks_total{") }
        return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
      }
      try await serve { port in try await wait(while: try await checks(port) < 3) }
      #expect(await origin.unchanged >= 2)
      await origin.send(withFeed: [("ETag", "\"2\""), ("Cache-Control", "max-age=3600")])
      try await serve { port in try await wait(while: try await checks(port) < 1) }
      // The image is requested if no earlier run has saved it.
      let before = await origin.asked.count { $0 == "/feed.json" }
      try await serve { port in
        try await wait(while: try await !get(port, "/").contains("alt=\"a\""))
        #expect(try await checks(port) == 0)
        let health = try await get(port, "/health")
        #expect(health.contains(">OK; saved ") && health.contains("The feed will be requested again at"))
        #expect(try await get(port, "/").contains("<div id=\"bar\" role=\"status\" hidden>"))
      }
      #expect(await origin.asked.count { $0 == "/feed.json" } == before)
      await origin.stop()
      origin.thread.shutdown()
    }
  }

  @Test func `images keep their URLs after a restart`() async throws {
    try await withFolder { folder in
      let origin = try ImageOrigin()
      let url = try await origin.start(["a"])
      var known: [[String]] = []
      for name in ["feeds.db", "feeds.db", "other.db"] {
        let cache = folder.appendingPathComponent(name).path
        let run = try RunningFeed(["serve", "--port", "0", "--cache", cache, url])
        let number = try port(of: try #require(await run.output.line()))
        try await wait(while: try await imagePaths(number).isEmpty)
        known.append(try await imagePaths(number))
        if let path = known.first?.first, name == "feeds.db" {
          #expect(try await get(number, path).hasPrefix("HTTP/1.1 200"))
        }
        run.send(SIGTERM)
        _ = await run.status()
      }
      #expect(known[0] == known[1] && known[1] != known[2], "and nobody can tell them from those of others")
      let key = folder.appendingPathComponent("feeds.serve-key").path
      let attributes = try FileManager.default.attributesOfItem(atPath: key)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
      // Another file in the key's place is refused; an empty one is replaced.
      try Data([1, 2, 3]).write(to: URL(fileURLWithPath: key))
      let cache = folder.appendingPathComponent("feeds.db").path
      #expect(throws: ValidationError.self) { try PageSecret.kept(besideCacheAt: cache) }
      #expect(try Data(contentsOf: URL(fileURLWithPath: key)) == Data([1, 2, 3]))
      try Data().write(to: URL(fileURLWithPath: key))
      #expect(try PageSecret.kept(besideCacheAt: cache).count == 16)
      #expect(try PageSecret.kept(besideCacheAt: cache) == PageSecret.kept(besideCacheAt: cache))
      #expect(try PageSecret.kept(besideCacheAt: "/proc/none/feeds.db").count == 16)
      await origin.stop()
      origin.thread.shutdown()
    }
  }

  @Test func `servers that start together on a new cache use the same key`() async throws {
    try await withFolder { folder in
      for round in 0..<20 {
        let cache = folder.appendingPathComponent("\(round).db").path
        // Half of them find an empty file, which a full disk leaves behind.
        if round % 2 == 1 { try Data().write(to: folder.appendingPathComponent("\(round).serve-key")) }
        let keys = try await withThrowingTaskGroup(of: [UInt8].self) { group in
          for _ in 0..<4 { group.addTask { try PageSecret.kept(besideCacheAt: cache) } }
          return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(try keys == [PageSecret.kept(besideCacheAt: cache)])
      }
    }
  }

  @Test func `events show changes live, and name unreachable servers`() async throws {
    try await withGallery(["a"]) { port, origin, _ in
      let events = "GET /events HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n"
      let hello = try await ask(port, events, upTo: "\"version\":1}\n\n")
      #expect(hello.contains("Content-Type: text/event-stream\r\n"))
      #expect(hello.contains("event: hello\ndata: {\"away\":[],\"failing\":0,\"images\":1,\"run\":\""))
      #expect(hello.contains("\nid: "))
      try await origin.start(["new", "a"])
      _ = try await ask(port, events, upTo: "\"images\":2,")
      #expect(try await get(port, "/").contains("alt=\"new\""))
      await origin.stop()
      let away = try await ask(port, events, upTo: "\"reason\"")
      // A running request is cut off; the next one finds no server.
      #expect(away.contains("could not connect") || away.contains("broke before the response"))
      let page = try await get(port, "/")
      #expect(
        page.contains(
          /has been unreachable since <time class="clock" datetime="[^"]+">\d\d:\d\d<\/time>; its saved imag/))
      #expect(page.contains("alt=\"new\""))
      #expect(page.components(separatedBy: "been unreachable").count == 2, "it is said once, not on every card")
      #expect(try await get(port, "/metrics").contains("feed_up{feed="))
    }
  }

  @Test func `older images are on further pages`() async throws {
    try await withGallery((0..<9).map { "\($0)" }) { port, _, _ in
      let page = try await get(port, "/?from=5")
      #expect(!page.contains("alt=\"4\"") && page.contains("alt=\"5\"") && page.contains("alt=\"8\""))
      #expect(try await get(port, "/?from=-7").contains("alt=\"0\""))
      #expect(try await get(port, "/?from=99999999999999999999").contains("alt=\"0\""))
    }
  }

  @Test func `a further page starts after the image in its URL, even when earlier images are gone`() async throws {
    try await withGallery((0..<9).map { "\($0)" }) { port, _, _ in
      let cards = try await get(port, "/").components(separatedBy: "<li id=\"p").dropFirst()
      let key = try #require(Array(cards)[4].split(separator: "\"").first)
      // Three items have been removed since, so the item's old number would skip three others.
      let page = try await get(port, "/?from=8&after=\(key)")
      #expect(!page.contains("alt=\"4\"") && page.contains("alt=\"5\"") && page.contains("href=\"/\">The latest"))
      let other = try await get(port, "/?from=8&after=gone")
      #expect(!other.contains("alt=\"7\"") && other.contains("alt=\"8\""))
    }
  }

  @Test func `behind a TLS proxy, feeds contain the proxy's URLs`() async throws {
    try await withGallery(["a"]) { port, _, _ in
      let feed = try await get(port, "/feed.json", "X-Forwarded-Proto: https\r\n")
      #expect(feed.contains("\"feed_url\":\"https://127.0.0.1:\(port)/feed.json\""))
      let other = try await get(port, "/feed.json", "X-Forwarded-Proto: javascript\r\n")
      #expect(other.contains("\"feed_url\":\"http://127.0.0.1:\(port)/feed.json\""))
    }
  }

  @Test func `every response has the security headers, even errors`() async throws {
    try await withGallery(["a", "b"]) { port, _, _ in
      let host = "Host: localhost\r\nConnection: close\r\n\r\n"
      let missing = try #require(try await imagePaths(port).last)
      for (request, status) in [
        ("GET / HTTP/1.1\r\n\(host)", 200), ("GET /nothing HTTP/1.1\r\n\(host)", 404),
        ("GET /image/none HTTP/1.1\r\n\(host)", 404), ("GET \(missing) HTTP/1.1\r\n\(host)", 502),
        ("GET \(missing)?w=x HTTP/1.1\r\n\(host)", 400), ("DELETE /feed.json HTTP/1.1\r\n\(host)", 405),
        ("OPTIONS / HTTP/1.1\r\n\(host)", 204), ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
        ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/3.0\r\n\(host)", 505),
      ] {
        let answer = try await ask(port, request, upTo: "\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(request)")
        for field in ["Content-Security-Policy: default-src 'none'; ", "X-Content-Type-Options: nosniff\r\n"] {
          #expect(answer.components(separatedBy: field).count == 2, "\(request)")
        }
      }
    }
  }

  @Test func `a request for an unknown host name is refused with 421`() async throws {
    try await withGallery(["a"]) { port, _, _ in
      func status(_ host: String) async throws -> String {
        String(
          try await ask(port, "GET / HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n").dropFirst(9).prefix(3))
      }
      for host in ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:80"] {
        let answer = try await status(host)
        #expect(answer == "200", "\(host)")
      }
      for host in ["evil.example", "127.0.0.1.evil.example", "192.0.2.1", "localhost.evil.example"] {
        let answer = try await status(host)
        #expect(answer == "421", "\(host)")
      }
      let absolute = "GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
      let other = try await ask(port, absolute)
      #expect(other.hasPrefix("HTTP/1.1 421"))
    }
  }

  @Test func `a page of another site can link to the page, but can't make a visit that isn't seen`() async throws {
    try await withGallery(["a"]) { port, origin, _ in
      func ask(_ site: String, _ destination: String, _ others: String = "") async throws -> String {
        try await get(port, "/", "Sec-Fetch-Site: \(site)\r\nSec-Fetch-Dest: \(destination)\r\n\(others)")
      }
      for site in ["cross-site", "same-site"] {
        for destination in ["image", "empty", "iframe", "object"] {
          let answer = try await ask(site, destination)
          #expect(answer.hasPrefix("HTTP/1.1 403"), "\(site), \(destination)")
        }
        for purpose in ["prefetch", "prefetch;prerender"] {
          let answer = try await ask(site, "document", "Sec-Purpose: \(purpose)\r\n")
          #expect(answer.hasPrefix("HTTP/1.1 403"), "\(site), \(purpose)")
        }
      }
      // An item is new if it came after the first visit.
      try await origin.start(["a", "b"])
      try await wait(while: try await imagePaths(port).count < 2)
      for (site, destination) in [
        ("cross-site", "document"), ("same-site", "document"), ("none", "empty"), ("same-origin", "empty"),
      ] {
        let answer = try await ask(site, destination)
        #expect(answer.hasPrefix("HTTP/1.1 200") && !answer.contains("class=\"fresh\""), "\(site), \(destination)")
      }
      try await origin.start(["a", "b", "c"])
      try await wait(while: try await imagePaths(port).count < 3)
      #expect(try await ask("cross-site", "document").contains("class=\"fresh\""))
    }
  }

  @Test func `with --token, requests need the token, and a redirect removes it from the URL`() async throws {
    try await withGallery(["a"], "--token", "sesame") { port, _, _ in
      #expect(try await get(port, "/").hasPrefix("HTTP/1.1 401"))
      #expect(try await get(port, "/?token=sesam").hasPrefix("HTTP/1.1 401"))
      #expect(try await get(port, "/").contains("WWW-Authenticate: Bearer realm="))
      let said = try await get(port, "/?token=sesame").split(separator: "\r\n").first { $0.hasPrefix("Set-Cookie: ") }
      let pass = try #require(said?.dropFirst(12).split(separator: ";").first)
      #expect(pass.hasPrefix("feed-token-") && !pass.contains("sesame"), "it tells nothing of the token")
      let cookie = "Set-Cookie: \(pass); HttpOnly; SameSite=Lax; Path=/\r\n"
      for path in ["/", "/health"] {
        // A request as a browser sends it.
        let first = try await get(port, "\(path)?token=sesame", "Accept: text/html,*/*;q=0.8\r\n")
        #expect(first.hasPrefix("HTTP/1.1 303") && first.contains("Location: \(path)\r\n") && first.contains(cookie))
        // A request as a program sends it, possibly without cookies.
        let page = try await get(port, "\(path)?token=sesame")
        #expect(page.hasPrefix("HTTP/1.1 200") && page.contains(cookie) && page.contains("</html>"))
      }
      let show = try await get(
        port, "/slideshow?every=5s&token=sesame&clock=1&folder=Sea%20&x", "Accept: text/html\r\n")
      #expect(show.contains("Location: /slideshow?every=5s&clock=1&folder=Sea%20&x\r\n"))
      // Another server on the same host may have set a cookie, too.
      let cookies = "Cookie: a=b\u{600}; feed-token-0=other\u{600}; \(pass)\r\n"
      #expect(try await get(port, "/", cookies).hasPrefix("HTTP/1.1 200"))
      let secure = try await get(port, "/?token=sesame", "X-Forwarded-Proto: https\r\n")
      #expect(secure.contains("Set-Cookie: \(pass); HttpOnly; SameSite=Lax; Path=/; Secure\r\n"))
      #expect(try await get(port, "/feed.json", "Authorization: Bearer sesame\r\n").contains("?token=sesame\""))
      #expect(try await get(port, "/feed.atom?token=sesame").hasPrefix("HTTP/1.1 200"))
    }
  }

  @Test func `after ten wrong tokens, all tokens are refused, but a browser with the cookie is let in`() async throws {
    try await withGallery(["a"], "--token", "sesame") { port, _, _ in
      let first = try await get(port, "/?token=sesame").split(separator: "\r\n").first { $0.hasPrefix("Set-Cookie: ") }
      let pass = try #require(first?.dropFirst(12).split(separator: ";").first)
      var right = ""
      // Another guess is allowed every few seconds, perhaps between the last wrong one and the right one.
      for _ in 0..<20 where !right.hasPrefix("HTTP/1.1 429") {
        var answers: [Substring] = []
        while answers.last?.contains("429") != true, answers.count < 100 {
          answers.append(try await get(port, "/?token=guess\(answers.count)").prefix(12))
        }
        #expect(right != "" || answers.count > 10)
        #expect(answers.dropLast().allSatisfy { $0.hasSuffix("401") })
        right = try await get(port, "/", "Authorization: Bearer sesame\r\n")
      }
      #expect(right.hasPrefix("HTTP/1.1 429") && right.contains("\r\nRetry-After: "), "\(right.prefix(300))")
      #expect(try await get(port, "/", "Cookie: \(pass)\r\n").hasPrefix("HTTP/1.1 200"))
      #expect(try await get(port, "/").hasPrefix("HTTP/1.1 401"), "it offers none")
    }
  }

  @Test func `token guesses are limited per client and in total, and the limits recover with time`() {
    var guesses = TokenGuesses()
    var now = StreamInstant(nanoseconds: 0)
    func isAllowed(_ host: String, isRight: Bool = false) -> Bool {
      let peer = SocketAddress.internet(host, port: 1)
      guard guesses.areAllowed(to: peer, at: now) else { return false }
      guesses.note(isRight: isRight, of: peer, at: now)
      return true
    }
    #expect((0..<20).count { _ in isAllowed("192.0.2.1") } == 10)
    #expect(isAllowed("192.0.2.2", isRight: true))
    now = now.advanced(by: .seconds(18))
    #expect((0..<20).count { _ in isAllowed("192.0.2.1") } == 3)
    // Many clients together have a limit, too.
    #expect((0..<1_000).count { isAllowed("2001:db8:0:\(String($0, radix: 16))::1") } < 100)
    #expect(!isAllowed("198.51.100.1", isRight: true))
    #expect(isAllowed("192.0.2.2", isRight: true), "it had the right one before")
    now = now.advanced(by: .seconds(1))
    #expect(isAllowed("198.51.100.1", isRight: true))
    now = now.advanced(by: .seconds(10_000))
    #expect((0..<20).count { _ in isAllowed("192.0.2.1") } == 10)
    // A client that left isn't remembered forever: it would take the place of a new one.
    for number in 0..<5_000 {
      now = now.advanced(by: .seconds(1))
      _ = isAllowed("2001:db8:\(String(number, radix: 16))::1")
    }
    now = now.advanced(by: .seconds(3_600))
    #expect((0..<20).count { _ in isAllowed("203.0.113.1") } == 10)
  }

  @Test func `clients that don't read an image keep a file position, not the image in memory`() async throws {
    try await withGallery(["a"]) { port, origin, _ in
      let image = Array(ImageOrigin.gif.prefix(6)) + [UInt8](repeating: 7, count: 8 << 20) + [0x3B]
      await origin.serve(Chunk(image), at: "/0")
      let path = try #require(try await imagePaths(port).first)
      let figures = await get(port, "/metrics", whileNobodyReads: path, times: 3)
      let line = try #require(
        figures.split(separator: "\n").first { $0.hasPrefix("feedstream_http_server_waiting_bytes ") })
      let waiting = try #require(line.split(separator: " ").last.flatMap { Int($0) })
      #expect(waiting < 3 * 256 * 1024, "\(waiting) bytes")
      let whole = try await answer(port, path)
      #expect(whole.body.data == Data(image))
      let part = try await answer(port, path, "Range: bytes=1000000-1000002\r\n")
      #expect(part.head.hasPrefix("HTTP/1.1 206") && part.body == [7, 7, 7])
    }
  }

  @Test func `the token may come from the environment, where the process list doesn't show it`() async throws {
    try await withFolder { folder in
      let cache = folder.appendingPathComponent("feeds.db").path
      let arguments = ["serve", "--port", "0", "--cache", cache, "http://127.0.0.1:1/"]
      let run = try RunningFeed(arguments, environment: ["FEED_TOKEN": "sesame"])
      let address = try #require(await run.output.line())
      #expect(address.contains("/?token=sesame"))
      #expect(try await get(port(of: address), "/").hasPrefix("HTTP/1.1 401"))
      run.send(SIGTERM)
      #expect(await run.status() == 143)
      #expect(try await FeedBinary.run(arguments, environment: ["FEED_TOKEN": "a b"]).status == 64)
    }
  }

  @Test func `a host other than loopback gets a generated token`() {
    #expect(AccessRules(host: "127.0.0.1", token: nil, names: []).token == nil)
    #expect(AccessRules(host: "::1", token: nil, names: []).token == nil)
    let access = AccessRules(host: "0.0.0.0", token: nil, names: ["feeds.home"])
    #expect(access.token?.count == 32)
    for host in ["192.0.2.1:8080", "[2001:db8::1]", "localhost", "feeds.home:80"] {
      #expect(access.knows(host), "\(host)")
    }
    for host in ["evil.example", "1.2.3", "feeds.home.evil.example", nil] { #expect(!access.knows(host)) }
  }

  @Test func `serve reports errors in its arguments and in its listening address`() async throws {
    try await withFolder { folder in
      let cache = folder.appendingPathComponent("feeds.db").path
      #expect(try await FeedBinary.run(["serve", "--cache", cache]).status == 64)
      #expect(try await FeedBinary.run(["serve", "--port", "70000", "http://h/"]).status == 64)
      #expect(try await FeedBinary.run(["serve", "--opml", "/nowhere.opml"]).status == 64)
      let name = try await FeedBinary.run(["serve", "--host", "no.address", "--cache", cache, "http://127.0.0.1:1/"])
      #expect(name.status == 64 && name.errors.contains("--host needs a local IP address"))
      // No machine has this address, which is reserved for documentation (RFC 5737).
      let other = try await FeedBinary.run(["serve", "--host", "192.0.2.1", "--cache", cache, "http://127.0.0.1:1/"])
      #expect(other.status == 1 && other.errors.contains("(EADDRNOTAVAIL); this machine does not have that address"))
    }
  }

  @Test func `serve reports that another program listens on its port`() async throws {
    try await withGallery(["a"]) { port, origin, _ in
      let number = origin.port
      let run = try await FeedBinary.run(["serve", "--port", "\(number)", "http://127.0.0.1:\(number)/feed.json"])
      #expect(
        run.status == 1 && run.errors.contains("(EADDRINUSE); another program is listening there"), "\(run.errors)")
    }
  }

  @Test func `an image without a publication date is dated when serve first sees it`() async throws {
    try await withGallery(["old"]) { port, origin, _ in
      #expect(try await !get(port, "/").contains("<time"))
      #expect(try await !get(port, "/feed.json").contains("date_published"))
      #expect(try await get(port, "/feed.atom").contains("<id>urn:uuid:00000000-0000-0000-0000-000000000000</id>"))
      try await origin.start(["new", "old"])
      try await wait(while: try await !get(port, "/").contains("alt=\"new\""))
      #expect(try await get(port, "/").components(separatedBy: "<time datetime=").count == 2)
      #expect(try await get(port, "/feed.json").components(separatedBy: "date_published").count == 2)
    }
  }
}
