public import Foundation

/// The route of a request to its host.
public enum HTTPProxy: Sendable, Hashable {
  /// The proxies that the environment sets when the client is created: `http_proxy`, `https_proxy` and `all_proxy`,
  /// except for the hosts and networks in `no_proxy`. As in curl, an empty variable counts as unset, and names in upper
  /// case work, too, except for `HTTP_PROXY`.
  case environment
  /// A direct connection, without a proxy.
  case none
  /// A connection through this proxy: `http://`, `https://`, `socks5://` or `socks5h://`, with a user and a password if
  /// it requires them. `no_proxy` is ignored.
  case url(URL)
}
