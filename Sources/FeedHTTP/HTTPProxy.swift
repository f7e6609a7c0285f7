public import Foundation

/// The route of a request to its host.
public enum HTTPProxy: Sendable, Hashable {
  /// As set in the environment (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`).
  case environment
  /// Directly.
  case none
  /// Through this proxy: `http://`, `https://`, `socks5://` or `socks5h://`, with a user and a password if it requires
  /// them. The exceptions of `no_proxy` do not count.
  case url(URL)

  /// The proxy in libcurl's words; `nil` for the environment's.
  var address: String? {
    switch self {
    case .environment: nil
    case .none: ""
    case .url(let url): url.absoluteString
    }
  }
}
