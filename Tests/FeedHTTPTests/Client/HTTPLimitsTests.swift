import FeedStream
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport

@Suite(.settled) struct HTTPLimitsTests {
  @Test func `a hundred requests to a host share its connections`() {
    let origin = RawOrigin.answering { request in RawOrigin.answer("200 OK", [], Data(request.path.utf8)) }
    defer { origin.stop() }
    let bench = HTTPBench { $0.maxConnectionsPerHost = 5 }
    let probes = (0..<100).map { bench.get(HTTPRequest(origin.url("/\($0)"))) }
    bench.loop.run()
    for (index, probe) in probes.enumerated() { #expect(probe.response?.body == Data("/\(index)".utf8)) }
    #expect(origin.accepted <= 5)
  }

  @Test func `no more connections are open than the limit`() {
    let origins = (0..<6).map { _ in RawOrigin.answering { _ in RawOrigin.answer() } }
    defer { for origin in origins { origin.stop() } }
    let bench = HTTPBench {
      $0.maxConnections = 4
      $0.maxConnectionsPerHost = 2
    }
    let probes = (0..<60).map { bench.get(HTTPRequest(origins[$0 % 6].url())) }
    var most = 0
    for probe in probes { probe.onEnd = { most = max(most, bench.client.openConnections) } }
    bench.loop.run()
    for probe in probes { #expect(probe.isFinished) }
    #expect(most == 4)
  }

  @Test func `a host that never responds delays no other host`() {
    let silent = RawOrigin { connection in connection.waitForClose() }
    defer { silent.stop() }
    let origin = RawOrigin.answering { _ in RawOrigin.answer() }
    defer { origin.stop() }
    let bench = HTTPBench {
      $0.maxConnections = 6
      $0.maxConnectionsPerHost = 2
    }
    let stuck = (0..<20).map { _ in bench.get(HTTPRequest(silent.url())) }
    let quick = (0..<20).map { _ in bench.get(HTTPRequest(origin.url())) }
    var left = quick.count
    for probe in quick {
      probe.onEnd = {
        left -= 1
        if left == 0 { for probe in stuck { probe.cancel() } }
      }
    }
    bench.loop.run()
    for probe in quick { #expect(probe.isFinished) }
    for probe in stuck { #expect(probe.heardNothing) }
  }

  @Test func `waiting for a connection counts toward the timeout`() {
    let silent = RawOrigin { connection in connection.waitForClose() }
    defer { silent.stop() }
    let bench = HTTPBench { $0.maxConnectionsPerHost = 1 }
    let first = bench.get(HTTPRequest(silent.url(), timeout: .seconds(2)))
    let second = bench.get(HTTPRequest(silent.url(), timeout: .milliseconds(100)))
    second.onEnd = { first.cancel() }
    bench.loop.run()
    #expect(second.error?.kind == .timedOut(.waiting))
  }

  @Test func `a request that ends while it waits for a connection is released immediately`() {
    let silent = RawOrigin { connection in connection.waitForClose() }
    defer { silent.stop() }
    let bench = HTTPBench { $0.maxConnectionsPerHost = 1 }
    let first = bench.get(HTTPRequest(silent.url()))
    weak var waiting: HTTPExchange?
    do {
      let exchange = WholeExchange(bench.client, HTTPRequest(silent.url()))
      exchange.start { _ in }
      waiting = exchange
      if case .waiting = exchange.state {} else { Issue.record("it doesn't wait") }
      exchange.cancel()
    }
    #expect(waiting == nil)
    first.cancel()
    bench.loop.run()
  }

  @Test func `an idle connection doesn't keep the loop running`() {
    let origin = RawOrigin.answering { _ in RawOrigin.answer() }
    defer { origin.stop() }
    let bench = HTTPBench()
    // `run` returns although the connection is still open.
    #expect(bench.run(origin.url()).isFinished)
    #expect(bench.run(origin.url()).isFinished)
    #expect(origin.accepted == 1)
  }
}

// MARK: - Descriptors, each test in its own process

extension HTTPLimitsTests {
  @Test(.timeLimit(.minutes(5))) func `no request leaves a descriptor open`() async {
    await #expect(processExitsWith: .success) {
      var before = 0
      // The first round opens descriptors that stay open as long as the process runs.
      for _ in 0..<2 {
        before = openDescriptors()
        let good = RawOrigin.answering { _ in RawOrigin.answer() }
        let bad = RawOrigin.sending("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut")
        let bench = HTTPBench()
        for round in 0..<10 {
          let probes = (0..<20).map { bench.get(HTTPRequest($0 % 2 == 0 ? good.url() : bad.url())) }
          let lost = bench.get(HTTPRequest(URL(string: "http://no-such-host.invalid/")!))
          bench.loop.run(.oneTurn)
          if round % 2 == 0 { for probe in probes.prefix(10) { probe.cancel() } }
          if round % 3 == 0 { lost.cancel() }
          bench.loop.run()
        }
        bench.client.close()
        good.stop()
        bad.stop()
      }
      // A cancelled lookup closes its last descriptor when its thread ends.
      for _ in 0..<100 where openDescriptors() > before { usleep(50_000) }
      exit(openDescriptors() == before ? 0 : 1)
    }
  }

  @Test(.timeLimit(.minutes(5))) func `requests wait while the process has no free descriptors`() async {
    let origin = RawOrigin.answering { _ in RawOrigin.answer() }
    defer { origin.stop() }
    await #expect(processExitsWith: .success) { [url = origin.url() as URL] in
      let bench = HTTPBench { $0.maxConnectionsPerHost = 64 }
      // Room for a few connections only.
      var room = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &room)
      room.rlim_cur = rlim_t(openDescriptors() + 8)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &room)
      let probes = (0..<64).map { _ in bench.get(HTTPRequest(url)) }
      bench.loop.run()
      exit(probes.allSatisfy(\.isFinished) ? 0 : 1)
    }
  }

