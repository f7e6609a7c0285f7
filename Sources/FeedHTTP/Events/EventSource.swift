public import FeedStream
public import Foundation
import PlainText

/// Options for an event stream: reconnection and limits.
public struct EventSourceOptions: Sendable {
  /// The pause before a reconnection, until the server sets a different pause. 3 seconds by default.
  public var pause: Duration = .seconds(3)
  /// The longest pause: while no event arrives, pauses double up to this limit. A pause that the server requests may be
  /// longer; if it requests less than 100 milliseconds, the pause is 100 milliseconds. 60 seconds by default.
  public var longestPause: Duration = .seconds(60)
  /// The longest pause that a server may request. One hour by default.
  public var longestServerPause: Duration = .seconds(3600)
  /// The random share of each pause after the first, from 0 to 1, so that clients do not reconnect together. 0.5 by
  /// default.
  public var jitter = 0.5
  /// The maximum number of consecutive connections that fail or deliver no event. `nil`, the default, for no limit.
  public var attempts: Int?
  /// The time without any bytes (not even comments) after which the connection is considered lost, while bytes are
  /// awaited. `nil`, the default, for no limit.
  public var silence: Duration?
  /// The maximum size of an event in bytes. 1 MiB by default.
  public var maxEventBytes = 1 << 20
  /// The id of the event after which the stream begins. Empty by default: the server treats this client as a new one.
  public var lastEventID = ""
  /// The statuses after which the client reconnects, as after a lost connection. By default, 429, 502, 503, and 504,
  /// because they mean that the server is temporarily unavailable; the HTML standard doesn't list any such statuses.
  public var passingStatuses: Set<Int> = [429, 502, 503, 504]

  public init() {}

  /// Traps here, because the options aren't used before a connection is lost.
  fileprivate func check() {
    precondition((0...1).contains(jitter), "EventSourceOptions: jitter is \(jitter); use 0 to 1")
    precondition(pause >= .zero, "EventSourceOptions: pause is \(pause); use zero or more")
  }
}

/// The reason why an event stream failed.
public enum EventSourceError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The response has a status other than 200 and 204.
  case status(Int)
  /// The response isn't an event stream but has this type; `nil` if it has no `Content-Type`.
  case contentType(String?)
  /// An event has more bytes than allowed.
  case tooLong(limit: Int)
  /// The request failed permanently, or more often than allowed.
  case request(HTTPError)
  /// Connections ended without an event more often than allowed.
  case noEvents(attempts: Int)

  public var description: String {
    switch self {
    case .status(let status): "the server responded with status \(status) instead of events"
    case .contentType(let type?): "the response's type is \(type), not text/event-stream"
    case .contentType(nil): "the response has no Content-Type; text/event-stream is required"
    case .tooLong(let limit): "an event is longer than \(limit.byteSize); raise maxEventBytes to allow that"
    case .request(let error): error.description
    case .noEvents(1): "the connection ended without an event"
    case .noEvents(let attempts): "\(attempts) connections in a row ended without an event"
    }
  }
}

extension HTTPClient {
  /// The events that a server sends (`text/event-stream`), with reconnections.
  ///
  ///     client.events(at: url)
  ///       .sink { print($0) } receiveValue: { print($0.event, $0.data) }
  ///
  /// When a connection is lost or ends, the client reconnects after a pause (the server's `retry`), which grows while
  /// no event arrives. The client sends the id of the last event that it has read (`Last-Event-ID`). A server that
  /// supports this can then resume there, without losing or repeating an event. After status 204, the stream completes.
  ///
  /// **Demand:** connects when the first event is requested, and reads while there is demand; without demand, the
  /// server has to wait.
  /// **Failure:** ``EventSourceError``. Finishes on 204. **Cancellation:** closes the connection. **Policy:** holds the
  /// events of one chunk.
  ///
  /// - Parameters:
  ///   - url: the URL of the event stream.
  ///   - options: pauses and limits.
  ///   - scheduler: times the pauses; the client's own by default.
  public func events(
    at url: URL, _ options: EventSourceOptions = EventSourceOptions(), on scheduler: (any LoopScheduler)? = nil
  ) -> AnyPublisher<ServerEvent, EventSourceError> {
    events(with: HTTPRequest(url), options, on: scheduler)
  }

  /// The events of the response to a request, which may have its own header fields. The request's timeout applies to
  /// each response's head, and to the wait for a connection to become free. `no-store` is added to the request's
  /// `Cache-Control`, because a stream can't be cached.
  ///
  /// **Demand, failure, cancellation, policy:** as for ``events(at:_:on:)``.
  public func events(
    with request: HTTPRequest, _ options: EventSourceOptions = EventSourceOptions(),
    on scheduler: (any LoopScheduler)? = nil
  ) -> AnyPublisher<ServerEvent, EventSourceError> {
    options.check()
    guard let scheduler = scheduler ?? self.scheduler else {
      preconditionFailure("HTTPClient.events(at:): this client has no scheduler; pass one: events(at: url, on: loop)")
    }
    return AnyPublisher(
      Pulled("HTTPClient.events") { [self] in EventSourceReader(self, request, options, scheduler) })
  }
}
