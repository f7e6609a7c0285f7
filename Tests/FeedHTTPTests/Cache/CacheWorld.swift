import FeedStream
import FeedStreamTesting
import Foundation

@testable import FeedHTTP

/// A cached client in virtual time and its origin, with a record of their actions.
final class CacheWorld {
  /// The moment at which every world begins: a whole second.
  static let start = Date(timeIntervalSince1970: 1_750_000_000)

  /// The origin's response to one request.
  enum Answer {
    case response(Int, [(String, String)], String = "")
    /// 304 if the request has validators, and otherwise 999.
    case notModified([(String, String)])
    case failure(HTTPError.Kind)
  }

  /// The result of a request.
  struct Got {
    var status: Int?
    var headers: HTTPHeaders = []
    var body = ""
    var error: HTTPError.Kind?
    var url: URL?
    var redirects: [HTTPRedirect] = []
    /// True when the request has completed.
    var isOver = false
  }

  let time: VirtualTimeScheduler
  let origin: ScriptedOrigin
  let client: CachedHTTPClient

  init(
    _ time: VirtualTimeScheduler, store: any HTTPCacheStore = MemoryHTTPCache(), clock: Clock? = nil,
    _ configure: (inout HTTPCacheOptions) -> Void = { _ in }
  ) {
    self.time = time
    origin = ScriptedOrigin(time)
    let events = Events()
    var options = HTTPCacheOptions()
    options.report = { events.kinds.append($0.kind) }
    configure(&options)
    let clock = clock ?? Clock()
    client = origin.cached(in: store, options) { CacheWorld.now(time).addingTimeInterval(clock.error) }
    log = events
  }

  private let log: Events

  final class Events { var kinds: [HTTPCacheEvent.Kind] = [] }

  /// The error of the wall clock.
  final class Clock { var error: TimeInterval = 0 }

  var reported: [HTTPCacheEvent.Kind] { log.kinds }

  static func now(_ time: VirtualTimeScheduler) -> Date {
    start.addingTimeInterval(Double(time.now.nanoseconds) / 1e9)
  }

  /// Sends a request, and waits for its response.
  @discardableResult func get(_ request: HTTPRequest) -> Got {
    let got = begin(request)
    time.run()
    return got.value
  }

  @discardableResult func get(_ fields: (String, String)..., path: String = "/") -> Got { get(request(fields, path)) }

  func request(_ fields: [(String, String)] = [], _ path: String = "/") -> HTTPRequest {
    HTTPRequest(
      URL(string: "http://example.com\(path)")!,
      headers: fields.map { HTTPRequest.Header(name: $0, value: Self.expanded($1)) })
  }

  final class Pending {
    var value = Got()
    var subscription: AnyCancellable?
  }

  /// Sends a request, and returns an object that receives the response.
  func begin(_ request: HTTPRequest) -> Pending {
    let pending = Pending()
    pending.subscription = client.get(request).sink { completion in
      if case .failure(let error) = completion { pending.value.error = error.kind }
      pending.value.isOver = true
    } receiveValue: { response in
      pending.value.status = response.status
      pending.value.headers = response.headers
      pending.value.body = String(decoding: response.body, as: UTF8.self)
      pending.value.url = response.url
      pending.value.redirects = response.redirects
    }
    return pending
  }

  func wait(_ seconds: Double) { time.advance(by: .nanoseconds(Int(seconds * 1e9))) }

  /// A text in which `{10}` is replaced with the date 10 seconds after the beginning of the world.
  static func expanded(_ text: String) -> String {
    text.replacing(/\{(-?\d+)\}/) { HTTPDate.text(start.addingTimeInterval(Double($0.1)!)) }
  }
}

/// An origin with a list of responses to consecutive requests; the last one is repeated.
final class ScriptedOrigin: HTTPClient {
  let time: VirtualTimeScheduler
  var answers: [CacheWorld.Answer] = []
  /// The time that a response takes; if that is longer than the request's timeout, the request times out.
  var latency: StreamInstant.Stride = 0
  private(set) var requests: [HTTPRequest] = []
  private(set) var cancelled = 0

  var scheduler: (any LoopScheduler)? { time }

  init(_ time: VirtualTimeScheduler) { self.time = time }

  func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    Deferred { [self] in
      let number = requests.count
      requests.append(request)
      let isLate = latency > request.timeout
      let late = HTTPError(.timedOut(.response), host: "example.com")
      return Result.Publisher(answer(to: request, number))
        .delay(for: min(latency, request.timeout), scheduler: time)
        .flatMap { Result<HTTPResponse, HTTPError>.Publisher(isLate ? .failure(late) : .success($0)) }
        .handleEvents(receiveCancel: { [self] in cancelled += 1 })
    }
    .eraseToAnyPublisher()
  }

  private func answer(to request: HTTPRequest, _ number: Int) -> Result<HTTPResponse, HTTPError> {
    switch answers.isEmpty ? .response(200, []) : answers[min(number, answers.count - 1)] {
    case .response(let status, let fields, let body):
      return .success(response(status, fields, body.isEmpty ? "body \(number)" : body, request))
    case .notModified(let fields):
      let isConditional = request.has("If-None-Match") || request.has("If-Modified-Since")
      return .success(response(isConditional ? 304 : 999, fields, "", request))
    case .failure(let kind): return .failure(HTTPError(kind, host: "example.com"))
    }
  }

  private func response(
    _ status: Int, _ fields: [(String, String)], _ body: String, _ request: HTTPRequest
  ) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: HTTPHeaders(fields.map { ($0, CacheWorld.expanded($1)) }), body: Data(body.utf8),
      url: request.url)
  }
}
