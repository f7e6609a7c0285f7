import FeedStream
import Foundation

/// Decides which connections a request may make. A URL that the user didn't choose may lead to a private network only
/// if the document or redirect that contains it came from one, too.
///
/// The decision depends on the address that delivered the document or the redirect, not on a name: a name may have
/// addresses of both kinds, and they may change later. If that address is unknown, the latest response from the
/// origin's host decides, or, if there is none, all addresses of that host's name.
final class NetworkGuard {
  /// True if the host's latest response came from a private network, keyed by ``URL/lowercasedHost``.
  private var isPrivateHost: [String: Bool] = [:]
  private static let mostHosts = 10_000
  /// A cache of ``isPrivateHost`` by ``HTTPExchange/host``, because it takes longer to get the name from the URL.
  private var noted: [Int: Bool] = [:]
  private let publicAddresses: Set<NetworkAddress>
  private let resolve: @Sendable (String) -> [NetworkAddress]

  init(_ configuration: CurlHTTPClient.Configuration) {
    publicAddresses = Set(configuration.publicAddresses.compactMap { NetworkAddress($0) })
    let known = configuration.addresses.mapValues { $0.compactMap { NetworkAddress($0) } }
    resolve = { known[$0] ?? NetworkAddress.addresses(of: $0) }
  }

  /// True when an address is in a private network.
  func isPrivate(_ address: NetworkAddress) -> Bool { address.isPrivate && !publicAddresses.contains(address) }

  /// True when a request may be sent to `address`.
  func allows(_ request: HTTPRequest, _ address: NetworkAddress) -> Bool {
    guard let origin = request.origin, isPrivate(address) else { return true }
    return request.originIsPrivate ?? isPrivateHost[origin.lowercasedHost] ?? false
  }

  /// Records the sender of a response.
  ///
  /// - Parameters:
  ///   - peer: the address of the sender.
  ///   - key: the host of the request (``HTTPExchange/host``).
  /// - Returns: true for a private network.
  func note(_ peer: NetworkAddress, of request: HTTPRequest, _ key: Int) -> Bool {
    let isPrivate = isPrivate(peer)
    if noted[key] == isPrivate { return isPrivate }
    let host = request.url.lowercasedHost
    if isPrivateHost[host] != isPrivate {
      if isPrivateHost.count >= Self.mostHosts { isPrivateHost.removeAll() }
      isPrivateHost[host] = isPrivate
      // Entries for other ports of the host are outdated, too.
      noted.removeAll()
    }
    if noted.count >= Self.mostHosts { noted.removeAll() }
    noted[key] = isPrivate
    return isPrivate
  }

  /// Checks whether a request that ``allows(_:_:)`` refused is allowed after all, because its origin is in a private
  /// network. If another process requested the origin, only the origin's name is known.
  ///
  /// - Parameter known: receives true if all of the name's addresses are private.
  func lookUp(_ request: HTTPRequest, on loop: EventLoop, _ known: @escaping (Bool) -> Void) {
    guard let origin = request.origin, request.originIsPrivate == nil, isPrivateHost[origin.lowercasedHost] == nil
    else {
      return known(false)
    }
    let (host, resolve) = (origin.lowercasedHost, resolve)
    loop.offload {
      resolve(host)
    } completion: { [self] addresses in
      known(!addresses.isEmpty && addresses.allSatisfy(isPrivate))
    }
  }
}

extension URL {
  /// The host in lower case, without the brackets of an IPv6 address.
  var lowercasedHost: String {
    (host(percentEncoded: false) ?? "").lowercased().trimmingCharacters(in: ["[", "]"])
  }
}
