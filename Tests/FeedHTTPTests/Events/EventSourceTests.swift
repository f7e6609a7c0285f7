import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@testable import FeedHTTP

@Suite(.settled) struct EventSourceTests {
  /// A server of events in virtual time: a script serves each connection.
  private final class Origin: HTTPClient {
    struct Reply {
      var status = 200
      var type: String? = "text/event-stream"
      var body: AnyPublisher<Chunk, HTTPError> = Empty(completeImmediately: false).eraseToAnyPublisher()
      var error: HTTPError.Kind?
    }

    let time: VirtualTimeScheduler
    /// The requests, and their times.
    private(set) var requests: [(request: HTTPRequest, at: StreamInstant)] = []
    private let script: (Int, HTTPRequest) -> Reply

    init(on time: VirtualTimeScheduler, _ script: @escaping (Int, HTTPRequest) -> Reply) {
      self.time = time
      self.script = script
    }

    var scheduler: (any LoopScheduler)? { time }
    var seconds: [Double] { requests.map { Double($0.at.nanoseconds) / 1e9 } }
    var ids: [String?] { requests.map { $0.request.values(of: "Last-Event-ID").first } }

    func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> { fatalError("events are streamed") }

    func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> {
      Deferred { [self] () -> AnyPublisher<StreamingResponse, HTTPError> in
        requests.append((request, time.now))
        let reply = script(requests.count - 1, request)
        if let error = reply.error {
          return Fail(error: HTTPError(error, host: "example.com")).eraseToAnyPublisher()
        }
        let headers = HTTPHeaders(reply.type.map { [("Content-Type", $0)] } ?? [])
        return Just(
          StreamingResponse(status: reply.status, headers: headers, url: request.url, body: reply.body)
        )
        .setFailureType(to: HTTPError.self).eraseToAnyPublisher()
      }
      .eraseToAnyPublisher()
    }
  }

  private let time = VirtualTimeScheduler()
  private let url = URL(string: "http://example.com/events")!

  private static func stream(_ text: String, then error: HTTPError.Kind? = nil) -> Origin.Reply {
    let chunk = Just(Chunk(text)).setFailureType(to: HTTPError.self)
    guard let error else { return Origin.Reply(body: chunk.eraseToAnyPublisher()) }
    return Origin.Reply(body: chunk.append(Fail(error: HTTPError(error, host: ""))).eraseToAnyPublisher())
  }

  private func options(_ change: (inout EventSourceOptions) -> Void = { _ in }) -> EventSourceOptions {
    var options = EventSourceOptions()
    options.jitter = 0
    change(&options)
    return options
  }

  @Test func `EventSource reconnects after the server's retry time with the last id, until 204`() {
    let origin = Origin(on: time) { number, _ in
      switch number {
      case 0: Self.stream("retry:1500\nid:1\ndata:a\n\n")
      case 1: Self.stream("data:b\n\nid:lost\ndata:never", then: .receive)
      default: Origin.Reply(status: 204, type: nil)
      }
    }
    let events = origin.events(at: url, options()).record(on: time)
    time.advance(by: 60)
    #expect(events.values == [ServerEvent(id: "1", data: "a"), ServerEvent(id: "1", data: "b")])
    #expect(events.completion == .finished)
    #expect(origin.seconds == [0, 1.5, 3])
    #expect(origin.ids == [nil, "1", "1"])
    #expect(origin.requests[0].request.values(of: "Accept") == ["text/event-stream"])
  }

  @Test func `EventSource backs off without events, and starts over after one`() {
    let origin = Origin(on: time) { number, _ in
      switch number {
      case 0, 1, 2: Origin.Reply(error: .connect)
      case 3: Origin.Reply(status: 503)
      case 4: Self.stream("data:a\n\n")
      case 5: Self.stream(":nothing\n")
      default: Origin.Reply(status: 204)
      }
    }
    let events = origin.events(at: url, options { $0.pause = .seconds(1) }).record(on: time)
    time.advance(by: 100)
    #expect(events.values.map(\.data) == ["a"])
    // Pauses of 1, 2, 4 and 8 s; then 1 s, because an event arrived, and 2 s.
    #expect(origin.seconds == [0, 1, 3, 7, 15, 16, 18])
  }

  @Test func `pauses grow up to the longest, unless the server's retry time is longer`() {
    let origin = Origin(on: time) { _, _ in Origin.Reply(error: .connect) }
    let options = options { ($0.pause, $0.longestPause, $0.attempts) = (.seconds(1), .seconds(5), 7) }
    let events = origin.events(at: url, options).record(on: time)
    time.advance(by: 100)
    #expect(origin.seconds == [0, 1, 3, 7, 12, 17, 22])
    #expect(events.completion == .failure(.request(HTTPError(.connect, host: "example.com"))))
    let slow = Origin(on: time) { _, _ in Self.stream("retry:9000\n") }
    let begun = Double(time.now.nanoseconds) / 1e9
    let second = slow.events(at: url, options).record(on: time)
    time.advance(by: 20)
    #expect(slow.seconds.map { $0 - begun } == [0, 9, 18])
    second.cancel()
  }

