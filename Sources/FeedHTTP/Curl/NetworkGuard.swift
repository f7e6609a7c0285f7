import FeedStream
import Foundation

/// Decides which connections a request may make: one whose address somebody else chose may lead to a private network only
/// if the user's own address leads to one, too.
final class NetworkGuard {
  /// The hosts that a user's own address named and that turned out to be in a private network.
  private var ownPrivateHosts: Set<String> = []
  /// The hosts that answered out of a private network, whoever named them, as ``HTTPExchange/host`` represents them.
  private var privateHosts: Set<UInt64> = []
  private let publicAddresses: Set<NetworkAddress>
  /// False when a proxy connects: then nobody here sees where to.
  let isOn: Bool

  init(_ configuration: CurlHTTPClient.Configuration) {
    publicAddresses = Set(configuration.publicAddresses.compactMap { NetworkAddress($0) })
    isOn = !(configuration.usesProxies && CurlTransfer.hasProxy)
  }

  /// True when a request may be sent to `address`. Remembers where the user's own addresses lead.
  func allows(_ exchange: HTTPExchange, _ address: NetworkAddress) -> Bool {
    guard isOn, address.isPrivate, !publicAddresses.contains(address) else { return true }
    let request = exchange.request
    if let origin = request.origin, !ownPrivateHosts.contains(origin.lowercasedHost) { return false }
    if request.origin == nil { ownPrivateHosts.insert(request.url.lowercasedHost) }
    privateHosts.insert(exchange.host)
    return true
  }

  /// True when the host of a request was connected to in a private network.
  func isPrivate(_ exchange: HTTPExchange) -> Bool { !privateHosts.isEmpty && privateHosts.contains(exchange.host) }

  /// Looks up where the origin of a request leads, which may have been asked by another process: then only its name is known.
  ///
  /// - Parameter known: is given true when that is a private network.
  func lookUp(_ origin: URL, on loop: EventLoop, _ known: @escaping (Bool) -> Void) {
    let (host, publicAddresses) = (origin.lowercasedHost, publicAddresses)
    loop.offload {
      NetworkAddress.addresses(of: host).contains { $0.isPrivate && !publicAddresses.contains($0) }
    } completion: { [self] isPrivate in
      if isPrivate { ownPrivateHosts.insert(host) }
      known(isPrivate)
    }
  }
}

extension URL {
  /// Without the brackets of an address of version 6.
  fileprivate var lowercasedHost: String {
    (host(percentEncoded: false) ?? "").lowercased().trimmingCharacters(in: ["[", "]"])
  }
}
