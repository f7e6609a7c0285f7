public import Foundation

/// One redirect that was followed (RFC 9110, section 15.4).
///
/// - 301, 302, 303, 307 and 308 are followed, to http and https, but not from https to http.
/// - A URL without a fragment keeps the fragment of the URL before it.
/// - A different origin (scheme, host and port) gets only the fields `Accept`, `Accept-Charset`, `Accept-Encoding`,
///   `Accept-Language`, `Cache-Control`, `Content-Encoding`, `Content-Language`, `Content-Type`, `If-Modified-Since`,
///   `If-None-Match`, `If-Range`, `Last-Event-ID`, `Pragma`, `Range` and `User-Agent`: any other may contain a secret.
///   Likewise, the user and the password in a URL are sent only to that URL's origin. Those in a redirect's URL are
///   never sent.
/// - 303 is followed with GET, and so are 301 and 302 after POST, as browsers do; HEAD stays HEAD. Other methods are
///   unchanged, and 307 and 308 repeat the body. A body that can't be sent again fails the request
///   (``HTTPError/Kind/body``).
public struct HTTPRedirect: Sendable, Hashable {
  /// The redirect's status.
  public var status: Int
  /// The URL that redirected.
  public var from: URL
  /// The URL that the redirect led to.
  public var to: URL

  public init(status: Int, from: URL, to: URL) {
    self.status = status
    self.from = from
    self.to = to
  }

  /// True when the redirect applies to later requests, too.
  public var isPermanent: Bool { status == 301 || status == 308 }
}

extension HTTPRedirect {
  /// The reason why a redirect is not followed.
  package struct Refusal: Error {
    package var kind: HTTPError.Kind
    package var cause: String
  }

  /// True for a redirect that leads to another URL.
  static func isRedirect(_ status: Int, _ headers: HTTPHeaders) -> Bool {
    statuses.contains(status) && headers["Location"]?.isEmpty == false
  }

  /// The statuses of redirects that are followed.
  static let statuses: Set = [301, 302, 303, 307, 308]

  /// The redirect in a response to `request`; `nil` if it isn't one.
  fileprivate init?(_ status: Int, _ headers: HTTPHeaders, of request: HTTPRequest) throws(Refusal) {
    guard Self.isRedirect(status, headers), let location = headers["Location"] else { return nil }
    guard let target = Self.target(location, from: request.url), let scheme = target.scheme?.lowercased(),
      scheme == "http" || scheme == "https", target.host()?.isEmpty == false
    else { throw Refusal(kind: .redirectRefused, cause: "the target is \(location)") }
    guard scheme == "https" || request.url.scheme?.lowercased() != "https" else {
      throw Refusal(
        kind: .redirectRefused,
        cause: "the redirect leads from https to http, where others can read and change the data")
    }
    self.init(status: status, from: request.url, to: target)
  }

  private static func target(_ location: String, from url: URL) -> URL? {
    guard let target = URL(string: escaped(location), relativeTo: url)?.absoluteURL.withoutUser else { return nil }
    guard target.fragment == nil, let fragment = url.fragment else { return target }
    return URL(string: target.absoluteString + "#" + fragment) ?? target
  }
}

extension HTTPRedirect {
  /// A location whose invalid characters are escaped, as browsers do. Foundation would escape its escapes, too, if
  /// there is an invalid character.
  fileprivate static func escaped(_ location: String) -> String {
    let bytes = Array(location.utf8)
    // A host has rules of its own.
    var start = 0
    if let slashes = location.firstRange(of: "//"),
      location.hasPrefix("//") || location[..<slashes.lowerBound].last == ":",
      !location[..<slashes.lowerBound].contains(where: { "/?#".contains($0) })
    {
      let host = location.utf8.distance(from: location.startIndex, to: slashes.upperBound)
      start = bytes[host...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.count
    }
    func isEscape(_ index: Int) -> Bool {
      index + 2 < bytes.count && bytes[index + 1...index + 2].allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }
    var escaped = Array(bytes[..<start])
    var isInFragment = false
    for (index, byte) in bytes.enumerated().dropFirst(start) {
      let isSecond = byte == UInt8(ascii: "#") && isInFragment
      if byte == UInt8(ascii: "#") { isInFragment = true }
      let isValid =
        byte == UInt8(ascii: "%") ? isEscape(index) : byte > 0x20 && byte < 0x7F && !#""<>[\]^`{|}"#.utf8.contains(byte)
      if isValid, !isSecond { escaped.append(byte) } else { escaped += FormText.escape(byte) }
    }
    return String(decoding: escaped, as: UTF8.self)
  }
}

extension HTTPRequest {
  /// The redirect in a response to this request and the request that follows it; `nil` if the response isn't a redirect
  /// or isn't to be followed.
  ///
  /// - Parameters:
  ///   - count: the number of redirects that were followed before.
  ///   - limit: the maximum number of redirects.
  package func redirected(
    by response: some RedirectingResponse, after count: Int, atMost limit: Int
  ) throws(HTTPRedirect.Refusal) -> (redirect: HTTPRedirect, request: HTTPRequest)? {
    // The status rules most responses out, and reading the header takes longer.
    guard followsRedirects, 300..<400 ~= response.status,
      let redirect = try HTTPRedirect(response.status, response.headers, of: self)
    else { return nil }
    guard count < limit else { throw HTTPRedirect.Refusal(kind: .tooManyRedirects(limit: limit), cause: "") }
    let next = following(redirect, isPrivate: response.isPrivate)
    guard next.body?.canBeSent ?? true else {
      throw HTTPRedirect.Refusal(
        kind: .body,
        cause: "status \(redirect.status) requires sending the body again, but it can be read only once")
    }
    return (redirect, next)
  }

