import FeedHTTPServer
import FeedStream

/// Serves the site on several loops: they accept connections, parse, compress and write, while the site's own loop
/// creates the responses.
///
/// Requests and responses are passed as values. Event streams aren't passed: each loop has its own log of the gallery's
/// events.
final class SiteLoops {
  /// The loops' requests to the site.
  fileprivate enum Message: Sendable {
    case ask(Ticket, WholeRequest, Site.Answer, StreamSender<WholeResponse, HTTPStatus>)
    /// The response is no longer needed.
    case drop(Ticket)
    case warn(String)
  }

  /// One request from one loop.
  fileprivate struct Ticket: Hashable, Sendable {
    let loop: Int
    let number: Int
  }

  private var site: Site
  private let messages = PassthroughSubject<Message, Never>()
  private var running: [Ticket: AnyCancellable] = [:]
  private var listening: AnyCancellable?
  private let group: EventLoopGroup
  private var servers: HTTPServerGroup?

  /// - Parameters:
  ///   - site: the site to serve, whose gallery shares its events.
  ///   - loop: the site's loop.
  /// - Throws: `SystemError` if the server can't listen at the address; `EventLoopError` if the system has no threads
  ///   left.
  init(
    _ count: Int, _ site: Site, _ shared: Gallery.Shared, at address: SocketAddress, _ limits: HTTPServerLimits,
    on loop: EventLoop
  ) throws {
    self.site = site
    group = try EventLoopGroup(count: count, name: "serve")
    let (access, hasHubs, served, numbers) = (site.access, site.hubs != nil, site.served, SharedValue(0))
    let guesses = SharedValue(TokenGuesses())
    let sender = messages.sender(on: loop, keepsLoopAlive: false)
    do {
      servers = try HTTPServerGroup(at: address, limits: limits, on: group) { server in
        let number = numbers.update { number in
          number += 1
          return number
        }
        server.onError = { sender.post(.warn("\($0.method) \($0.path): \($0.error)")) }
        let link = SiteLink(number, sender, shared, on: server.scheduler)
        let routes = SiteRoutes(
          access: access, hasHubs: hasHubs, ask: { link.ask($0, $1) }, events: { link.events($0) })
        return server.serve(routes.routes, allowedBy: access, guesses, served)
      }
    } catch {
      group.shutdown()
      throw error
    }
    self.site.load = { [unowned self] in load }
    listening = messages.sink { [unowned self] in take($0) }
  }

  var address: SocketAddress? { servers?.address }

  /// The number of open connections, and the number of bytes waiting to be written to them.
  private var load: AnyPublisher<(connections: Int, waiting: Int), Never> {
    guard let servers else { return Just((0, 0)).eraseToAnyPublisher() }
    return Deferred { Future { (connections: await servers.connectionCount, waiting: await servers.waitingBytes) } }
      .eraseToAnyPublisher()
  }

  private func take(_ message: Message) {
    switch message {
    case .ask(let ticket, let request, let answer, let reply):
      var isOver = false
      let asking = answer(site, request).first().sink { [unowned self] completion in
        isOver = true
        running[ticket] = nil
        reply.send(completion: completion)
      } receiveValue: { [site] response in
        if let whole = WholeResponse(response) {
          reply.post(whole)
        } else {
          site.warn("\(request.path): the response can't be passed between loops")
          reply.send(completion: .failure(.internalServerError))
        }
      }
      if !isOver { running[ticket] = asking }
    case .drop(let ticket): running[ticket] = nil
    case .warn(let text): site.warn(text)
    }
  }

  /// Stops accepting connections, and completes the running requests. Delivers one value when all of them are
  /// completed.
  func stop(within deadline: StreamInstant.Stride, grace: StreamInstant.Stride) -> Future<Void, Never> {
    Future { [servers] in await servers?.shutdown(within: deadline, grace: grace) }
  }

  /// Closes all connections.
  func close() {
    servers?.close()
    listening = nil
    running = [:]
  }

  /// Waits for the threads to end.
  func shutdown() { group.shutdown() }
}

/// Gives one loop's server access to the site.
private final class SiteLink {
  private let loop: Int
  private let site: StreamSender<SiteLoops.Message, Never>
  private let scheduler: any LoopScheduler
  private let log: EventLog
  private let status: SharedValue<String>.Local
  private let isShared: Bool
  private var asked = 0

  init(
    _ loop: Int, _ site: StreamSender<SiteLoops.Message, Never>, _ shared: Gallery.Shared,
    on scheduler: any LoopScheduler
  ) {
    (self.loop, self.site, self.scheduler) = (loop, site, scheduler)
    log = EventLog(of: shared.events, on: scheduler)
    status = shared.status.local()
    isShared = shared.hasOthers
    log.snapshot = { [status] in status.value }
  }

  func ask(_ request: WholeRequest, _ answer: @escaping Site.Answer) -> Site.Reply {
    Create<WholeResponse, HTTPStatus> { [self] emitter in
      asked += 1
      let ticket = SiteLoops.Ticket(loop: loop, number: asked)
      emitter.onCancel { [site] in site.post(.drop(ticket)) }
      site.post(.ask(ticket, request, answer, emitter.sender))
    }
    .map { [scheduler] in ServerResponse($0, on: scheduler) }
    .eraseToAnyPublisher()
  }

  /// The events, in the order in which the gallery has sent them. The status is never older than the last event.
  func events(_ request: WholeRequest) -> Site.Reply {
    let last = request.headers["Last-Event-ID"] ?? ""
    let response = { [log, status] in
      ServerResponse.events(log, greeting: .init(status.value, name: "hello"))
    }
    guard isShared, !last.isEmpty else { return Site.now(response()) }
    // Wait until the site has announced the events that the client has received elsewhere.
    return ask(request) { site, _ in
      site.reaching(last).map { .text("") }.setFailureType(to: HTTPStatus.self).eraseToAnyPublisher()
    }
    .map { _ in response() }.eraseToAnyPublisher()
  }
}
