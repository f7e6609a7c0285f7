import FeedStream
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport

/// Responses whose bodies are delivered while they arrive.
@Suite(.settled) struct HTTPStreamingTests {
  private let bench = HTTPBench()

  private func open(_ url: URL, maxBodyBytes: Int = 32 << 20, timeout: StreamInstant.Stride = 30) -> StreamProbe {
    StreamProbe(bench.client.open(HTTPRequest(url, timeout: timeout, maxBodyBytes: maxBodyBytes)))
  }

  @Test(.timeLimit(.minutes(5)))
  func `the response header and first bytes are delivered before the last are sent`() {
    let isRead = DispatchSemaphore(value: 0)
    let origin = RawOrigin { connection in
      try connection.readRequest()
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nX-Name: value\r\n\r\nhello")
      isRead.wait()
      try connection.send("world")
    }
    defer { origin.stop() }
    let probe = open(origin.url())
    probe.onChunk = { isRead.signal() }
    bench.loop.run()
    #expect(probe.response?.status == 200 && probe.response?.headers["x-name"] == "value")
    #expect(probe.response?.url == origin.url())
    #expect(probe.chunks == ["hello", "world"])
    #expect(probe.completion == .finished)
  }

  @Test(.timeLimit(.minutes(5)), arguments: ["Transfer-Encoding: chunked", "Content-Length: 5", "Connection: close"])
  func `a streamed response is delivered before the first byte of its body is sent`(field: String) {
    let isOpen = DispatchSemaphore(value: 0)
    let origin = RawOrigin { connection in
      try connection.readRequest()
      try connection.send("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n")
      isOpen.wait()
      try connection.send(field.hasSuffix("chunked") ? "5\r\nhello\r\n0\r\n\r\n" : "hello")
    }
    defer { origin.stop() }
    let probe = StreamProbe()
    probe.begin(
      bench.client.open(HTTPRequest(origin.url()))
        .handleEvents(
          receiveOutput: { _ in isOpen.signal() },
          receiveCompletion: { if case .failure = $0 { isOpen.signal() } }
        )
        .eraseToAnyPublisher())
    bench.loop.run()
    #expect(probe.response?.status == 200 && probe.bytes == Data("hello".utf8) && probe.completion == .finished)
  }

  static let codings: [(String, @Sendable (Data) -> Data)] = [
    ("identity", { $0 }), ("gzip", Compression.gzip), ("deflate", Compression.zlib), ("br", Compression.brotli),
    ("zstd", Compression.zstd),
  ]

  @Test(arguments: codings.map(\.0), [Subscribers.Demand.unlimited, .max(1)])
  func `a body of many chunks arrives completely in every coding, with any demand`(
    coding: String, demand: Subscribers.Demand
  ) {
    var random = SystemRandomNumberGenerator()
    let body = Data((0..<700_000).map { _ in UInt8.random(in: 0..<16, using: &random) })
    let sent = Self.codings.first { $0.0 == coding }!.1(body)
    let origin = RawOrigin.answering { _ in RawOrigin.answer("200 OK", ["Content-Encoding: \(coding)"], sent) }
    defer { origin.stop() }
    let probe = open(origin.url())
    probe.demand = demand
    bench.loop.run()
    #expect(probe.bytes == body && probe.completion == .finished)
    #expect(probe.chunks.allSatisfy { $0.count <= 64 << 10 })
  }

  @Test func `a response without a body finishes its body`() {
    let origin = RawOrigin.answering { _ in RawOrigin.answer("204 No Content") }
    defer { origin.stop() }
    let probe = open(origin.url())
    bench.loop.run()
    #expect(probe.response?.status == 204 && probe.chunks.isEmpty && probe.completion == .finished)
  }

  @Test(.timeLimit(.minutes(5)))
  func `a connection isn't read without demand, and continues with it`() {
    let size = 64 << 20
    let isStuck = Mutex(false)
    let (probe, loop) = (Sealed(StreamProbe()), Sealed(bench.loop))
    let origin = RawOrigin { connection in
      try connection.readRequest()
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
      let piece = Data(repeating: 0x61, count: 64 << 10)
      for _ in 0..<size / piece.count {
        if !isStuck.withLock({ $0 }), !connection.canSend(within: 300) {
          isStuck.withLock { $0 = true }
          loop.value.execute {
            probe.value.demand = .unlimited
            probe.value.ask()
          }
        }
        try connection.send(piece)
      }
    }
    defer { origin.stop() }
    probe.value.demand = .none
    probe.value.countsOnly = true
    probe.value.begin(bench.client.open(HTTPRequest(origin.url(), maxBodyBytes: size)))
    bench.loop.run()
    #expect(isStuck.withLock { $0 }, "64 MiB were read that nobody asked for")
    #expect(probe.value.count == size && probe.value.completion == .finished)
  }

