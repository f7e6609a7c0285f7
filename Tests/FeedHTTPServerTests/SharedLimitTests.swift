import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

/// Limits that apply to several connections together, in virtual time.
@Suite(.settled) struct SharedLimitTests {
  private static let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

  private func unread(_ bench: Bench, _ fields: String = "") -> MemoryChannel {
    let client = bench.connect()
    client.takes = false
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n")
    bench.settle()
    return client
  }

  // MARK: Connections

  @Test func `the number of connections per client is limited, and other clients are served`() {
    let bench = Bench { $0.connectionsPerAddress = 2 }.serve { _ in .text("") }
    let clients = (0..<3).map { _ in bench.connect() }
    bench.settle()
    #expect(clients.map(\.isClosed) == [false, false, true])
    let other = bench.connect(from: "192.0.2.2")
    other.send(Self.get)
    bench.settle()
    #expect(other.receive().hasPrefix("HTTP/1.1 200"))
    clients[0].breakOff()
    bench.settle()
    let next = bench.connect()
    bench.settle()
    #expect(!next.isClosed, "one that is gone does not count")
    bench.end()
  }

  @Test func `an IPv6 network counts as one client, and loopback and proxies are unlimited`() {
    func count(_ hosts: [String], _ change: (inout HTTPServerLimits) -> Void = { _ in }) -> Int {
      let bench = Bench {
        $0.connectionsPerAddress = 1
        change(&$0)
      }
      .serve { _ in .text("") }
      for host in hosts { _ = bench.connect(from: host) }
      bench.settle()
      defer { bench.end() }
      return bench.server.connectionCount
    }
    #expect(count(["2001:db8::1", "2001:db8::2:3", "2001:db8:0:0:ffff::"]) == 1)
    #expect(count(["2001:db8::1", "2001:db8:0:1::1"]) == 2)
    #expect(count(["192.0.2.1", "::ffff:192.0.2.1", "::FFFF:c000:201"]) == 1)
    #expect(count(["127.0.0.1", "127.0.0.1", "::1", "::1", "::ffff:127.0.0.1"]) == 5)
    #expect(count(["192.0.2.1", "192.0.2.1"]) { $0.isUnlimited = { $0.description == "192.0.2.1:4711" } } == 2)
  }

  @Test func `a full server closes the connection that has idled longest, not a busy one`() {
    let bench = Bench { $0.connections = 3 }
    _ = bench.serve { [time = bench.time] request in
      Just(ServerResponse.text("")).delay(for: request.path == "/slow" ? 100 : 0, scheduler: time)
    }
    let busy = bench.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
    bench.pass(.seconds(1))
    let oldest = bench.send()
    bench.pass(.seconds(1))
    let younger = bench.send()
    let waiting = bench.send(Self.get)
    #expect(!oldest.isClosed && waiting.receive() == "", "that could be on its way yet")
    bench.pass(.seconds(2))
    #expect(oldest.isClosed && !younger.isClosed && !busy.isClosed)
    #expect(waiting.receive().hasPrefix("HTTP/1.1 200"))
    #expect(bench.server.connectionCount == 3)
    bench.end()
  }

  // MARK: Bodies

  @Test func `unread long bodies share a limit, and the ones that aren't read are cut off`() {
    let bench = Bench { $0.wholeBodyBytes = 1_000_000 }
      .serve { _ in .init(body: Chunk(repeatElement(1, count: 400_000))) }
    let first = unread(bench)
    bench.pass(.seconds(1))
    let second = unread(bench)
    bench.pass(.seconds(1))
    #expect(bench.server.waitingBytes > 700_000)
    let third = unread(bench)
    #expect([first, second, third].map(\.isClosed) == [true, false, false])
    let reader = bench.send(Self.get)
    #expect(second.isClosed && !third.isClosed)
    #expect(reader.receiveBytes().suffix(400_000).allSatisfy { $0 == 1 })
    third.takes = true
    bench.settle()
    #expect(third.receiveBytes().count > 400_000)
    // Bytes that the client has read don't count anymore.
    let others = [unread(bench), unread(bench)]
    #expect((others + [third, reader]).allSatisfy { !$0.isClosed })
    bench.end()
  }

