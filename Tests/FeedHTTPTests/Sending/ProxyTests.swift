import FeedHTTPServer
import FeedStream
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport

@Suite(.settled, .timeLimit(.minutes(5))) struct ProxyTests {
  /// The requests that a proxy received: their first lines, and whether each had a login.
  private final class Notes: Sendable {
    private let requests = Mutex<[RawOrigin.Request]>([])
    func take(_ request: RawOrigin.Request) { requests.withLock { $0.append(request) } }
    var lines: [String] {
      requests.withLock { $0.map { $0.text.components(separatedBy: "\r\n")[0] } }
    }
    var logins: [Bool] { requests.withLock { $0.map { $0["Proxy-Authorization"] != nil } } }
    var ownFields: [Bool] { requests.withLock { $0.map { $0["X-Secret"] != nil } } }
  }

  private func url(of proxy: RawOrigin, login: String? = nil) -> HTTPProxy {
    .url(URL(string: "http://\(login.map { "\($0)@" } ?? "")127.0.0.1:\(proxy.port)")!)
  }

  @Test func `a proxy gets the credentials and the whole URL, and the server gets no credentials`() throws {
    let notes = Notes()
    let proxy = RawOrigin.proxy(login: "ann:p@ss/1", notes.take)
    defer { proxy.stop() }
    let bench = try UploadBench()
    let source = ["one ", "two"].publisher.map { Chunk($0) }
    var request = HTTPRequest(.put, bench.url("/file"), body: .stream(source, length: 7))
    request.proxy = url(of: proxy, login: "ann:p%40ss%2F1")
    #expect(try bench.send(request)?.get().body == Data("ok".utf8))
    #expect(notes.lines == ["PUT \(bench.url("/file")) HTTP/1.1"])
    #expect(notes.logins == [true])
    #expect(bench.got.map(\.path) == ["/file"] && bench.got.first?.body == "one two")
    #expect(bench.got.first?.headers["Proxy-Authorization"] == nil)
  }

  @Test func `a proxy's 407 is the response to an http request`() throws {
    let notes = Notes()
    let proxy = RawOrigin.proxy(login: "ann:right", notes.take)
    defer { proxy.stop() }
    let bench = try UploadBench()
    for login in [nil, "ann:wrong"] {
      var request = HTTPRequest(bench.url())
      request.proxy = url(of: proxy, login: login)
      #expect(try bench.send(request)?.get().status == 407)
    }
    #expect(bench.got.isEmpty && notes.logins.first == false && notes.logins.last == true)
  }

  @Test(.enabled(if: SecureOrigin.isAvailable, "the openssl command makes the certificates and the server"))
  func `https goes through a CONNECT tunnel, and the proxy sees only the host`() throws {
    let notes = Notes()
    let (origin, proxy) = (try SecureOrigin(host: "localhost"), RawOrigin.proxy(login: "ann:b", notes.take))
    defer {
      proxy.stop()
      origin.stop()
    }
    let bench = HTTPBench {
      $0.certificateAuthorities = origin.certificate
      $0.proxy = url(of: proxy, login: "ann:b")
    }
    let request = HTTPRequest(origin.url, headers: [.init(name: "X-Secret", value: "1")])
    #expect(bench.run(request).response?.status == 200)
    #expect(notes.lines == ["CONNECT localhost:\(origin.port) HTTP/1.1"])
    #expect(notes.logins == [true] && notes.ownFields == [false])
    // The certificate is verified through the tunnel, too.
    let strict = HTTPBench { $0.proxy = url(of: proxy, login: "ann:b") }
    #expect(strict.run(origin.url).error?.kind == .tls)
    let refused = HTTPBench { $0.proxy = url(of: proxy, login: "ann:wrong") }.run(origin.url).error
    #expect(refused?.kind == .connect && refused?.cause.contains("407") == true, "\(String(describing: refused))")
  }

  @Test func `an error about a proxy's scheme doesn't show the proxy's password`() {
    let bench = HTTPBench { $0.proxy = .url(URL(string: "ftp://ann:secret@127.0.0.1:1")!) }
    let error = bench.run(URL(string: "http://127.0.0.1:1/")!).error
    #expect(error?.kind == .invalidRequest && error?.cause.hasPrefix("the proxy's URL isn't valid") == true)
    #expect(error.map { !"\($0)".contains("secret") } == true, "\(String(describing: error))")
  }

  @Test(arguments: ["http://ann:sec/ret@127.0.0.1:1", "http://ann:sec#ret@127.0.0.1:1", "http://ann:s ret@127.0.0.1:1"])
  func `an error about a proxy variable doesn't show its password, and says how to write it`(proxy: String) async {
    await #expect(processExitsWith: .success) { [proxy] in
      setenv("http_proxy", proxy, 1)
      let error = HTTPBench { $0.usesProxies = true }.run(URL(string: "http://feeds.example/feed")!).error
      let text = error.map { "\($0)" } ?? ""
      exit(error?.kind == .invalidRequest && text.contains("%2F (/)") && !text.contains("ret@") ? 0 : 1)
    }
  }

  @Test func `a request's own proxy has precedence over its client's`() throws {
    let notes = Notes()
    let (first, second) = (RawOrigin.proxy(notes.take), RawOrigin.proxy(notes.take))
    defer {
      first.stop()
      second.stop()
    }
    let bench = try UploadBench()
    var configuration = CurlHTTPClient.Configuration()
    configuration.proxy = url(of: first)
    let client = CurlHTTPClient(on: bench.loop, configuration)
    defer { client.close() }
    for way in [nil, HTTPProxy.none, url(of: second), nil] {
      var request = HTTPRequest(bench.url())
      request.proxy = way
      #expect(try bench.send(request, with: client)?.get().status == 200)
    }
    #expect(bench.got.count == 4 && notes.lines.count == 3)
    #expect(second.accepted == 1)
  }

  @Test(.timeLimit(.minutes(5))) func `no_proxy doesn't apply to an explicit proxy`() async {
    await #expect(processExitsWith: .success) {
      setenv("no_proxy", "*", 1)
      let proxy = RawOrigin.answering { request in RawOrigin.answer("200 OK", [], Data(request.path.utf8)) }
      let bench = HTTPBench { $0.proxy = .url(URL(string: "http://127.0.0.1:\(proxy.port)")!) }
      let body = bench.run(URL(string: "http://feeds.example/feed")!).response?.body
      exit(body == Data("http://feeds.example/feed".utf8) ? 0 : 1)
    }
  }
}
