import FeedHTTPServer
import FeedStream

/// Serves the site with several loops: they accept, parse, compress and write, and its own loop answers.
///
/// Requests and responses cross as values. Event streams don't: each loop has its log of the gallery's events.
final class SiteLoops {
  /// The requests of the loops to the site.
  fileprivate enum Message: Sendable {
    case ask(Ticket, HTTPServer.WholeRequest, Site.Answer, StreamSender<HTTPServer.WholeResponse, HTTPServer.Status>)
    /// The response is not wanted any more.
    case drop(Ticket)
    case warn(String)
  }

  /// One request of one loop.
  fileprivate struct Ticket: Hashable, Sendable {
    let loop: Int
    let number: Int
  }

  private var site: Site
  private let messages = PassthroughSubject<Message, Never>()
  private var running: [Ticket: AnyCancellable] = [:]
  private var listening: AnyCancellable?
  private let group: EventLoopGroup
  private var servers: HTTPServer.Group?

  /// - Parameters:
  ///   - site: what they serve, with a gallery that shares its events.
  ///   - loop: where that lives.
  /// - Throws: `SystemError`, when the address cannot be listened at; `EventLoopError`, when the system has no thread left.
  init(
    _ count: Int, _ site: Site, _ shared: Gallery.Shared, at address: SocketAddress, _ limits: HTTPServer.Limits,
    on loop: EventLoop
  ) throws {
    self.site = site
    group = try EventLoopGroup(count: count, name: "serve")
    let (door, hasHubs, served, numbers) = (site.door, site.hubs != nil, site.served, SharedValue(0))
    let guesses = SharedValue(TokenGuesses())
    let sender = messages.sender(on: loop, keepsLoopAlive: false)
    do {
      servers = try HTTPServer.Group(at: address, limits: limits, on: group) { server in
        let number = numbers.update { number in
          number += 1
          return number
        }
        server.onError = { sender.post(.warn("\($0.method) \($0.path): \($0.error)")) }
        let link = SiteLink(number, sender, shared, on: server.scheduler)
        let routes = SiteRoutes(
          door: door, hasHubs: hasHubs, ask: { link.ask($0, $1) }, events: { link.events($0) })
        return server.serve(routes.routes, behind: door, guesses, served)
      }
    } catch {
      group.shutdown()
      throw error
    }
    self.site.load = { [unowned self] in load }
    listening = messages.sink { [unowned self] in take($0) }
  }

  var address: SocketAddress? { servers?.address }

  /// Open connections, and the bytes that wait to be written to them.
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
        if let whole = HTTPServer.WholeResponse(response) {
          reply.post(whole)
        } else {
          site.warn("\(request.path): its response lives on one loop")
          reply.send(completion: .failure(.internalServerError))
        }
      }
      if !isOver { running[ticket] = asking }
    case .drop(let ticket): running[ticket] = nil
    case .warn(let text): site.warn(text)
    }
  }

  /// Accepts no more connections, and completes the requests that have begun. Delivers one value, when that is done.
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

/// The site, as one loop's server reaches it.
private final class SiteLink {
  private let loop: Int
  private let site: StreamSender<SiteLoops.Message, Never>
  private let scheduler: any LoopScheduler
  private let log: HTTPServer.EventLog
  private let status: SharedValue<String>.Local
  private let isShared: Bool
  private var asked = 0

  init(
    _ loop: Int, _ site: StreamSender<SiteLoops.Message, Never>, _ shared: Gallery.Shared,
    on scheduler: any LoopScheduler
  ) {
    (self.loop, self.site, self.scheduler) = (loop, site, scheduler)
    log = HTTPServer.EventLog(of: shared.events, on: scheduler)
    status = shared.status.local()
    isShared = shared.hasOthers
    log.snapshot = { [status] in status.value }
  }

  func ask(_ request: HTTPServer.WholeRequest, _ answer: @escaping Site.Answer) -> Site.Reply {
    Create<HTTPServer.WholeResponse, HTTPServer.Status> { [self] emitter in
      asked += 1
      let ticket = SiteLoops.Ticket(loop: loop, number: asked)
      emitter.onCancel { [site] in site.post(.drop(ticket)) }
      site.post(.ask(ticket, request, answer, emitter.sender))
    }
    .map { [scheduler] in HTTPServer.Response($0, on: scheduler) }
    .eraseToAnyPublisher()
  }

  /// The events come in the order in which the gallery has sent them, and its status is never older than the last of them.
  func events(_ request: HTTPServer.WholeRequest) -> Site.Reply {
    let last = request.headers["Last-Event-ID"] ?? ""
    let response = { [log, status] in
      HTTPServer.Response.events(log, greeting: .init(status.value, name: "hello"))
    }
    guard isShared, !last.isEmpty else { return Site.now(response()) }
    // The site says when it has told what the client was told elsewhere.
    return ask(request) { site, _ in
      site.reaching(last).map { .text("") }.setFailureType(to: HTTPServer.Status.self).eraseToAnyPublisher()
    }
    .map { _ in response() }.eraseToAnyPublisher()
  }
}