  @Test(.timeLimit(.minutes(5))) func `a timeout without any descriptor states the reason`() async {
    await #expect(processExitsWith: .success) {
      let bench = HTTPBench()
      var room = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &room)
      room.rlim_cur = 0
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &room)
      let request = HTTPRequest(URL(string: "http://127.0.0.1:9/")!, timeout: .seconds(1))
      exit(bench.run(request).error?.kind == .resources ? 0 : 1)
    }
  }

  @Test(.timeLimit(.minutes(5))) func `usesProxies takes the proxy from the environment`() async {
    await #expect(processExitsWith: .success) {
      let proxy = RawOrigin.answering { request in RawOrigin.answer("200 OK", [], Data(request.path.utf8)) }
      setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
      let bench = HTTPBench { $0.usesProxies = true }
      let body = bench.run(URL(string: "http://feeds.example/feed")!).response?.body
      exit(body == Data("http://feeds.example/feed".utf8) ? 0 : 1)
    }
  }

  @Test(
    .timeLimit(.minutes(5)),
    arguments: [
      ("HTTP/1.1 407 No\r\nContent-Length: 99999999999\r\n\r\n", "the proxy's response does not end"),
      ("HTTP/1.1 200 OK\r\n", "the proxy's response does not end"),
      ("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n", "the proxy responded with status 407"),
      ("SSH-2.0\r\n", "the proxy closed the connection"),
      ("", "is unreachable: connection refused"),
    ])
  func `the error names a proxy that doesn't connect`(answer: String, cause: String) async {
    await #expect(processExitsWith: .success) { [answer, cause] in
      let proxy = RawOrigin { connection in
        try connection.readRequest()
        try connection.send(answer)
        let rest = String(repeating: "X-Line: of a header, or of a body\r\n", count: 1000)
        while cause.hasSuffix("does not end") { try connection.send(rest) }
      }
      if answer.isEmpty { proxy.stop() }
      setenv("https_proxy", "http://127.0.0.1:\(proxy.port)", 1)
      let bench = HTTPBench { $0.usesProxies = true }
      let error = bench.run(URL(string: "https://feeds.example/feed")!).error
      exit(error?.kind == .connect && error?.cause.contains(cause) == true ? 0 : 1)
    }
  }
}
