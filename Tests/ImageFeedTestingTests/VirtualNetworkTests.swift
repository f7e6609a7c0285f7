import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

@Suite("VirtualNetwork", .settled)
struct VirtualNetworkTests {
  private let time = VirtualTimeScheduler()
  private let network: VirtualNetwork
  private let url = URL(string: "https://example.com/feed")!

  init() { network = VirtualNetwork(on: time) }

  /// A request's result, as its status or the failure's kind, and the time.
  private func end(of request: HTTPRequest) -> (what: String, at: StreamInstant) {
    var end = (what: "nothing", at: time.now)
    let subscription = network.get(request).sink { [time] in
      if case .failure(let error) = $0 { end = ("\(error.kind)", time.now) }
    } receiveValue: { [time] in
      end = ("\($0.status)", time.now)
    }
    time.run()
    subscription.cancel()
    return end
  }

  @Test func `a script may send a request, whose script draws other random numbers`() {
    var work: Set<AnyCancellable> = []
    network.serve("callback.example") { _, random in .answer(Data("\(random.next())".utf8)) }
    network.serve("example.com") { [unowned network] _, random in
      network.get(HTTPRequest(URL(string: "https://callback.example/")!)).sink { _ in
      } receiveValue: { _ in
      }
      .store(in: &work)
      return .answer(status: 202, Data("\(random.next())".utf8))
    }
    #expect(end(of: HTTPRequest(url)).what == "202")
    let bodies = network.log.compactMap {
      if case .answered(let response)? = $0.ending { response.body } else { nil }
    }
    #expect(bodies.count == 2 && bodies[0] != bodies[1])
    work = []
  }