  @Test func `a small body that decodes to gigabytes is decoded only as requested`() {
    let bomb = Compression.gzip(Data(count: 64 << 20))
    let origin = RawOrigin.answering { _ in RawOrigin.answer("200 OK", ["Content-Encoding: gzip"], bomb) }
    defer { origin.stop() }
    let probe = open(origin.url(), maxBodyBytes: 128 << 20)
    probe.demand = .max(1)
    probe.onChunk = { probe.cancel() }
    bench.loop.run()
    #expect(probe.chunks.map(\.count) == [64 << 10] && probe.completion == nil)

    let limited = open(origin.url(), maxBodyBytes: 1 << 20)
    bench.loop.run()
    #expect(limited.failure?.kind == .tooLarge(limit: 1 << 20) && limited.bytes.count <= 1 << 20)
  }

  @Test(arguments: [("Content-Length: 100", HTTPError.Kind.tooLarge(limit: 50)), ("X: y", .tooLarge(limit: 50))])
  func `a body over the limit fails, with or without Content-Length`(field: String, kind: HTTPError.Kind) {
    let origin = RawOrigin.sending("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n" + String(repeating: "a", count: 100))
    defer { origin.stop() }
    let probe = open(origin.url(), maxBodyBytes: 50)
    bench.loop.run()
    #expect(probe.failure?.kind == kind)
  }

  @Test func `a truncated body fails, compressed or not`() {
    let whole = Compression.gzip(Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* $0) }))
    for (header, body) in [
      ("Content-Length: 100", Data("half".utf8)),
      ("Content-Encoding: gzip\r\nContent-Length: \(whole.count / 2)", whole.prefix(whole.count / 2)),
    ] {
      let origin = RawOrigin.sending(Data("HTTP/1.1 200 OK\r\n\(header)\r\n\r\n".utf8) + body)
      defer { origin.stop() }
      let probe = open(origin.url())
      bench.loop.run()
      #expect(probe.failure?.kind == .truncated, "\(header)")
    }
  }

  @Test func `a damaged compressed body fails`() {
    var body = Compression.gzip(Data(repeating: 0x61, count: 10_000))
    body.replaceSubrange(20..<24, with: [0xFF, 0xFF, 0xFF, 0xFF])
    let origin = RawOrigin.answering { [body] _ in RawOrigin.answer("200 OK", ["Content-Encoding: gzip"], body) }
    defer { origin.stop() }
    let probe = open(origin.url())
    bench.loop.run()
    #expect(probe.failure?.kind == .encoding)
  }

  @Test func `the request's timeout includes its body`() {
    let origin = RawOrigin { connection in
      try connection.readRequest()
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome")
      connection.waitForClose()
    }
    defer { origin.stop() }
    var probe = StreamProbe()
    withGrowingTimeout { timeout in
      probe = open(origin.url(), timeout: timeout)
      bench.loop.run()
      return !probe.chunks.isEmpty
    }
    #expect(probe.chunks == ["some"] && probe.failure?.kind == .timedOut(.receive))
  }

  @Test(.timeLimit(.minutes(5)), arguments: [true, false])
  func `cancelling a body, or releasing an unread response, closes the connection immediately`(isDropped: Bool) {
    let closed = DispatchSemaphore(value: 0)
    let origin = RawOrigin { connection in
      try connection.readRequest()
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome")
      connection.waitForClose()
      closed.signal()
    }
    defer { origin.stop() }
    var wasClosed = false
    // Block the loop until the origin detects the end, so that no later turn can cause it.
    func expectClosed() { wasClosed = closed.wait(timeout: .now() + 20) == .success }
    if isDropped {
      let subscription = bench.client.open(HTTPRequest(origin.url())).map(\.status).sink { _ in
        self.bench.loop.schedule { expectClosed() }
      } receiveValue: { _ in
      }
      bench.loop.run()
      subscription.cancel()
    } else {
      let probe = open(origin.url())
      probe.onChunk = {
        probe.cancel()
        expectClosed()
      }
      bench.loop.run()
      #expect(probe.chunks == ["some"] && probe.completion == nil)
    }
    #expect(wasClosed)
  }

  @Test func `closing the client fails bodies that are arriving`() {
    let origin = RawOrigin { connection in
      try connection.readRequest()
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome")
      connection.waitForClose()
    }
    defer { origin.stop() }
    let probe = open(origin.url())
    probe.onChunk = { [client = bench.client] in client.close() }
    bench.loop.run()
    #expect(probe.failure?.kind == .closed)
  }

  @Test func `opening a response from an unreachable host fails`() {
    let probe = open(URL(string: "http://127.0.0.1:1/")!)
    bench.loop.run()
    #expect(probe.response == nil && probe.failure?.kind == .connect)
  }

  @Test func `a connection is reused after its body was read`() {
    let origin = RawOrigin.answering { _ in RawOrigin.answer("200 OK", [], Data(count: 600_000)) }
    defer { origin.stop() }
    for _ in 0..<5 {
      let probe = open(origin.url())
      bench.loop.run()
      #expect(probe.count == 600_000)
    }
    #expect(origin.accepted == 1)
  }
}

extension RawOrigin.Connection {
  /// False when nothing could be sent for `milliseconds`.
  fileprivate func canSend(within milliseconds: Int32) -> Bool {
    var descriptor = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&descriptor, 1, milliseconds) > 0
  }
}
