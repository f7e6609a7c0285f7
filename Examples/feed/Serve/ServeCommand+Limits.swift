import FeedHTTPServer
import FeedStream

extension ServeCommand {
  /// The maximum size of a hub's announcement: 4 MiB.
  private static let announcementBytes = 4 << 20

  var limits: HTTPServerLimits {
    var limits = HTTPServerLimits()
    // Clients send only small requests to this server.
    limits.bodyBytes = 4 * 1024
    // A hub sends the whole document.
    if publicUrl != nil { limits.bodyBytes = Self.announcementBytes }
    // Most connections are event streams, which are idle for minutes.
    limits.connections = ConnectionLimit.raised(upTo: 16_384)
    limits.connectionsPerAddress = 1_024
    limits.wholeBodyBytes = 64 << 20
    let proxies = Set(proxy.map { SocketAddress.internet($0, port: 0).client })
    let isLocal = limits.isUnlimited
    limits.isUnlimited = { isLocal($0) || proxies.contains($0.client) }
    return limits
  }
}
