import FeedStream
import Foundation
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport

@Suite(.settled) struct HTTPCancellationTests {
  /// The origin's progress when the subscriber cancels.
  enum Point: CaseIterable, Sendable {
    case accepted, requestRead, headerSent, bodyBegun
  }

  /// Cancels on the loop once the origin has reached `point`, and blocks the loop until the origin detects the closed
  /// connection. So `cancel()` itself must close the connection, not a later turn.
  @Test(.timeLimit(.minutes(5)), arguments: Point.allCases)
  func `cancelling closes the connection immediately and delivers nothing`(point: Point) {
    let bench = HTTPBench()
    let reached = DispatchSemaphore(value: 0)
    let closed = DispatchSemaphore(value: 0)
    let origin = RawOrigin { connection in
      if point != .accepted { try connection.readRequest() }
      if point == .headerSent || point == .bodyBegun {
        try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
      }
      if point == .bodyBegun { try connection.send("some") }
      reached.signal()
      connection.waitForClose()
      closed.signal()
    }
    defer { origin.stop() }
    let probe = bench.get(HTTPRequest(origin.url()))
    let sealed = Sealed((probe, bench.loop))
    var wasClosed = false
    let result = Sealed({ wasClosed = $0 })
    let thread = Thread {
      reached.wait()
      sealed.value.1.execute {
        sealed.value.0.cancel()
        result.value(closed.wait(timeout: .now() + 20) == .success)
      }
    }
    thread.start()
    bench.loop.run()
    #expect(wasClosed)
    #expect(probe.heardNothing)
  }

  @Test func `a request cancelled before it was sent is never sent`() {
    let origin = RawOrigin.answering { _ in RawOrigin.answer() }
    defer { origin.stop() }
    let bench = HTTPBench()
    let probe = bench.get(HTTPRequest(origin.url()))
    probe.cancel()
    bench.loop.run()
    #expect(probe.heardNothing)
    #expect(origin.accepted == 0)
  }

  @Test func `cancelling on the value prevents the completion`() {
    let origin = RawOrigin.answering { _ in RawOrigin.answer() }
    defer { origin.stop() }
    let bench = HTTPBench()
    let probe = bench.get(HTTPRequest(origin.url()))
    probe.onValue = { [unowned probe] in probe.cancel() }
    bench.loop.run()
    #expect(probe.responses.count == 1)
    #expect(probe.completion == nil)
  }

  @Test func `cancelling twice, or after completion, has no effect`() {
    let origin = RawOrigin.answering { _ in RawOrigin.answer() }
    defer { origin.stop() }
    let bench = HTTPBench()
    let probe = bench.get(HTTPRequest(origin.url()))
    let subscription = probe.subscription
    bench.loop.run()
    subscription?.cancel()
    subscription?.cancel()
    subscription?.request(.unlimited)
    bench.loop.run()
    #expect(probe.responses.count == 1)
    #expect(origin.accepted == 1)
  }

  @Test(.timeLimit(.minutes(5))) func `a hanging name lookup delays no other request`() {
    let origin = RawOrigin.answering { _ in RawOrigin.answer() }
    defer { origin.stop() }
    let bench = HTTPBench()
    StuckNames.begin()
    let stuck = HTTPRequest(URL(string: "http://a.\(StuckNames.domain)/")!)
    let expired = bench.get(HTTPRequest(stuck.url, timeout: .milliseconds(200)))
    let cancelled = bench.get(stuck)
    let quick = bench.get(HTTPRequest(origin.url()))
    quick.onEnd = { cancelled.cancel() }
    // The loop returns although both lookups are still stuck: neither the deadline nor `cancel()` waits for them.
    bench.loop.run()
    // On a busy machine, a lookup's thread may begin later.
    for _ in 0..<2_000 where StuckNames.waiting < 2 { usleep(5_000) }
    #expect(StuckNames.waiting == 2)
    #expect(quick.isFinished)
    #expect(cancelled.heardNothing)
    #expect(expired.error?.kind == .timedOut(.nameResolution))
    bench.client.close()
    StuckNames.end()
  }

  @Test func `cancelling one request while another's response is delivered leaves the others running`() {
    let origin = RawOrigin.answering { request in RawOrigin.answer("200 OK", [], Data(request.path.utf8)) }
    defer { origin.stop() }
    let bench = HTTPBench()
    let probes = (0..<16).map { bench.get(HTTPRequest(origin.url("/\($0)"))) }
    // The first request that gets a response cancels all others except the last, whether they run or wait.
    for probe in probes {
      probe.onEnd = { [unowned probe] in
        for other in probes.dropLast() where other !== probe { other.cancel() }
      }
    }
    bench.loop.run()
    #expect(probes.last!.isFinished)
    #expect(probes.filter { !$0.heardNothing }.count <= 2)
  }
}

// MARK: - Closing the client

extension HTTPCancellationTests {
  @Test func `closing the client fails running and waiting requests`() {
    let origin = RawOrigin { connection in connection.waitForClose() }
    defer { origin.stop() }
    let bench = HTTPBench { $0.maxConnectionsPerHost = 2 }
    let probes = (0..<5).map { _ in bench.get(HTTPRequest(origin.url())) }
    bench.loop.run(.oneTurn)
    bench.client.close()
    for probe in probes { #expect(probe.error?.kind == .closed) }
    #expect(bench.run(origin.url()).error?.kind == .closed)
  }

  @Test func `a client may be closed while a response is delivered`() {
    let origin = RawOrigin.answering { _ in RawOrigin.answer() }
    defer { origin.stop() }
    let bench = HTTPBench()
    let probes = (0..<4).map { _ in bench.get(HTTPRequest(origin.url())) }
    for probe in probes { probe.onEnd = { bench.client.close() } }
    bench.loop.run()
    #expect(probes.filter(\.isFinished).count == 1)
    #expect(probes.filter { $0.error?.kind == .closed }.count == 3)
  }

  @Test(arguments: ["204 No Content", "200 OK"])
  func `a client that is closed while a streamed response is delivered is released`(status: String) {
    let origin = RawOrigin.answering { _ in RawOrigin.answer(status) }
    defer { origin.stop() }
    let loop = EventLoop()
    weak var released: CurlHTTPClient?
    var isOpen = false
    do {
      var configuration = CurlHTTPClient.Configuration()
      configuration.usesProxies = false
      let client = CurlHTTPClient(on: loop, configuration)
      released = client
      let opening = client.open(HTTPRequest(origin.url())).sink { _ in
      } receiveValue: { [weak client] _ in
        isOpen = true
        client?.close()
      }
      loop.run()
      opening.cancel()
    }
    #expect(isOpen && released == nil)
    loop.close()
  }

  @Test func `a client is released with its last request`() {
    let origin = RawOrigin.answering { _ in RawOrigin.answer() }
    defer { origin.stop() }
    let loop = EventLoop()
    weak var released: CurlHTTPClient?
    let probe = HTTPProbe()
    do {
      var configuration = CurlHTTPClient.Configuration()
      configuration.usesProxies = false
      let client = CurlHTTPClient(on: loop, configuration)
      released = client
      client.get(HTTPRequest(origin.url())).subscribe(probe)
    }
    #expect(released != nil)
    loop.run()
    #expect(probe.isFinished)
    #expect(released == nil)
    loop.close()
  }
}