  @Test(arguments: [
    (404, "text/event-stream", EventSourceError.status(404)), (200, "text/plain", .contentType("text/plain")),
    (200, "text/event-streams", .contentType("text/event-streams")), (500, "text/event-stream", .status(500)),
    (201, "text/event-stream", .status(201)),
  ]) func `a response that isn't an event stream is an error`(status: Int, type: String, error: EventSourceError) {
    let origin = Origin(on: time) { _, _ in Origin.Reply(status: status, type: type) }
    let events = origin.events(at: url).record(on: time)
    time.advance(by: 100)
    #expect(events.completion == .failure(error))
    #expect(origin.requests.count == 1)
  }

  @Test(arguments: ["text/event-stream", "TEXT/EVENT-STREAM ;charset=utf-8", " text/event-stream; x=\"y\""])
  func `the media type may have parameters and any case`(type: String) {
    let origin = Origin(on: time) { number, _ in
      number > 0 ? Origin.Reply(status: 204) : Origin.Reply(type: type, body: Self.stream("data:1\n\n").body)
    }
    let events = origin.events(at: url).record(on: time)
    time.advance(by: 10)
    #expect(events.values.map(\.data) == ["1"])
  }

  @Test func `a permanent error fails the stream`() {
    let origin = Origin(on: time) { _, _ in Origin.Reply(error: .tls) }
    let events = origin.events(at: url).record(on: time)
    time.advance(by: 100)
    #expect(events.completion == .failure(.request(HTTPError(.tls, host: "example.com"))))
    #expect(origin.requests.count == 1)
  }

  @Test func `without demand, EventSource makes no request and reads no chunk`() {
    var asked = 0
    let chunks = (1...100).publisher.handleEvents(receiveOutput: { _ in asked += 1 }).map { Chunk("data:\($0)\n\n") }
      .setFailureType(to: HTTPError.self)
    let origin = Origin(on: time) { _, _ in Origin.Reply(body: chunks.eraseToAnyPublisher()) }
    let events = origin.events(at: url).record(on: time, demand: .none)
    time.advance(by: 1)
    #expect(origin.requests.isEmpty)
    events.request(.max(3))
    time.advance(by: 1)
    #expect(events.values.map(\.data) == ["1", "2", "3"])
    #expect(asked == 3)
    events.cancel()
  }

  @Test func `EventSource reconnects after a connection has been silent for too long`() {
    let origin = Origin(on: time) { number, _ in
      guard number == 0 else { return Origin.Reply(status: 204) }
      let bytes = Just(Chunk("id:4\ndata:1\n\n")).setFailureType(to: HTTPError.self)
      return Origin.Reply(body: bytes.append(Empty(completeImmediately: false)).eraseToAnyPublisher())
    }
    let events = origin.events(at: url, options { $0.silence = .seconds(20) }).record(on: time)
    time.advance(by: 60)
    #expect(events.values.map(\.data) == ["1"])
    #expect(origin.seconds == [0, 23])
    #expect(origin.ids == [nil, "4"])
  }

  @Test func `a connection isn't silent while no event is requested`() {
    let chunks = (1...3).publisher.map { Chunk("id:\($0)\ndata:\($0)\n\n") }.setFailureType(to: HTTPError.self)
    let origin = Origin(on: time) { _, _ in
      Origin.Reply(body: chunks.append(Empty(completeImmediately: false)).eraseToAnyPublisher())
    }
    let events = origin.events(at: url, options { $0.silence = .seconds(20) })
      .record(on: time, demand: .max(1))
    time.advance(by: 600)
    events.request(.max(1))
    time.advance(by: 600)
    #expect(events.values.map(\.data) == ["1", "2"])
    #expect(origin.seconds == [0])
    events.cancel()
  }

  @Test func `a server that requests no pause gets a short one after each event`() {
    let origin = Origin(on: time) { _, _ in Self.stream("retry:0\ndata:1\n\n") }
    let events = origin.events(at: url, options { $0.longestPause = .milliseconds(10) }).record(on: time)
    time.advance(by: 0.35)
    #expect(origin.seconds == [0, 0.1, 0.2, 0.3])
    #expect(events.values.count == 4)
    events.cancel()
  }

