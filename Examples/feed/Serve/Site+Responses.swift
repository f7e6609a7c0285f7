import FeedHTTPServer
import FeedStream
import Foundation
import ImageFeed

extension Site {
  /// The `Cache-Control` field of a response that may soon be a different one.
  private static let shortly = "private, max-age=60"

  static func answer(_ image: ServedImages.Image, on scheduler: any LoopScheduler) -> ServerResponse {
    let headers: HTTPHeaders = [
      "Content-Type": image.type, "ETag": "\"\(image.tag)\"",
      // The next request may get the whole image.
      "Cache-Control": image.isPart ? shortly : "private, max-age=3600", "Content-Security-Policy": imagePolicy,
    ]
    return switch image.body {
    case .bytes(let bytes): ServerResponse(headers: headers, body: bytes)
    case .file(let part): ServerResponse(headers: headers, file: part.file, range: part.range, on: scheduler)
    }
  }

  /// A response with the reason as text, which the page shows in place of the image.
  static func answer(_ problem: ServedImages.Problem) -> ServerResponse {
    var response = ServerResponse.text("\(problem.reason)\n", problem.status)
    // Cache the response, because the page requests the reason after the browser has requested the image.
    response.headers["Cache-Control"] = shortly
    response.headers["Content-Security-Policy"] = imagePolicy
    return response
  }

  /// The URL with which the client reached this server. If there is a proxy, it reports whether the client used TLS.
  func base(_ request: WholeRequest) -> String {
    if let hub, let host = request.host, hub.isNamed(by: host) { return hub.base }
    return "\(Self.isSecure(request.headers) ? "https" : "http")://\(request.host ?? "localhost")"
  }

  private static func isSecure(_ headers: HTTPHeaders) -> Bool {
    headers["X-Forwarded-Proto"]?.lowercased() == "https"
  }

  /// The request's path and query, without the token.
  static func withoutToken(_ request: WholeRequest) -> String {
    let parts = (request.query ?? "").split(separator: "&").filter { part in
      part.prefix { $0 != "=" }.removingPercentEncoding != "token"
    }
    return request.path + (parts.isEmpty ? "" : "?" + parts.joined(separator: "&"))
  }

  /// A text response with a version tag, so that a client that already has this version doesn't get it again.
  static func answer(
    _ request: WholeRequest, _ type: String, _ text: String, _ access: AccessRules
  ) -> ServerResponse {
    var response = ServerResponse(headers: ["Content-Type": type], body: Chunk(text))
    if type.hasPrefix("text/html"), access.token != nil, request.query("token") != nil {
      // In a browser, the token must not stay in the address bar, so redirect. Other programs may not keep cookies, so
      // they get the page.
      let isWithPeople = request.headers.values(of: "Accept").contains { $0.contains("text/html") }
      if isWithPeople { response = .redirect(to: withoutToken(request)) }
      // Use `Lax`, so that a user who follows the URL from an email or a chat is redirected and the browser sends the
      // cookie. Requests that change something need a header that other sites can't send.
      let secure = isSecure(request.headers) ? "; Secure" : ""
      response.headers["Set-Cookie"] = "\(access.cookie)=\(access.pass); HttpOnly; SameSite=Lax; Path=/\(secure)"
      if isWithPeople { return response }
    }
    response.headers["ETag"] = "\"\(BodyDigest(text.utf8).text)\""
    response.headers["Cache-Control"] = "no-cache"
    return response
  }

  /// The policy of a page: it may load only resources from this server, and can't be embedded elsewhere.
  private static let pagePolicy =
    "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; "
    + "form-action 'self'; frame-ancestors 'none'"
  /// The policy of an image. A browser that opens an image on its own wraps it in a page with inline styles, so those
  /// are allowed.
  private static let imagePolicy =
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"

  /// The fields of every response.
  static let protection: HTTPHeaders = [
    "Content-Security-Policy": pagePolicy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY", "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
  ]
}
