import Foundation

/// The environment's proxies, as curl documents them. They are chosen here and not in libcurl, because
/// ``NetworkGuard`` must know whether a proxy makes the connection.
struct ProxyVariables {
  private let http, https: String
  /// The hosts and networks that need no proxy.
  private let exceptions: [String]

  /// - Parameter value: the value of a variable.
  init(_ value: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }) {
    func first(_ names: String...) -> String? { names.lazy.compactMap(value).first { !$0.isEmpty } }
    let all = first("all_proxy", "ALL_PROXY") ?? ""
    // A web server's programs get a request's `Proxy` field as `HTTP_PROXY`.
    http = first("http_proxy") ?? all
    https = first("https_proxy", "HTTPS_PROXY") ?? all
    exceptions = (first("no_proxy", "NO_PROXY") ?? "").lowercased()
      .split { $0 == "," || $0.isWhitespace }.map(String.init)
  }

  /// The proxy for a request to `url`; empty for a direct connection.
  func address(for url: URL) -> String {
    guard !http.isEmpty || !https.isEmpty else { return "" }
    let address = url.scheme?.lowercased() == "https" ? https : http
    return address.isEmpty || isException(url.lowercasedHost) ? "" : address
  }

  private func isException(_ host: String) -> Bool {
    guard !exceptions.isEmpty, exceptions != ["*"] else { return !exceptions.isEmpty }
    if let address = NetworkAddress(host) { return exceptions.contains { address.isIn($0) } }
    let host = host.hasSuffix(".") ? String(host.dropLast()) : host
    return exceptions.contains { exception in
      var domain = exception[...]
      if domain.hasSuffix(".") { domain.removeLast() }
      if domain.hasPrefix(".") { domain.removeFirst() }
      return host == domain || host.hasSuffix("." + domain)
    }
  }
}

extension HTTPProxy {
  /// The value of `CURLOPT_PROXY` for a request to `url`; empty for a direct connection.
  func address(for url: URL, in environment: ProxyVariables) -> String {
    switch self {
    case .environment: environment.address(for: url)
    case .none: ""
    case .url(let url): url.absoluteString
    }
  }
}