  @Test func `a server that requests no pause gets growing pauses while it sends no event`() {
    let origin = Origin(on: time) { number, _ in Self.stream(number == 0 ? "retry:0\ndata:1\n\n" : "") }
    let events = origin.events(at: url, options()).record(on: time)
    time.advance(by: 1.6)
    #expect(origin.seconds == [0, 0.1, 0.3, 0.7, 1.5])
    time.advance(by: 7200)
    #expect((120...140).contains(origin.requests.count))
    events.cancel()
  }

  @Test func `an id that a header field can't have doesn't end the stream`() {
    let origin = Origin(on: time) { number, _ in
      number < 2 ? Self.stream("id:7\ndata:\(number)\n\nid:a\u{1}b\ndata:more\n\n") : Origin.Reply(status: 204)
    }
    let events = origin.events(at: url, options()).record(on: time)
    time.advance(by: 60)
    #expect(events.values.map(\.id) == ["7", "7", "7", "7"] && events.completion == .finished)
    #expect(origin.ids == [nil, "7", "7"])
  }

  @Test func `an event over the limit fails the stream`() {
    let origin = Origin(on: time) { _, _ in Self.stream("data:" + String(repeating: "x", count: 200)) }
    let events = origin.events(at: url, options { $0.maxEventBytes = 100 }).record(on: time)
    time.advance(by: 1)
    #expect(events.completion == .failure(.tooLong(limit: 100)))
  }

  /// A thousand streams of a server that supports resuming; each stream is cut repeatedly at random positions.
  @Test func `a thousand interrupted streams lose and repeat no event`() {
    for seed in 0..<1_000 {
      let time = VirtualTimeScheduler()
      var random = SeededGenerator(seed: UInt64(seed))
      let count = Int.random(in: 1...40, using: &random)
      let lineEnd = ["\n", "\r", "\r\n"].randomElement(using: &random)!
      let origin = Origin(on: time) { _, request in
        if Int.random(in: 0..<6, using: &random) == 0 { return Origin.Reply(error: .connect) }
        if Int.random(in: 0..<8, using: &random) == 0 { return Origin.Reply(status: 503) }
        let next = (request.values(of: "Last-Event-ID").first.flatMap { Int($0) } ?? 0) + 1
        guard next <= count else { return Origin.Reply(status: 204) }
        let text = (next...count).map { number in
          [":heart", "id: \(number)", "event: e\(number % 3)", "data: \(number)", "data:beat", ""].joined(
            separator: lineEnd)
            + lineEnd
        }.joined()
        var bytes = Array(text.utf8)[...]
        if Int.random(in: 0..<4, using: &random) > 0 {
          bytes = bytes.prefix(Int.random(in: 0...bytes.count, using: &random))
        }
        var chunks: [Chunk] = []
        while !bytes.isEmpty {
          let size = Int.random(in: 1...30, using: &random)
          chunks.append(Chunk(bytes.prefix(size)))
          bytes = bytes.dropFirst(size)
        }
        let body = chunks.publisher.setFailureType(to: HTTPError.self)
        let kind: HTTPError.Kind? = [nil, .receive, .truncated].randomElement(using: &random)!
        guard let kind else { return Origin.Reply(body: body.eraseToAnyPublisher()) }
        return Origin.Reply(body: body.append(Fail(error: HTTPError(kind, host: ""))).eraseToAnyPublisher())
      }
      let events = origin.events(at: url).record(on: time)
      time.advance(by: 100_000)
      let expected = (1...count).map { ServerEvent(id: "\($0)", event: "e\($0 % 3)", data: "\($0)\nbeat") }
      #expect(events.values == expected, "seed \(seed)")
      #expect(events.completion == .finished, "seed \(seed)")
    }
  }

  @Test(.timeLimit(.minutes(5)), arguments: [true, false])
  func `options that can't be used trap before the first connection`(isJitter: Bool) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [isJitter] in
      var options = EventSourceOptions()
      if isJitter { options.jitter = 50 } else { options.pause = .seconds(-1) }
      let origin = Origin(on: VirtualTimeScheduler()) { _, _ in Origin.Reply() }
      _ = origin.events(at: URL(string: "http://example.com/events")!, options)
    }
    let reason = isJitter ? "jitter is 50.0; use 0 to 1" : "pause is -1.0 seconds; use zero or more"
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("EventSourceOptions: \(reason)"), "\(message)")
  }

  @Test(arguments: [[], [HTTPRequest.Header(name: "Cache-Control", value: "no-cache")]])
  func `events arrive through a cached client`(fields: [HTTPRequest.Header]) {
    let origin = Origin(on: time) { _, _ in Self.stream("data:a\n\n") }
    let request = HTTPRequest(url, headers: fields)
    let events = origin.cached(in: MemoryHTTPCache()).events(with: request, options()).record(on: time)
    time.advance(by: .milliseconds(10))
    #expect(events.values.map(\.data) == ["a"])
  }
}
