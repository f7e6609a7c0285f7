import Foundation
import Synchronization
import TestSupport
import Testing

@testable import HTTPTestSupport

/// `feed get`: one process per request, so that the cache is tested from outside.
@Suite(.settled) struct GetCommandTests {
  /// An origin with numbered requests, and a folder for a cache.
  private final class Place: Sendable {
    let origin: RawOrigin
    let folder = TemporaryFolder()
    init(_ answer: @escaping @Sendable (RawOrigin.Request, Int) -> Data) throws {
      let seen = Shared()
      requests = seen
      origin = .answering { request in
        let number = seen.list.withLock {
          $0.append(request)
          return $0.count
        }
        return answer(request, number)
      }
    }

    final class Shared: Sendable { let list = Mutex<[RawOrigin.Request]>([]) }
    private let requests: Shared

    var asked: [RawOrigin.Request] { requests.list.withLock { $0 } }
    var cache: String { folder.file("http.db") }

    func get(_ arguments: String..., path: String = "/feed") async throws -> FeedBinary.Ending {
      try await FeedBinary.run(["get", origin.url(path).absoluteString] + arguments)
    }

    func stop() { origin.stop() }
  }

  private func field(_ name: String, in output: String) -> String? {
    output.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
      .map { String($0.dropFirst(name.count + 2)) }
  }

