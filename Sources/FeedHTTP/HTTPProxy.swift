public import Foundation

/// The way of a request to its host.
public enum HTTPProxy: Sendable, Hashable {
  /// As the environment says (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`).
  case environment
  /// Directly.
  case none
  /// Through this one: `http://`, `https://`, `socks5://` or `socks5h://`, with a user and a password if it requires them.
  /// The exceptions of `no_proxy` do not count.
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