  @Test func `a body kept for compression counts toward the limit, and a shared one counts once`() {
    var noise = SystemRandomNumberGenerator()
    let text = Chunk((0..<400_000).map { _ in UInt8.random(in: 0x20...0x7E, using: &noise) })
    let compressed = Bench { $0.wholeBodyBytes = 1_000_000 }
      .serve { _ in .init(headers: ["Content-Type": "text/plain"], body: Chunk(Array(text))) }
    let readers = (0..<3).map { _ in unread(compressed, "Accept-Encoding: gzip\r\n") }
    #expect(readers.count(where: \.isClosed) == 1)
    compressed.end()
    let shared = Bench { $0.wholeBodyBytes = 1_000_000 }.serve { _ in .init(body: text) }
    #expect((0..<9).map { _ in unread(shared) }.allSatisfy { !$0.isClosed })
    shared.end()
  }

  @Test func `a body longer than the limit is sent when it is the only one`() {
    let bench = Bench { $0.wholeBodyBytes = 1_000 }.serve { _ in .init(body: Chunk(repeatElement(1, count: 400_000))) }
    #expect(bench.send(Self.get).receiveBytes().count > 400_000)
    bench.end()
  }

  @Test func `a compressed page waits for its reader compressed`() {
    let page = String(repeating: "<li>an image</li>", count: 10_000)
    let bench = Bench().serve { _ in .html(page) }
    let client = unread(bench, "Accept-Encoding: gzip\r\n")
    #expect(bench.server.waitingBytes < 5_000)
    client.takes = true
    bench.settle()
    #expect(client.receive().contains("\r\nContent-Length: "))
    bench.end()
  }

  // MARK: Files

  /// An open file with these bytes, whose name has been removed.
  private func file(_ bytes: [UInt8]) throws -> ServedFile {
    let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    unlink(path)
    #expect(bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } == bytes.count)
    return ServedFile(descriptor)
  }

  @Test func `a file body is read from disk as each reader takes it, and all readers get it completely`() throws {
    let bytes = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let file = try file(Array("head".utf8) + bytes)
    let bench = Bench()
    _ = bench.serve { [time = bench.time] _ in
      .init(file: file, range: 4..<Int64(bytes.count + 4), on: time)
    }
    let clients = (0..<10).map { _ in unread(bench) }
    for _ in 0..<10 { bench.settle() }
    #expect((10 * 100_000..<10 * 200_000).contains(bench.server.waitingBytes))
    for client in clients {
      client.takes = true
      var received: [UInt8] = []
      for _ in 0..<100 {
        bench.settle()
        received += client.receiveBytes()
      }
      #expect(received.suffix(bytes.count).elementsEqual(bytes))
    }
    #expect(bench.server.waitingBytes == 0)
    bench.end()
  }

  @Test func `a range of a file body counts from the body's start`() throws {
    let file = try file(Array("head0123456789tail".utf8))
    let bench = Bench()
    _ = bench.serve { [time = bench.time] _ in .init(file: file, range: 4..<14, on: time) }
    for (range, part, field) in [
      ("2-4", "234", "2-4/10"), ("-3", "789", "7-9/10"), ("8-", "89", "8-9/10"), ("10-", "", "*/10"),
    ] {
      let client = bench.send("GET / HTTP/1.1\r\nHost: h\r\nRange: bytes=\(range)\r\n\r\n")
      for _ in 0..<5 { bench.settle() }
      let answer = client.receive()
      #expect(answer.hasSuffix("\r\n\r\n\(part)") && answer.contains("Content-Range: bytes \(field)\r\n"), "\(answer)")
    }
    bench.end()
  }
}
