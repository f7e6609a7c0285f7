internal import FeedStream

extension HTTPMiddleware {
  /// Lets pages of other origins use this server's resources (the Fetch standard's CORS protocol), and responds to
  /// their preflight requests.
  ///
  /// - Parameters:
  ///   - origins: the allowed origins, such as `https://example.com`; `nil`, the default, allows all origins, but
  ///     without credentials.
  ///   - methods: the allowed methods in addition to GET, HEAD, and POST.
  ///   - headers: the header fields that these pages may send.
  ///   - exposed: the response header fields that these pages may read.
  ///   - allowsCredentials: true to let these pages send cookies and credentials. Requires `origins`.
  ///   - maxAge: the time for which a browser may cache these permissions; 10 minutes by default.
  public static func cors(
    origins: Set<String>? = nil, methods: [HTTPMethod] = [.put, .patch, .delete],
    headers: [String] = ["Content-Type"],
    exposed: [String] = [], allowsCredentials: Bool = false, maxAge: Duration = .seconds(600)
  ) -> Self {
    precondition(
      !allowsCredentials || origins != nil,
      "HTTPMiddleware.cors: `allowsCredentials` requires explicit origins; pass `origins:`")
    let allMethods = ([.get, .head, .post] + methods).map(\.rawValue).joined(separator: ", ")
    func allow(_ origin: String, _ response: inout ServerResponse) {
      response.headers["Access-Control-Allow-Origin"] = origins == nil ? "*" : origin
      if allowsCredentials { response.headers["Access-Control-Allow-Credentials"] = "true" }
    }
    func vary(_ response: inout ServerResponse) {
      // The response depends on the request's origin.
      if origins != nil { response.headers.add("Vary", "Origin") }
    }
    return Self { next in
      { request in
        guard let origin = request.headers["Origin"] else { return try next(request).map(vary) }
        let isAllowed = origins?.contains(origin) ?? true
        if request.method == .options, request.headers["Access-Control-Request-Method"] != nil {
          var response = ServerResponse(.noContent)
          if isAllowed {
            allow(origin, &response)
            response.headers["Access-Control-Allow-Methods"] = allMethods
            if !headers.isEmpty { response.headers["Access-Control-Allow-Headers"] = headers.joined(separator: ", ") }
            response.headers["Access-Control-Max-Age"] = "\(maxAge.components.seconds)"
          }
          vary(&response)
          return .now(response)
        }
        return try next(request).map { response in
          if isAllowed {
            allow(origin, &response)
            if !exposed.isEmpty { response.headers["Access-Control-Expose-Headers"] = exposed.joined(separator: ", ") }
          }
          vary(&response)
        }
      }
    }
  }
}