  @Test func `scripts that another script calls draw other numbers each time, even if that script draws none`() {
    var work: Set<AnyCancellable> = []
    var drawn: Set<UInt64> = []
    network.serve("callback.example") { _, random in
      drawn.insert(random.next())
      return .answer(Data())
    }
    network.serve("example.com") { [unowned network] _, _ in
      network.get(HTTPRequest(URL(string: "https://callback.example/")!)).sink { _ in
      } receiveValue: { _ in
      }
      .store(in: &work)
      return .answer(status: 202, Data())
    }
    for _ in 0..<10 { #expect(end(of: HTTPRequest(url)).what == "202") }
    #expect(drawn.count == 10)
    work = []
  }

  @Test func `a scripted response arrives after its latency, with its status and bytes`() {
    network.serve("example.com") { request, _ in
      .answer(status: 200 + request.number, Data("\(request.number)".utf8), after: 0.25)
    }
    #expect(end(of: HTTPRequest(url)) == ("200", StreamInstant(nanoseconds: 250_000_000)))
    #expect(end(of: HTTPRequest(url)) == ("201", StreamInstant(nanoseconds: 500_000_000)))
    guard case .answered(let response)? = network.log.last?.ending else {
      Issue.record("The log must have the answer: \(network.log)")
      return
    }
    #expect(response.body == Data("1".utf8))
  }

  @Test func `each subscription sends one request, when a value is requested`() {
    network.serve("example.com") { _, _ in .feed([]) }
    let get = network.get(url)
    #expect(network.requests == 0)
    var subscription: (any Subscription)?
    var answers = 0
    get.subscribe(
      AnySubscriber(
        receiveSubscription: { subscription = $0 },
        receiveValue: { _ in
          answers += 1
          return .none
        }))
    time.run()
    #expect(network.requests == 0)
    subscription?.request(.max(1))
    subscription?.request(.max(1))
    time.run()
    #expect(network.requests == 1)
    #expect(answers == 1)
  }

  @Test func `a host without a server isn't found`() { #expect(end(of: HTTPRequest(url)).what == "nameResolution") }

  @Test(arguments: [VirtualReply.feed([], after: 2), .feed([], after: 5), .drop(after: 5), .silence])
  func `a request times out when its response comes at the timeout, later or never`(reply: VirtualReply) {
    network.serve("example.com") { _, _ in reply }
    #expect(
      end(of: HTTPRequest(url, timeout: 2)) == ("timedOut(FeedHTTP.HTTPError.Phase.response)", time.now))
    #expect(time.now == StreamInstant(nanoseconds: 2_000_000_000))
  }

  @Test func `a request whose body arrives slowly times out while it receives`() {
    network.serve("example.com") { _, _ in .answer(Data(count: 4)).arriving(in: 1, every: 1) }
    let request = HTTPRequest(url, timeout: 2)
    #expect(end(of: request).what == "timedOut(FeedHTTP.HTTPError.Phase.receive)")
    var kind: HTTPError.Kind?
    let opened = network.open(request).flatMap(\.body).sink {
      if case .failure(let error) = $0 { kind = error.kind }
    } receiveValue: { _ in
    }
    time.run()
    #expect(kind == .timedOut(.receive))
    opened.cancel()
  }

  /// Reads the first piece of a streamed body as it arrives, and requests the others after `seconds`.
  ///
  /// - Returns: the number of bytes, and the failure's kind, if any.
  private func read(_ request: HTTPRequest, othersAfter seconds: Int) -> String {
    var body: Recorder<Chunk, HTTPError>?
    let demand = DemandScript(initial: .max(1), later: [.init(after: .seconds(seconds), .unlimited)])
    let opened = network.open(request).sink { _ in
    } receiveValue: { [time] in
      body = $0.body.record(on: time, demand: demand)
    }
    time.run()
    opened.cancel()
    guard let body else { return "no response" }
    return "\(Chunk(joining: body.values).count)\(body.failure.map { ", then \($0.kind)" } ?? "")"
  }

  @Test func `a body that fails first delivers all bytes that have arrived`() {
    network.serve("example.com") { _, _ in .answer(Data(count: 10)).arriving(in: 1, every: 1) }
    network.fail(Outage(time.now.advanced(by: 3.5)..<time.now.advanced(by: 4)))
    #expect(read(HTTPRequest(url), othersAfter: 10) == "4, then receive")
    #expect(network.log.last?.bytes == 4)
  }

  @Test func `a body that has arrived completely doesn't time out, however late it is read`() {
    network.serve("example.com") { _, _ in .answer(Data(count: 4)).arriving(in: 1, every: 1) }
    #expect(read(HTTPRequest(url), othersAfter: 40) == "4")
    #expect(network.log.last?.ended == StreamInstant(nanoseconds: 3_080_000_000))
    #expect(network.log.last?.bytes == 4 && network.open.isEmpty)
  }

  @Test func `a body that isn't read arrives only until the client's window is full`() {
    network.serve("example.com") { _, _ in .answer(Data(count: 1 << 20)).arriving(in: 16 << 10) }
    let result = read(HTTPRequest(url), othersAfter: 40)
    #expect(result == "\((16 + 256) << 10), then timedOut(FeedHTTP.HTTPError.Phase.receive)")
  }

  @Test(arguments: [(HTTPMethod.get, 200), (.get, 204), (.get, 304), (.head, 200)])
  func `an empty body is delivered without a chunk`(_ method: HTTPMethod, _ status: Int) {
    network.serve("example.com") { _, _ in .answer(status: status, Data()) }
    let chunks = network.open(HTTPRequest(method, url)).flatMap(\.body).record(on: time)
    time.run()
    #expect(chunks.values.isEmpty && chunks.completion == .finished)
  }

  @Test(arguments: [(4, "200"), (5, "tooLarge(limit: 4)")])
  func `a body over the limit fails, and one at the limit doesn't`(bytes: Int, expected: String) {
    network.serve("example.com") { _, _ in .answer(Data(count: bytes)) }
    #expect(end(of: HTTPRequest(url, maxBodyBytes: 4)).what == expected)
  }

  @Test func `an outage fails new requests, cuts open ones, and ends`() {
    network.serve("example.com") { _, _ in .feed([], after: 10) }
    network.fail(Outage(time.now.advanced(by: 5)..<time.now.advanced(by: 60), failure: .tls))
    #expect(end(of: HTTPRequest(url)) == ("receive", StreamInstant(nanoseconds: 5_000_000_000)))
    #expect(end(of: HTTPRequest(url)).what == "tls")
    time.advance(to: StreamInstant(nanoseconds: 60_000_000_000))
    #expect(end(of: HTTPRequest(url)).what == "200")
  }

  @Test func `disconnecting cuts open requests, and another host's outage doesn't`() {
    network.serve("example.com") { _, _ in .feed([], after: 10) }
    time.schedule(after: time.now.advanced(by: 1)) { [time, network] in
      network.fail(Outage(time.now..<time.now.advanced(by: 60), of: "other.com"))
    }
    time.schedule(after: time.now.advanced(by: 2)) { [network] in network.disconnect() }
    #expect(end(of: HTTPRequest(url)) == ("receive", StreamInstant(nanoseconds: 2_000_000_000)))
    #expect(end(of: HTTPRequest(url)).what == "connect")
    network.reconnect()
    #expect(end(of: HTTPRequest(url)).what == "200")
  }

  @Test func `reconnecting undoes future outages, even for open requests`() {
    network.serve("example.com") { _, _ in .feed([], after: 15) }
    network.fail(Outage(time.now.advanced(by: 10)..<time.now.advanced(by: 20)))
    time.schedule(after: time.now.advanced(by: 5)) { [network] in network.reconnect() }
    #expect(end(of: HTTPRequest(url)) == ("200", StreamInstant(nanoseconds: 15_000_000_000)))
  }

  // MARK: As the real client

  /// A request whose body comes from a stream that delivers `chunks` and completes after `seconds`.
  private func upload(_ chunks: [Chunk], after seconds: Int?) -> HTTPRequest {
    let all = chunks.publisher
    let body: HTTPBody =
      if let seconds {
        .stream(all.delay(for: .seconds(seconds), scheduler: time))
      } else {
        .stream(all.append(Empty(completeImmediately: false)))
      }
    return HTTPRequest(.post, url, body: body)
  }

  @Test(arguments: [nil, 20]) func `a body counts towards the timeout`(_ seconds: Int?) {
    network.serve("example.com") { _, _ in .feed([], after: 20) }
    let request = upload(["x"], after: seconds)
    #expect(end(of: request) == ("timedOut(FeedHTTP.HTTPError.Phase.response)", time.now))
    #expect(time.now == StreamInstant(nanoseconds: 30_000_000_000) && time.pending.isEmpty)
  }

  @Test func `an outage cuts a request whose body is being sent`() {
    network.serve("example.com") { _, _ in .feed([]) }
    network.fail(Outage(time.now.advanced(by: 5)..<time.now.advanced(by: 6)))
    #expect(end(of: upload(["x"], after: 20)) == ("send", StreamInstant(nanoseconds: 5_000_000_000)))
    #expect(network.open.isEmpty)
  }

  /// Serves a redirect from `/feed`, and the text "moved" at every other path.
  private func redirect(to target: String, status: Int = 301) {
    network.serve("example.com") { request, _ in
      request.request.url.path() == "/feed"
        ? .answer(status: status, headers: [("Location", target)], Data("see there".utf8), after: 1)
        : .answer(Data("moved".utf8), after: 1)
    }
  }

  @Test func `a redirect is followed, and the response names it`() throws {
    redirect(to: "/new")
    // The redirects' bodies don't count.
    let request = HTTPRequest(url, maxBodyBytes: "moved".count)
    let response = network.get(request).record(on: time)
    let streamed = network.open(request).record(on: time)
    time.run()
    let new = try #require(URL(string: "https://example.com/new"))
    let redirects = [HTTPRedirect(status: 301, from: url, to: new)]
    #expect(response.values.map(\.url) == [new] && response.values.map(\.redirects) == [redirects])
    #expect(streamed.values.map(\.url) == [new] && streamed.values.map(\.redirects) == [redirects])
    #expect(network.log.map(\.request.url) == [url, url, new, new])
  }

  @Test(arguments: [
    ("http://example.com/", "redirectRefused"), ("ftp://example.com/", "redirectRefused"),
    ("/feed", "tooManyRedirects(limit: 10)"), ("https://other.example/", "nameResolution"),
  ]) func `a redirect that can't be followed fails`(_ target: String, _ failure: String) {
    redirect(to: target)
    #expect(end(of: HTTPRequest(url)).what == failure)
    var request = HTTPRequest(url)
    request.followsRedirects = false
    #expect(end(of: request).what == "301")
  }

  @Test func `redirects count towards the timeout`() {
    redirect(to: "/new")
    #expect(end(of: HTTPRequest(url, timeout: 1.5)).what.hasPrefix("timedOut"))
  }

  @Test func `a redirected body is sent again only if it can be`() {
    redirect(to: "/new", status: 307)
    var request = upload(["x"], after: 0)
    request.expectsContinue = false
    #expect(end(of: request).what == "body")
    #expect(end(of: HTTPRequest(.post, url, body: .text("x"))).what == "200")
    #expect(network.log.last?.request.method == .post)
  }

  @Test(arguments: [(3, "body"), (5, "200"), (7, "body")])
  func `a streamed body must have its announced length`(_ count: Int, _ result: String) {
    network.serve("example.com") { _, _ in .feed([]) }
    let body = HTTPBody.stream(Just(Chunk(repeatElement(0, count: count))), length: 5)
    #expect(end(of: HTTPRequest(.post, url, body: body)).what == result)
    #expect(network.open.isEmpty)
  }

  @Test func `a request that HTTP doesn't allow is not sent`() throws {
    network.serve("example.com") { _, _ in .feed([]) }
    let requests = [
      HTTPRequest(url, headers: [.init(name: "X", value: "a\r\nY: b")]),
      HTTPRequest(url, headers: [.init(name: "Content-Length", value: "1")]),
      HTTPRequest(.head, url, body: .text("x")),
      HTTPRequest(.connect, url),
      HTTPRequest(try #require(URL(string: "ftp://example.com/"))),
    ]
    for request in requests { #expect(end(of: request).what == "invalidRequest") }
    #expect(network.requests == 0)
  }

  @Test func `the case of a host's letters doesn't matter`() throws {
    network.serve("Example.com") { _, _ in .feed([]) }
    #expect(end(of: HTTPRequest(url)).what == "200")
    #expect(end(of: HTTPRequest(try #require(URL(string: "https://EXAMPLE.com/")))).what == "200")
    network.fail(Outage(time.now..<time.now.advanced(by: 5), of: "EXAMPLE.COM"))
    #expect(end(of: HTTPRequest(url)).what == "connect")
  }

  @Test(arguments: ["::1", "[::1]"]) func `an IPv6 host is served with and without brackets`(_ host: String) throws {
    network.serve(host) { _, _ in .feed([]) }
    let request = HTTPRequest(try #require(URL(string: "http://[::1]:8080/")))
    #expect(end(of: request).what == "200")
    network.fail(Outage(time.now..<time.now.advanced(by: 5), of: host))
    #expect(end(of: request).what == "connect")
  }

  @Test func `a response to HEAD has no body`() {
    network.serve("example.com") { _, _ in .answer(Data("x".utf8)) }
    let response = network.head(url).record(on: time)
    time.run()
    #expect(response.values.map(\.body) == [Data()])
  }

  @Test func `cancelling closes the request immediately and leaves no pending work`() {
    network.serve("example.com") { _, _ in .feed([], after: 10) }
    var events = 0
    let subscription = network.get(url).sink { _ in
      events += 1
    } receiveValue: { _ in
      events += 1
    }
    time.advance(by: 3)
    #expect(network.open.map(\.number) == [0])

    subscription.cancel()

    #expect(network.open.isEmpty)
    #expect(network.log.last?.ending == .cancelled)
    #expect(network.log.last?.ended == StreamInstant(nanoseconds: 3_000_000_000))
    #expect(time.pending.isEmpty)
    time.run()
    #expect(events == 0)
  }

  @Test func `the same seed produces the same responses, and another seed different ones`() {
    func statuses(seed: UInt64) -> [String] {
      let network = VirtualNetwork(on: time, seed: seed)
      network.serve("example.com") { _, random in .answer(status: Int.random(in: 200...599, using: &random), Data()) }
      for _ in 0..<10 {
        _ = network.get(url).sink(receiveCompletion: { _ in }, receiveValue: { _ in })
        time.run()
      }
      return network.log.map { "\($0.request.url)" }
        + (0..<10).map { _ in
          var status = ""
          let subscription = network.get(url).sink { _ in
          } receiveValue: {
            status = "\($0.status)"
          }
          time.run()
          subscription.cancel()
          return status
        }
    }
    #expect(statuses(seed: 1) == statuses(seed: 1))
    #expect(statuses(seed: 1) != statuses(seed: 2))
  }

  @Test func `clearing the log keeps open requests`() {
    network.serve("example.com") { _, _ in .feed([], after: 10) }
    _ = end(of: HTTPRequest(url))
    let subscription = network.get(url).sink(receiveCompletion: { _ in }, receiveValue: { _ in })
    network.clearLog()
    #expect(network.log.map(\.number) == [1])
    time.run()
    #expect(network.log.first?.ended == time.now)
    subscription.cancel()
  }

  @Test func `an encoded payload decodes to the same images`() throws {
    let images: FeedImages = [
      FeedImage(id: UUID(), description: "\"quoted\", 👩‍👩‍👧, \\ and \u{1}", location: nil, url: url),
      FeedImage(id: UUID(), description: nil, location: "", url: URL(string: "http://example.com/a%20b?c=d&e")!),
    ]
    let document = WebDocument(body: FeedPayload.bytes(of: images), url: url)
    #expect(try [any FeedFormat].web.images(of: document) == images)
  }

  @Test func `an open request is listed as pending work with its host`() {
    network.serve("example.com") { _, _ in .silence }
    let subscription = network.get(url).sink(receiveCompletion: { _ in }, receiveValue: { _ in })
    #expect(time.pending.map { "\($0)" } == ["30s: the request to example.com"])
    subscription.cancel()
    #expect(time.pending.isEmpty)
  }

  @Test func `a port or a scheme in the name of a host traps`() async {
    let serving = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      VirtualNetwork(on: VirtualTimeScheduler()).serve("example.com:8080") { _, _ in .feed([]) }
    }
    let failing = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let time = VirtualTimeScheduler()
      VirtualNetwork(on: time).fail(Outage(time.now..<time.now.advanced(by: 5), of: "https://example.com"))
    }
    for result in [serving, failing] {
      let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(message.contains("isn't a host; leave out the scheme, the port and the path"))
    }
  }

  @Test func `subscribing to a body twice traps, even if the body is empty`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let time = VirtualTimeScheduler()
      let network = VirtualNetwork(on: time)
      network.serve("example.com") { _, _ in .answer(Data()) }
      let reading = network.open(HTTPRequest(URL(string: "https://example.com/")!))
        .flatMap { $0.body.append($0.body) }
        .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
      time.run()
      reading.cancel()
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("a body arrives only once"))
  }

  @Test func `a negative latency traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = VirtualReply.feed([], after: -5)
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("use zero or more"))
  }
}
