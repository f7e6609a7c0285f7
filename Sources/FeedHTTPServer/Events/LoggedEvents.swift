extension ServerResponse {
  /// The events in `log` from now on, or from where the client stopped (`Last-Event-ID`), until the client
  /// disconnects.
  ///
  /// - Parameter greeting: an optional event that is sent on connection, to this client only. If the client also needs
  ///   a `reset`, that is sent first: both have the same id, and a client that knows the id gets no `reset`.
  public static func events(_ log: EventLog, greeting: EventLog.Event? = nil) -> ServerResponse {
    let headers: HTTPHeaders = ["Content-Type": "text/event-stream", "Cache-Control": "no-store"]
    return ServerResponse(.ok, headers: headers, body: .endless(LoggedEvents(log, greeting)))
  }
}

/// The events in a log, as a body.
private final class LoggedEvents: EndlessBody {
  private let log: EventLog
  private let greeting: EventLog.Event?

  init(_ log: EventLog, _ greeting: EventLog.Event?) {
    self.log = log
    self.greeting = greeting
  }

  func attach(_ connection: any ResponseConnection, after head: RequestHead) -> any ResponseSource {
    log.attach(connection, after: head, greeting)
  }
}
