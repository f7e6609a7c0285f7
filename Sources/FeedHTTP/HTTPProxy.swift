public import Foundation

/// The route of a request to its host.
public enum HTTPProxy: Sendable, Hashable {
  /// The proxies set in the environment (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`).
  case environment
  /// A direct connection, without a proxy.
  case none
  /// A connection through this proxy: `http://`, `https://`, `socks5://` or `socks5h://`, with a user and a password if
  /// it requires them. `no_proxy` is ignored.
  case url(URL)

  /// The value of `CURLOPT_PROXY`; `nil` for the environment's.
  var address: String? {
    switch self {
    case .environment: nil
    case .none: ""
    case .url(let url): url.absoluteString
    }
  }
}
