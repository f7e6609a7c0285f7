import PlainText

/// The reason why no complete response arrived.
public struct HTTPError: Error, Hashable, Sendable {
  /// A phase of a request.
  public enum Phase: String, Hashable, Sendable {
    /// Waiting for a connection to become free.
    case waiting
    case nameResolution
    case connect
    case tls
    /// Waiting for the first byte of the response.
    case response
    /// The response is arriving.
    case receive
  }

  /// The kind of failure.
  public enum Kind: Hashable, Sendable {
    /// The URL is not http or https; the proxy's URL is not valid; the method or a header field cannot be sent; or the
    /// method allows no body.
    case invalidRequest
    /// The host's name was not found, or no name server could be reached.
    case nameResolution
    /// No connection could be made to the host or to the proxy.
    case connect
    /// The server is not trusted: the certificate or the handshake was refused. Never retried without verification.
    case tls
    /// The connection broke while the request was sent.
    case send
    /// The request's body cannot be sent: its source failed, it is longer or shorter than announced, or it can't be
    /// read again.
    case body
    /// The connection broke before the response was complete.
    case receive
    /// The response ended early: its header, body or compressed data is incomplete, or TLS ended without
    /// `close_notify`.
    case truncated
    /// The compressed data is damaged, or uses a coding that was not offered.
    case encoding
    /// The request timed out.
    case timedOut(Phase)
    /// The body, after decompression, is larger than the request allows.
    case tooLarge(limit: Int)
    /// The header fields are too many or too large.
    case headersTooLarge
    case tooManyRedirects(limit: Int)
    /// A redirect to something other than http or https.
    case redirectRefused
    /// A redirect or a page leads to a host that is paused, or to which another process is sending a request;
    /// ``HTTPError/cause`` states which.
    case hostIsClosed
    /// The URL leads to a private network, but its source is outside such networks: see ``HTTPRequest/origin``.
    case privateNetwork
    /// The response is not HTTP, or violates its rules.
    case notHTTP
    /// This process or machine has run out of file descriptors, threads or memory.
    case resources
    /// The client was closed.
    case closed
  }

  public var kind: Kind
  /// The host of the request, and its port if it isn't the scheme's default. Empty if the URL has no host, unless it
  /// is a file's: then it is that URL.
  public var host: String
  /// A more specific cause, such as the system's own message; for display.
  public var cause: String

  public init(_ kind: Kind, host: String, cause: String = "") {
    self.kind = kind
    self.host = host
    self.cause = cause
  }
}

extension HTTPError: CustomStringConvertible {
  /// A readable error in one sentence: what happened, why, and what to try.
  public var description: String {
    let (what, advice) = sentence
    // OpenSSL's reason would only say that these bytes were unexpected.
    if isWithoutTLS { return "\(what); \(advice)" }
    // The same in other words.
    let cause = kind == .nameResolution && cause.lowercased().hasPrefix("could not resolve host") ? "" : cause
    return what + (cause.isEmpty ? "" : ": " + cause.printable(limit: 200)) + (advice.isEmpty ? "" : "; " + advice)
  }

  /// The host in printable form, because it may come from a redirect.
  private var shownHost: String { host.printable(limit: 100) }

  /// True if the server doesn't speak TLS; it usually speaks plain HTTP.
  package var isWithoutTLS: Bool {
    guard kind == .tls else { return false }
    return ["wrong version number", "packet length too long", "unknown protocol", "http request"].contains {
      cause.lowercased().contains($0)
    }
  }

  /// True if the server closed the connection instead of answering the handshake, as some servers of plain HTTP do.
  package var mayLackTLS: Bool {
    kind == .tls && ["ssl_error_syscall", "unexpected eof"].contains { cause.lowercased().contains($0) }
  }

  /// True if the system has no route to the host.
  private var lacksNetwork: Bool {
    ["network is unreachable", "no route to host"].contains { cause.lowercased().hasPrefix($0) }
  }

  /// True if the server's certificate was rejected, rather than the handshake or this side's certificate.
  private var isAboutCertificate: Bool {
    let cause = cause.lowercased()
    return cause.isEmpty || cause.contains("certificate") && !cause.contains("alert")
  }

  private var sentence: (what: String, advice: String) {
    switch kind {
    case .invalidRequest: ("cannot send this request", "")
    case .nameResolution: ("could not find the host \(shownHost)", "check the URL and the network connection")
    case .connect where cause.hasPrefix("the proxy"): ("could not connect to \(shownHost)", "check the proxy")
    case .connect where lacksNetwork: ("could not connect to \(shownHost)", "check the network connection")
    case .connect: ("could not connect to \(shownHost)", "check that the server is running and the port is right")
    case .tls where isWithoutTLS: ("\(shownHost) doesn't speak TLS", "try http://")
    case .tls where isAboutCertificate:
      ("could not set up a secure connection to \(shownHost)", "its certificate must be valid and issued for this host")
    case .tls where mayLackTLS:
      ("could not set up a secure connection to \(shownHost)", "if it doesn't speak TLS, try http://")
    case .tls: ("could not set up a secure connection to \(shownHost)", "")
    case .send: ("the connection to \(shownHost) broke while the request was being sent", "try again")
    case .body: ("could not send the body of the request to \(shownHost)", "")
    case .receive: ("the connection to \(shownHost) broke before the response was complete", "try again")
    case .truncated: ("the response from \(shownHost) was cut short", "try again")
    case .encoding: ("the response from \(shownHost) could not be decompressed", "")
    case .timedOut(let phase): (phase.timeout(of: shownHost), "try again, or allow more time")
    case .tooLarge(let limit): ("the response from \(shownHost) is larger than the limit of \(limit.byteSize)", "")
    case .headersTooLarge: ("the header of the response from \(shownHost) is too large", "")
    case .tooManyRedirects(let limit): ("\(shownHost) redirects more than \(limit) times", "check the URL")
    case .hostIsClosed: ("\(shownHost), reached through a link or redirect, can't be requested at the moment", "")
    case .redirectRefused:
      (
        "\(shownHost) redirects to a URL that isn't followed",
        "redirects are followed only to http and https, and never from https to http"
      )
    case .privateNetwork:
      (
        "refused private address \(shownHost), reached through a link or redirect",
        "if you trust it, request its URL directly"
      )
    case .notHTTP: ("\(shownHost) doesn't speak valid HTTP", "check the host and the port")
    case .resources where cause == "out of memory":
      ("not enough resources to request \(shownHost)", "close other programs or raise the limit (ulimit -v)")
    case .resources:
      ("not enough resources to request \(shownHost)", "close other programs or raise the limit (ulimit -n)")
    case .closed: ("the HTTP client was closed before \(shownHost) responded", "")
    }
  }
}

extension HTTPError.Phase {
  fileprivate func timeout(of host: String) -> String {
    switch self {
    case .waiting: "the request to \(host) waited too long for other requests to complete"
    case .nameResolution: "looking up \(host) took too long"
    case .connect: "connecting to \(host) took too long"
    case .tls: "setting up a secure connection to \(host) took too long"
    case .response: "\(host) took too long to respond"
    case .receive: "\(host) took too long to send its response"
    }
  }
}
