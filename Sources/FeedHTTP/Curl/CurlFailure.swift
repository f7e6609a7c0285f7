internal import CCurl
import Foundation

/// A request's failure as libcurl reports it, and its translation into an ``HTTPError``.
struct CurlFailure {
  var code: CURLcode
  /// The text in libcurl's error buffer.
  var sentence: String
  /// The error number of the last connection that failed, or 0.
  var systemError: Int32
  var phase: HTTPError.Phase
  var isAfterRedirect: Bool
  /// True when a socket could not be opened because no file descriptors were left.
  var lackedDescriptor: Bool
  /// The requested host.
  var host: String
  /// True if the request may have used a proxy.
  var mayUseProxy: Bool

  var kind: HTTPError.Kind {
    if isProxyInvalid { return .invalidRequest }
    if proxyRefusal != nil { return .connect }
    return switch code {
    case CURLE_UNSUPPORTED_PROTOCOL:
      // libcurl uses the same code for a scheme that is not followed ("Protocol \"ftp\" not supported …") and for a
      // response in an unknown version of HTTP.
      isAfterRedirect && isAboutScheme ? .redirectRefused : isAboutScheme ? .invalidRequest : .notHTTP
    case CURLE_URL_MALFORMAT: isAfterRedirect ? .redirectRefused : .invalidRequest
    case CURLE_COULDNT_RESOLVE_HOST: .nameResolution
    // `CURLE_ABORTED_BY_CALLBACK` comes from `CurlTransfer.isStuck`.
    case CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_PROXY, CURLE_INTERFACE_FAILED, CURLE_PROXY,
      CURLE_ABORTED_BY_CALLBACK:
      .connect
    case CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_WRITE_ERROR: .notHTTP
    case CURLE_HTTP2_STREAM: .receive
    case CURLE_PARTIAL_FILE: .truncated
    case CURLE_OPERATION_TIMEDOUT: .timedOut(phase)
    case CURLE_SEND_ERROR, CURLE_SEND_FAIL_REWIND: .send
    case CURLE_BAD_CONTENT_ENCODING: .encoding
    // A single header line of more than 100 KiB is reported in the same way.
    case CURLE_OUT_OF_MEMORY: phase == .response || phase == .receive ? .headersTooLarge : .resources
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ENGINE_NOTFOUND,
      CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED,
      CURLE_SSL_CACERT_BADFILE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR,
      CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT, CURLE_USE_SSL_FAILED:
      .tls
    default: .receive
    }
  }

  /// True if libcurl can't use the proxy's URL. Its sentence then contains that URL, and with it the password.
  private var isProxyInvalid: Bool { sentence.hasPrefix("Unsupported proxy") }

  /// The error of a request that failed at a proxy.
  private var proxyRefusal: String? {
    if let match = sentence.firstMatch(of: /CONNECT tunnel failed, response (\d+)/) {
      return "the proxy responded with status \(match.1)"
    }
    return sentence.contains("CONNECT aborted") ? "the proxy closed the connection" : nil
  }

  /// The proxy, if the connection to a proxy failed.
  private var proxy: String? {
    guard mayUseProxy, let match = sentence.prefixMatch(of: /Failed to connect to (\S+) port (\d+)/),
      match.1 != host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    else { return nil }
    return "\(match.1):\(match.2)"
  }

  private var isAboutScheme: Bool { sentence.hasPrefix("Protocol") || sentence.contains("URL scheme") }

  /// The system's or the proxy's reason if there is one, otherwise libcurl's.
  var cause: String {
    switch kind {
    case .headersTooLarge: return "a field is longer than 100 KiB"
    default: break
    }
    if isProxyInvalid {
      return "the proxy's URL isn't valid; begin it with http:, https:, socks5: or socks5h:, and write special "
        + "characters in its password as %2F (/), %23 (#), %3F (?), %40 (@) and %20 (space)"
    }
    if code == CURLE_COULDNT_RESOLVE_PROXY { return "the proxy was not found (\(sentence.lowercasedFirst))" }
    if code == CURLE_ABORTED_BY_CALLBACK { return "the proxy's response does not end" }
    if let proxyRefusal { return proxyRefusal }
    if code == CURLE_COULDNT_CONNECT, systemError != 0 {
      let reason = String(cString: strerror(systemError)).lowercasedFirst
      return proxy.map { "the proxy \($0) is unreachable: \(reason)" } ?? reason
    }
    return (sentence.isEmpty ? String(cString: curl_easy_strerror(code)) : sentence).lowercasedFirst
  }

  /// True when this process or machine had no file descriptors or threads left. They become available when another
  /// request completes.
  var isExhaustion: Bool {
    switch code {
    case CURLE_OK: false
    case CURLE_COULDNT_RESOLVE_HOST where sentence.contains("thread failed to start"): true
    // A name lookup doesn't report that it could not open its files.
    default: phase != .response && phase != .receive && (lackedDescriptor || Descriptors.areExhausted)
    }
  }
}

/// Initializes libcurl, once per process.
enum CurlLibrary {
  static func start() { _ = isStarted }

  private static let isStarted: Bool = {
    let code = curl_global_init(ccurl_global_default())
    precondition(code == CURLE_OK, "libcurl cannot start: \(String(cString: curl_easy_strerror(code)))")
    let features = curl_version_info(ccurl_version_now()).pointee.features
    precondition(
      features & CURL_VERSION_ASYNCHDNS != 0,
      "libcurl was built without an asynchronous resolver; install a libcurl with a threaded or c-ares resolver")
    return true
  }()
}

extension URL {
  /// The host, and the port if there is one; a file's whole URL. Empty for any other URL without a host, because a
  /// password in it may not be recognizable.
  package var hostAndPort: String {
    var host = host(percentEncoded: false) ?? (isFileURL ? absoluteString : "")
    // Brackets separate an IPv6 address from the port.
    if host.contains(":"), !host.hasPrefix("[") { host = "[\(host)]" }
    return port.map { "\(host):\($0)" } ?? host
  }
}

extension String {
  fileprivate var lowercasedFirst: String {
    // "SSL certificate problem" and "TLS …" keep their capitals.
    guard let first, dropFirst().first?.isUppercase != true else { return self }
    return first.lowercased() + dropFirst()
  }
}