  /// The request that follows when this one is redirected.
  ///
  /// - Parameter isPrivate: true if the redirect came from a private network; `nil` if that is unknown.
  private func following(_ redirect: HTTPRedirect, isPrivate: Bool?) -> HTTPRequest {
    var next = self
    if redirect.status == 303 ? method != .head : redirect.status < 303 && method == .post { next.becomeGet() }
    next.url = redirect.to
    next.origin = isPrivate == nil ? origin ?? redirect.from : redirect.from
    next.originIsPrivate = isPrivate
    if redirect.to.hasSameOrigin(as: redirect.from) {
      next.url = redirect.to.keepingUser(of: redirect.from)
    } else {
      next.headers.removeAll { !Self.isSentAnywhere.contains($0.name.lowercased()) }
    }
    return next
  }

  /// Changes the method to GET, and drops the body and the fields that describe it (RFC 9110, section 15.4).
  private mutating func becomeGet() {
    method = .get
    body = nil
    headers.removeAll { field in
      let name = field.name.lowercased()
      return name.hasPrefix("content-") || ["digest", "last-modified", "repr-digest"].contains(name)
    }
  }

  /// The fields that contain no secrets and may be sent to any origin.
  static let isSentAnywhere: Set<String> = [
    "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "content-encoding",
    "content-language", "content-type", "if-modified-since", "if-none-match", "if-range", "last-event-id", "pragma",
    "range", "user-agent",
  ]
}

extension URL {
  /// True when scheme, host and port are the same.
  package func hasSameOrigin(as other: URL) -> Bool {
    scheme?.lowercased() == other.scheme?.lowercased() && host()?.lowercased() == other.host()?.lowercased()
      && portInUse == other.portInUse
  }

  /// This URL with the user and the password of `other`, if it has none of its own.
  package func keepingUser(of other: URL) -> URL {
    guard user == nil, other.user != nil, var parts = URLComponents(url: self, resolvingAgainstBaseURL: true),
      let others = URLComponents(url: other, resolvingAgainstBaseURL: true)
    else { return self }
    parts.percentEncodedUser = others.percentEncodedUser
    parts.percentEncodedPassword = others.percentEncodedPassword
    return parts.url ?? self
  }

  /// This URL without user and password (RFC 9110, section 4.2.4), because a redirect's URL must not log the user
  /// in.
  package var withoutUser: URL {
    guard user != nil || password != nil, var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
      return self
    }
    (parts.percentEncodedUser, parts.percentEncodedPassword) = (nil, nil)
    return parts.url ?? self
  }

  /// The URL in one spelling of scheme, host and port, without the parts that don't reach the server.
  package var normalized: String {
    guard var parts = URLComponents(url: absoluteURL, resolvingAgainstBaseURL: true) else { return absoluteString }
    parts.scheme = parts.scheme?.lowercased()
    parts.percentEncodedHost = parts.percentEncodedHost?.lowercased()
    (parts.user, parts.password, parts.fragment) = (nil, nil, nil)
    if parts.port == (parts.scheme == "https" ? 443 : 80) { parts.port = nil }
    if parts.percentEncodedPath.isEmpty { parts.percentEncodedPath = "/" }
    return parts.string ?? absoluteString
  }

  /// The port, even if it is the scheme's default.
  package var portInUse: Int { port ?? (scheme?.lowercased() == "https" ? 443 : 80) }
}