  @Test func `get writes the body unchanged, and with --include the header before it`() async throws {
    let place = try Place { _, _ in
      RawOrigin.answer(
        "200 Fine", ["X-One: 1", "x-two:2", "X-One: 3", "Connection: keep-alive, Hop", "Hop: 1"], Data("a\nb".utf8))
    }
    defer { place.stop() }
    let plain = try await place.get()
    #expect(plain.status == 0 && plain.output == "a\nb" && plain.errors == "")
    let whole = try await place.get("--include")
    #expect(
      whole.output == "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX-One: 1\r\nx-two: 2\r\nX-One: 3\r\n\r\na\nb")
    #expect(place.asked[0]["Accept-Encoding"] == nil, "nothing is decompressed here")
  }

  @Test func `large and binary bodies are written byte for byte, from the server and from the cache`() async throws {
    let body = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) })
    let place = try Place { _, _ in RawOrigin.answer("200 OK", ["Cache-Control: max-age=86400"], body) }
    defer { place.stop() }
    try body.write(to: URL(filePath: place.folder.file("wanted")))
    for _ in 0..<2 {
      let run = try await FeedBinary.shell(
        "$FEED get \(place.origin.url()) --cache '\(place.cache)' | cmp - '\(place.folder.path)/wanted'")
      #expect(run.status == 0, "\(run.output)\(run.errors)")
    }
    #expect(place.asked.count == 1)
  }

  @Test(arguments: [1_000, 300_000]) func `get writes all that arrives before the connection is cut`(_ count: Int)
    async throws
  {
    let whole = RawOrigin.answer("200 OK", [], Data(repeating: 0x61, count: count + 1))
    let origin = RawOrigin { connection in
      try connection.readRequest()
      try connection.send(whole.dropLast())
    }
    defer { origin.stop() }
    let run = try await FeedBinary.run(["get", origin.url().absoluteString])
    #expect(run.status == 1 && run.output.utf8.count == count, "\(run.output.utf8.count) \(run.errors)")
  }

  @Test func `without a cache, a body that nobody reads is not held in memory`() async throws {
    let body = Data(count: 256 << 20)
    let place = try Place { _, _ in RawOrigin.answer("200 OK", [], body) }
    defer { place.stop() }
    let run = try RunningFeed(["get", place.origin.url("/feed").absoluteString], readsOutput: false)
    try await wait(while: place.asked.isEmpty)
    // The program stops reading when its output is full, and then needs no more memory.
    var (needed, before) = (1.0, 0.0)
    while needed > before {
      try await Task.sleep(for: .seconds(1))
      (needed, before) = (ProcessMemory.mebibytes("VmHWM", of: run.process), needed)
    }
    #expect((1..<128).contains(needed))
    run.send(SIGKILL)
    _ = await run.status()
  }

  @Test func `with a cache, a body over 64 MiB is refused when its length is announced`() async throws {
    let place = try Place { _, _ in RawOrigin.answer("200 OK", [], Data(count: 65 << 20)) }
    defer { place.stop() }
    let run = try await place.get("--cache", place.cache)
    #expect(run.status == 1 && run.output == "" && run.errors.contains("64 MiB"), "\(run.errors)")
  }

  @Test func `any response exits with status 0, and no response with an error`() async throws {
    let place = try Place { request, _ in RawOrigin.answer("\(request.path.dropFirst()) x", [], Data("body".utf8)) }
    for status in ["204", "304", "404", "500"] {
      let run = try await place.get("--include", path: "/\(status)")
      #expect(run.status == 0 && run.output.hasPrefix("HTTP/1.1 \(status) "), "\(run)")
    }
    place.stop()
    let run = try await place.get()
    #expect(run.status == 1 && run.output == "" && run.errors.contains("could not connect"))
  }

  @Test func `with --cache, the next process gets the response from the cache, with an Age`() async throws {
    let place = try Place { _, number in
      // A lifetime longer than the test takes on a busy machine.
      RawOrigin.answer("200 OK", ["Cache-Control: max-age=3600", "Age: 50"], Data("body \(number)".utf8))
    }
    defer { place.stop() }
    let first = try await place.get("--cache", place.cache, "--include")
    let second = try await place.get("--cache", place.cache, "--include")
    #expect(first.output.hasSuffix("body 1") && second.output.hasSuffix("body 1"))
    #expect(field("Age", in: first.output) == "50")
    #expect((Int(field("Age", in: second.output) ?? "") ?? 0) >= 50)
    #expect(try await place.get().output == "body 2", "without a cache, the server answers")
    #expect(try await place.get("--cache", place.cache, "--header", "Cache-Control: no-cache").output == "body 3")
    #expect(try await place.get("--cache", place.cache).output == "body 3")
    let closed = try await place.get("--cache", place.cache, "--header", "cache-control:only-if-cached", path: "/other")
    #expect(closed.status == 0 && closed.output == "")
    #expect(place.asked.count == 3)
  }

  @Test func `a stale response is validated, and used when its server is unreachable`() async throws {
    let place = try Place { request, _ in
      request["If-None-Match"] == "\"x\""
        ? RawOrigin.answer("304 Not Modified", ["ETag: \"x\"", "New: 1"])
        : RawOrigin.answer("200 OK", ["ETag: \"x\"", "Cache-Control: max-age=0"], Data("body".utf8))
    }
    for _ in 0..<2 { #expect(try await place.get("--cache", place.cache).output == "body") }
    let third = try await place.get("--cache", place.cache, "--include", "--verbose")
    #expect(third.output.hasPrefix("HTTP/1.1 200 OK\r\n") && field("New", in: third.output) == "1")
    #expect(third.errors.contains("not changed"))
    #expect(place.asked.map { $0["If-None-Match"] } == [nil, "\"x\"", "\"x\""])
    place.origin.stop()
    #expect(try await place.get("--cache", place.cache).output == "body")
    place.stop()
  }

  @Test func `a must-revalidate response becomes a 504 while the server is unreachable, with a warning`() async throws {
    let place = try Place { _, _ in
      RawOrigin.answer("200 OK", ["Cache-Control: max-age=0, must-revalidate"], Data("body".utf8))
    }
    #expect(try await place.get("--cache", place.cache).output == "body")
    place.origin.stop()
    let run = try await place.get("--cache", place.cache, "--include")
    #expect(run.status == 0 && run.output.hasPrefix("HTTP/1.1 504 Gateway Timeout\r\n"), "\(run.output)")
    #expect(run.output.hasSuffix("\r\n\r\n") && run.errors.contains("could not connect"), "\(run.errors)")
    place.stop()
  }

  @Test func `a stale-while-revalidate response is written immediately, and renewed before the process exits`()
    async throws
  {
    let place = try Place { _, number in
      RawOrigin.answer(
        "200 OK", ["Cache-Control: max-age=\(number == 1 ? 0 : 86400), stale-while-revalidate=86400"],
        Data("body \(number)".utf8))
    }
    defer { place.stop() }
    var bodies: [String] = []
    for _ in 0..<3 { bodies.append(try await place.get("--cache", place.cache).output) }
    #expect(bodies == ["body 1", "body 1", "body 2"])
    #expect(place.asked.count == 2)
  }

  @Test func `header fields and credentials are sent, but not printed`() async throws {
    let place = try Place { _, _ in RawOrigin.answer() }
    defer { place.stop() }
    let run = try await place.get("--header", "X-Key: topsecret", "--user", "me:topsecret", "--verbose")
    #expect(run.status == 0 && !run.errors.contains("topsecret") && !run.errors.contains("bWU6"))
    #expect(place.asked[0]["X-Key"] == "topsecret")
    #expect(place.asked[0]["Authorization"] == "Basic bWU6dG9wc2VjcmV0")
    let netrc = place.folder.file("netrc")
    try "machine 127.0.0.1 login me password topsecret".write(toFile: netrc, atomically: true, encoding: .utf8)
    chmod(netrc, 0o600)
    _ = try await place.get("--netrc-file", netrc)
    #expect(place.asked[1]["Authorization"] == "Basic bWU6dG9wc2VjcmV0")
    chmod(netrc, 0o644)
    let refused = try await place.get("--netrc-file", netrc)
    #expect(refused.status == 64 && refused.errors.contains("other users have access to"))
    for wrong in ["topsecret", ": topsecret", "X Y: topsecret", "X: top\nsecret"] {
      let run = try await place.get("--header", wrong)
      #expect(run.status == 64 && !run.errors.contains("secret"), "\(run.errors)")
    }
    #expect(place.asked.count == 2)
  }

  @Test func `a file that isn't an HTTP cache is refused and left unchanged`() async throws {
    let place = try Place { _, _ in RawOrigin.answer("200 OK", ["Cache-Control: max-age=86400"], Data("body".utf8)) }
    defer { place.stop() }
    for (script, message) in [
      ("CREATE TABLE a (b)", "isn't a cache that this program wrote, so it was left unchanged"),
      (
        "PRAGMA application_id = 1178944836; PRAGMA user_version = 1",
        "is a cache of feeds, not the HTTP cache of \"feed get\". Choose another file."
      ),
    ] {
      let made = try await FeedBinary.shell(
        "python3 -c \"import sqlite3; c = sqlite3.connect('\(place.cache)'); c.executescript('\(script)')\"")
      try #require(made.status == 0)
      let before = try Data(contentsOf: URL(filePath: place.cache))
      let run = try await place.get("--cache", place.cache)
      #expect(run.status == 64 && run.output == "", "\(run.errors)")
      #expect(run.errors.contains(message), "\(run.errors)")
      #expect(try Data(contentsOf: URL(filePath: place.cache)) == before)
      try FileManager.default.removeItem(atPath: place.cache)
    }
    // The reverse: a command that needs a cache of feeds.
    #expect(try await place.get("--cache", place.cache).status == 0)
    let load = try await FeedBinary.run(["load", "http://127.0.0.1:9/", "--cache", place.cache])
    #expect(load.status == 64 && load.output == "", "\(load.errors)")
    #expect(load.errors.contains("is the HTTP cache of \"feed get\", not a cache of feeds."), "\(load.errors)")
  }

  @Test func `a closed output pipe isn't reported as a failure`() async throws {
    let place = try Place { _, _ in RawOrigin.answer("200 OK", [], Data(count: 5_000_000)) }
    defer { place.stop() }
    let run = try await FeedBinary.shell("{ $FEED get \(place.origin.url()); echo $? >&2; } | head -c 10")
    #expect(run.output.utf8.count == 10)
    #expect(run.errors == "141\n")
  }
}
