import FeedStream
import Foundation

/// One subscription to a stream of events: one connection after another.
final class EventSourceReader: PullSource {
  private let client: any HTTPClient
  private let request: HTTPRequest
  private let options: EventSourceOptions
  private let scheduler: any LoopScheduler
  /// Weak, because the subscription retains this object.
  private weak var subscription: PullSubscription<ServerEvent, EventSourceError>?

  private var parser: EventStreamParser
  /// The connection, or the pause before it.
  private var current: AnyCancellable?
  private var body: EventBody?
  private var alarm: AnyCancellable?
  /// The number of consecutive connections without an event.
  private var failures = 0
  private var pause: Duration
  private var generator = SystemRandomNumberGenerator()

  init(
    _ client: any HTTPClient, _ request: HTTPRequest, _ options: EventSourceOptions, _ scheduler: any LoopScheduler
  ) {
    self.client = client
    self.request = request
    self.options = options
    self.scheduler = scheduler
    pause = options.pause
    parser = EventStreamParser(limit: options.maxEventBytes, lastID: options.lastEventID)
  }

  deinit { drop() }

  func wanted(by subscription: PullSubscription<ServerEvent, EventSourceError>) -> Bool {
    if self.subscription == nil {
      self.subscription = subscription
      connect()
    }
    guard let body, body.wantsMore else { return false }
    // Without demand, nothing is read, so nothing can be said about silence.
    watchSilence()
    return body.ask()
  }

  func cancelled(_: PullSubscription<ServerEvent, EventSourceError>) { drop() }

  private func drop() {
    (alarm, current) = (nil, nil)
    body.take()?.cancel()
  }

  private func end(_ completion: Subscribers.Completion<EventSourceError>) {
    drop()
    subscription?.end(completion)
  }

  // MARK: One connection

  private func connect() {
    guard subscription?.isLive ?? false else { return }
    parser = EventStreamParser(limit: options.maxEventBytes, lastID: parser.lastID)
    var request = self.request
    request.headers.removeAll { ["accept", "last-event-id"].contains($0.name.lowercased()) }
    request.headers.append(HTTPRequest.Header(name: "Accept", value: "text/event-stream"))
    // A cache would deliver the body when it is complete, which it never is.
    if !CacheRequest(request).mayNotStore {
      request.headers.append(HTTPRequest.Header(name: "Cache-Control", value: "no-store"))
    }
    if !parser.lastID.isEmpty {
      request.headers.append(HTTPRequest.Header(name: "Last-Event-ID", value: parser.lastID))
    }
    // The body never ends, so only the head has a time limit, which is set below.
    request.timeout = .seconds(100 * 365 * 86_400)
    request.maxBodyBytes = .max
    let limit = Duration.nanoseconds(self.request.timeout.nanoseconds)
    watch(limit) { [unowned self] in
      lost(.request(HTTPError(.timedOut(.response), host: request.url.hostAndPort, cause: "")))
    }
    // A client may respond before `sink` returns.
    var isOver = false
    let opening = client.open(request).sink { [unowned self] completion in
      isOver = true
      if case .failure(let error) = completion { failed(error) }
    } receiveValue: { [unowned self] response in
      isOver = true
      opened(response)
    }
    if !isOver { current = opening }
  }

  private func opened(_ response: StreamingResponse) {
    current = nil
    alarm = nil
    guard subscription?.isLive ?? false else { return }
    guard response.status != 204 else { return end(.finished) }
    guard response.status == 200 else {
      return options.passingStatuses.contains(response.status)
        ? lost(.status(response.status)) : end(.failure(.status(response.status)))
    }
    let type = response.headers["Content-Type"]
    guard type.map(Self.isEventStream) ?? false else { return end(.failure(.contentType(type))) }
    let body = EventBody { [unowned self] in
      received($0)
    } end: { [unowned self] in
      finished($0)
    }
    self.body = body
    response.body.subscribe(body)
    subscription?.serve()
  }

  private static func isEventStream(_ type: String) -> Bool {
    type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased() == "text/event-stream"
  }

  private func received(_ chunk: Chunk) {
    alarm = nil
    parser.read(chunk) {
      subscription?.hold($0)
      failures = 0
    }
    // Even a server that requests no pause must not get one request after another.
    if let retry = parser.retry { pause = min(max(.milliseconds(retry), Self.leastPause), options.longestServerPause) }
    guard !parser.isTooLong else { return end(.failure(.tooLong(limit: options.maxEventBytes))) }
    subscription?.serve()
  }

  private func finished(_ completion: Subscribers.Completion<HTTPError>) {
    body = nil
    alarm = nil
    switch completion {
    case .finished: lost(nil)
    case .failure(let error): failed(error)
    }
  }

  private func failed(_ error: HTTPError) {
    current = nil
    if error.isPassing { lost(.request(error)) } else { end(.failure(.request(error))) }
  }

  // MARK: Reconnecting

  /// The shortest pause that a server may request, and the one from which shorter pauses grow.
  private static let leastPause = Duration.milliseconds(100)

  private func lost(_ error: EventSourceError?) {
    drop()
    if let attempts = options.attempts, failures + 1 >= attempts {
      return end(.failure(error ?? .noEvents(attempts: attempts)))
    }
    let policy = RetryPolicy.exponential(
      from: failures == 0 ? pause : max(pause, Self.leastPause), cap: max(pause, options.longestPause),
      jitter: failures == 0 ? 0 : options.jitter)
    let wait = max(pause, policy.pause(before: failures, using: &generator))
    failures += 1
    current = after(wait) { [unowned self] in
      current = nil
      connect()
    }
    subscription?.serve()
  }

  private func watchSilence() {
    guard let silence = options.silence else { return }
    watch(silence) { [unowned self] in
      lost(.request(HTTPError(.timedOut(.receive), host: request.url.hostAndPort, cause: "")))
    }
  }

  private func watch(_ limit: Duration, _ action: @escaping () -> Void) { alarm = after(limit, action) }

  private func after(_ pause: Duration, _ action: @escaping () -> Void) -> AnyCancellable {
    AnyCancellable(scheduler.once(after: pause, action))
  }
}

/// The subscriber of one connection's body: requests a chunk when an event is requested.
private final class EventBody: Subscriber, Cancellable {
  typealias Input = Chunk
  typealias Failure = HTTPError

  private var received: ((Chunk) -> Void)?
  private var end: ((Subscribers.Completion<HTTPError>) -> Void)?
  private var up: (any Subscription)?
  private var isAsked = false

  init(_ received: @escaping (Chunk) -> Void, end: @escaping (Subscribers.Completion<HTTPError>) -> Void) {
    self.received = received
    self.end = end
  }

  /// True if a chunk can be requested, and none has been.
  var wantsMore: Bool { !isAsked && up != nil }

  /// Requests a chunk.
  ///
  /// - Returns: true if the chunk may have arrived.
  func ask() -> Bool {
    guard wantsMore, let up else { return false }
    isAsked = true
    up.request(.max(1))
    return !isAsked
  }

  func cancel() {
    (received, end) = (nil, nil)
    up.take()?.cancel()
  }

  func receive(subscription: any Subscription) {
    guard received != nil else { return subscription.cancel() }
    up = subscription
  }

  func receive(_ input: Chunk) -> Subscribers.Demand {
    isAsked = false
    received?(input)
    return .none
  }

  func receive(completion: Subscribers.Completion<HTTPError>) {
    up = nil
    let end = end
    (received, self.end) = (nil, nil)
    end?(completion)
  }
}
