import FeedHTTPServer
import FeedStream

extension ServeCommand {
  /// The largest announcement of a hub that is accepted: 4 MiB.
  private static let announcementBytes = 4 << 20

  var limits: HTTPServer.Limits {
    var limits = HTTPServer.Limits()
    // Nothing is sent to this server but requests for what there is.
    limits.bodyBytes = 4 * 1024
    // A hub sends the whole document.
    if publicUrl != nil { limits.bodyBytes = Self.announcementBytes }
    // Most are event streams, which do nothing for minutes.
    limits.connections = ConnectionLimit.raised(upTo: 16_384)
    limits.connectionsPerAddress = 1_024
    limits.wholeBodyBytes = 64 << 20
    let proxies = Set(proxy.map { SocketAddress.internet($0, port: 0).client })
    let isLocal = limits.isUnlimited
    limits.isUnlimited = { isLocal($0) || proxies.contains($0.client) }
    return limits
  }
}
