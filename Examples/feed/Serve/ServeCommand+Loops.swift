import FeedHTTPServer
import FeedStream
import Foundation

extension ServeCommand {
  /// The server, or the servers of several loops.
  struct Serving {
    /// The line to print.
    let place: String
    /// Completes the running requests, and calls back.
    let stop: (@escaping () -> Void) -> Void
    /// Waits for the threads of other loops to end.
    let shutdown: () -> Void
  }

  /// Listens, and serves the site on the session's loop, or on several loops.
  ///
  /// - Parameters:
  ///   - shared: the gallery's state for other loops; `nil` for one loop.
  ///   - makeSite: creates the site with the given rules.
  func serve(
    on session: Session, sharing shared: Gallery.Shared?, secret: [UInt8], _ makeSite: (AccessRules) -> Site
  ) throws -> Serving {
    let address = host == "localhost" ? "127.0.0.1" : host
    let passed = try SocketAddress.passed()
    func access(_ host: String) -> AccessRules {
      let known = [publicUrl, trust.configuration().signer?.agent].compactMap { $0?.host() }
      return AccessRules(host: host, token: chosenToken, names: allowHost + known, secret: secret)
    }
    guard let shared else {
      let server = try HTTPServer(
        at: passed.isEmpty ? [.internet(address, port: port)] : passed, limits: limits, on: session.loop)
      server.onError = { [console = session.console] in console.warn("\($0.method) \($0.path): \($0.error)") }
      var site = makeSite(access(passed.isEmpty ? address : AccessRules.widest(server.addresses)))
      site.load = { [unowned server] in Just((server.connectionCount, server.waitingBytes)).eraseToAnyPublisher() }
      session.keep(
        server.serve(SiteRoutes(site).routes, allowedBy: site.access, SharedValue(TokenGuesses()), site.served))
      session.keep(AnyCancellable { server.close() })
      return Serving(place: Site.place(server.address, port: server.address?.port ?? port, site.access)) { done in
        session.keep(
          server.shutdown(within: Self.longestStop, grace: Self.grace)
            .sink(receiveCompletion: { _ in done() }, receiveValue: { _ in }))
      } shutdown: {
      }
    }
    guard passed.isEmpty else {
      throw LoopsError("a systemd socket can serve only one loop: leave out --loops, or start without the socket")
    }
    let site = makeSite(access(address))
    let loops = try SiteLoops(
      self.loops, site, shared, at: .internet(address, port: port), limits, on: session.loop)
    session.keep(AnyCancellable { loops.close() })
    return Serving(place: Site.place(loops.address, port: loops.address?.port ?? port, site.access)) { done in
      session.keep(
        loops.stop(within: Self.longestStop, grace: Self.grace).sink { done() })
    } shutdown: {
      loops.shutdown()
    }
  }

  /// The time after which a stop closes connections that are still transferring a response.
  private static let longestStop = StreamInstant.Stride.seconds(1)
  /// The time for which idle connections stay open for one last request when the server stops.
  private static let grace = StreamInstant.Stride.milliseconds(200)

  private struct LoopsError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  func advice(_ code: Int32) -> String {
    switch code {
    case EADDRINUSE: "; another program is listening there: choose another --port, or 0 for any free port"
    case EACCES where (1..<1024).contains(port):
      "; ports below 1024 may need administrator rights: choose another --port"
    case EADDRNOTAVAIL: "; this machine does not have that address: choose another --host"
    default: ""
    }
  }
}
