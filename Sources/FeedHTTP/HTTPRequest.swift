public import FeedStream
public import Foundation

/// A request, and the limits on its response. The method is GET by default.
public struct HTTPRequest: Sendable, Hashable {
  /// One header field.
  public struct Header: Sendable, Hashable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }

    /// True if HTTP allows the characters in the name and the value (RFC 9110, section 5.5).
    package var isValid: Bool { HTTPSyntax.isField(name, value) }

    /// True for the fields that delimit a body. If two of them disagree, some servers read two requests (request
    /// smuggling).
    package var delimitsBody: Bool {
      switch name.utf8.count {
      case 14: name.lowercased() == "content-length"
      case 17: name.lowercased() == "transfer-encoding"
      default: false
      }
    }
  }

  /// The method. GET by default.
  public var method = HTTPMethod.get
  /// The body; `nil`, the default, for a request without a body.
  public var body: HTTPBody?
  /// True to send the body only after the server has agreed, or a second has passed (`Expect: 100-continue`). If the
  /// server doesn't support that (status 417), the request is sent again without it; if its body has been read by then
  /// and it cannot be repeated (``canBeRepeated``), it fails. `nil`, the default, to wait only with bodies of more than
  /// 1 MiB and those of unknown length.
  public var expectsContinue: Bool?
  /// True when sending the request twice has the same effect as sending it once, whatever its method; false if it does
  /// not. `nil`, the default, to derive this from the method (`HTTPMethod.isIdempotent`). A request that cannot be
  /// repeated is sent at most once.
  public var isRepeatable: Bool?
  /// The proxy setting. `nil`, the default, to use the client's setting.
  public var proxy: HTTPProxy?
  /// An http or https URL.
  public var url: URL
  /// The maximum duration of the request, from its first demand, including the wait for a connection to become free,
  /// redirects and the body. 30 seconds by default.
  public var timeout: StreamInstant.Stride
  /// The part of ``timeout`` that is available for the name lookup, connecting, and the TLS handshake. 10 seconds by
  /// default.
  public var connectTimeout: StreamInstant.Stride
  /// The maximum accepted body size, in bytes, after decompression. 32 MiB by default.
  public var maxBodyBytes: Int
  /// Header fields in addition to those that HTTP itself requires. When a redirect leads to a different origin (scheme,
  /// host and port), only fields that contain no secrets, such as `Accept`, are sent there (``HTTPRedirect``).
  public var headers: [Header]
  /// True when redirects are followed; otherwise, the redirect itself is the response. True by default.
  public var followsRedirects = true
  private var isFollowedByCaller = false
  /// True when compressed responses are requested and decompressed. Otherwise, the body arrives as the server sends it,
  /// and is compressed only if ``headers`` request that. True by default. With `Range`, compression isn't requested;
  /// a part (status 206) arrives as the server sends it.
  public var decodesContent = true
  /// The URL that led to this one, if the user didn't choose this one: the URL of a document, or of a redirect. In that
  /// case, the request may lead to a private network only if that document or redirect came from one
  /// (``HTTPError/Kind/privateNetwork``). `nil` for a URL from the user, which may lead anywhere. A redirect sets this
  /// property.
  public var origin: URL?
  /// True when the content at ``origin`` came from a private network, and false when it did not. `nil`, the default,
  /// when this is unknown: in that case, the latest response from the origin's host decides, or, if there is none, all
  /// addresses of that host's name.
  public var originIsPrivate: Bool?

  public init(
    _ url: URL, timeout: StreamInstant.Stride = .seconds(30), connectTimeout: StreamInstant.Stride = .seconds(10),
    maxBodyBytes: Int = 32 << 20, headers: [Header] = []
  ) {
    self.url = url
    self.timeout = timeout
    self.connectTimeout = connectTimeout
    self.maxBodyBytes = maxBodyBytes
    self.headers = headers
  }

  /// A request with its times as `Duration`s.
  @_documentation(visibility: internal) @_disfavoredOverload public init(
    _ url: URL, timeout: Duration, connectTimeout: Duration = .seconds(10), maxBodyBytes: Int = 32 << 20,
    headers: [Header] = []
  ) {
    self.init(
      url, timeout: StreamInstant.Stride(timeout), connectTimeout: StreamInstant.Stride(connectTimeout),
      maxBodyBytes: maxBodyBytes, headers: headers)
  }
}

extension HTTPRequest {
  /// True when the bodies of redirects aren't needed, because the client follows the redirects, or its caller does.
  package var skipsRedirectBodies: Bool { followsRedirects || isFollowedByCaller }

  /// Makes the client deliver redirects, without their bodies, to a caller that follows them itself. Has no effect if
  /// redirects aren't followed.
  package mutating func leaveRedirectsToCaller() {
    isFollowedByCaller = skipsRedirectBodies
    followsRedirects = false
  }

  /// The values of the header fields named `name`, regardless of case.
  package func values(of name: String) -> [String] {
    headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  /// True when there is a header field with this name.
  package func has(_ name: String) -> Bool { !values(of: name).isEmpty }
}
