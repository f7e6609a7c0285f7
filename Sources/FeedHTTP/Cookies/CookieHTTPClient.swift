public import FeedStream
import Foundation

extension HTTPClient {
  /// A client that stores cookies and sends them to their hosts. It follows redirects itself, so that each hop's
  /// cookies are stored and sent, too. Without such a client, no cookies are kept.
  ///
  /// If a request has its own `Cookie` field, that field is sent instead of the jar's cookies, and only to the
  /// request's own origin. The timeout applies to each hop. A cache must be closer to the network than the cookies:
  /// `client.cached(in: store).withCookies(in: jar)`.
  ///
  /// - Parameter maxRedirects: the maximum number of redirects to follow per request; 10 by default.
  public func withCookies(in jar: CookieJar, maxRedirects: Int = 10) -> CookieHTTPClient {
    CookieHTTPClient(client: self, jar: jar, maxRedirects: maxRedirects)
  }
}

/// See ``HTTPClient/withCookies(in:maxRedirects:)``.
public struct CookieHTTPClient: HTTPClient {
  let client: any HTTPClient
  let jar: CookieJar
  let maxRedirects: Int

  public var scheduler: (any LoopScheduler)? { client.scheduler }

  public func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    hop(request, []) { [client] in client.get($0) }
  }

  public func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> {
    hop(request, []) { [client] in client.open($0) }
  }

  private func hop<Response: RedirectingResponse>(
    _ request: HTTPRequest, _ redirects: [HTTPRedirect],
    _ send: @escaping (HTTPRequest) -> AnyPublisher<Response, HTTPError>
  ) -> AnyPublisher<Response, HTTPError> {
    // Look up the cookies when the request is sent, not when this publisher is made.
    Deferred { [jar] in
      var sent = request
      sent.leaveRedirectsToCaller()
      if !request.has("Cookie"), let field = jar.field(for: request.url) {
        sent.headers.append(HTTPRequest.Header(name: "Cookie", value: field))
      }
      return send(sent)
    }
    .flatMap { [jar, maxRedirects] response -> AnyPublisher<Response, HTTPError> in
      var response = response
      jar.store(response.headers, from: response.url)
      response.redirects = redirects + response.redirects
      do throws(HTTPRedirect.Refusal) {
        guard let next = try request.redirected(by: response, after: redirects.count, atMost: maxRedirects) else {
          return Just(response).setFailureType(to: HTTPError.self).eraseToAnyPublisher()
        }
        return hop(next.request, redirects + [next.redirect], send)
      } catch {
        return Fail(error: HTTPError(error.kind, host: request.url.hostAndPort, cause: error.cause))
          .eraseToAnyPublisher()
      }
    }
    .eraseToAnyPublisher()
  }
}
