internal import FeedStream
internal import Foundation

extension HTTPMiddleware {
  /// Admits requests with a valid name and password (RFC 7617); others get 401.
  ///
  /// - Parameters:
  ///   - realm: tells the user which password to enter.
  ///   - isValid: checks the password; use a constant-time comparison.
  public static func basic(
    realm: String, _ isValid: @escaping (_ user: String, _ password: String) -> Bool
  ) -> Self {
    let quotable = realm.unicodeScalars.filter {
      $0 != "\"" && $0 != "\\" && $0.properties.generalCategory != .control
    }
    let challenge = "Basic realm=\"\(String(quotable))\", charset=\"UTF-8\""
    return authenticating(challenge, scheme: "basic") { text in
      guard let data = Data(base64Encoded: text), let pair = String(data: data, encoding: .utf8),
        let colon = pair.utf8.firstIndex(of: UInt8(ascii: ":"))
      else { return nil }
      let user = String(pair[..<colon])
      return isValid(user, String(pair[pair.utf8.index(after: colon)...])) ? user : nil
    }
  }

  /// Admits requests with a valid token (RFC 6750); others get 401.
  ///
  /// - Parameter user: returns the user that a token belongs to; `nil` for an invalid token.
  public static func bearer(_ user: @escaping (_ token: String) -> String?) -> Self {
    authenticating("Bearer", scheme: "bearer", user)
  }

  private static func authenticating(
    _ challenge: String, scheme: String, _ user: @escaping (String) -> String?
  ) -> Self {
    Self { next in
      { request in
        let parts = request.headers["Authorization"]?.split(separator: " ", maxSplits: 1) ?? []
        guard parts.count == 2, parts[0].lowercased() == scheme,
          let user = user(parts[1].trimmingCharacters(in: .whitespaces))
        else {
          var problem = ProblemDetails(.unauthorized)
          problem.headers = ["WWW-Authenticate": challenge]
          throw problem
        }
        var request = request
        request.notes["user"] = user
        return try next(request)
      }
    }
  }
}
