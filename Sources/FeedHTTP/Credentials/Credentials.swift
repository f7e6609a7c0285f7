import Foundation

/// Proof of the client's identity for a server. Credentials are never printed: their description includes only their
/// kind.
public struct Credentials: Sendable, Hashable {
  private enum Kind: Sendable, Hashable {
    case basic(user: String, password: String)
    case bearer(String)
  }

  private let kind: Kind

  private init(_ kind: Kind) { self.kind = kind }

  /// A name and a password (RFC 7617). The name must not contain a colon.
  public static func basic(user: String, password: String) -> Credentials {
    Credentials(.basic(user: user, password: password))
  }

  /// A token (RFC 6750).
  public static func bearer(_ token: String) -> Credentials { Credentials(.bearer(token)) }

  /// The header field that carries the credentials.
  public var header: HTTPRequest.Header {
    switch kind {
    case .basic(let user, let password):
      let value = Data("\(user):\(password)".utf8).base64EncodedString()
      return HTTPRequest.Header(name: "Authorization", value: "Basic \(value)")
    case .bearer(let token): return HTTPRequest.Header(name: "Authorization", value: "Bearer \(token)")
    }
  }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String {
    switch kind {
    case .basic: "Basic …"
    case .bearer: "Bearer …"
    }
  }

  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPRequest.Header: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The name, and the value if the field can't hold a secret.
  public var description: String {
    HTTPRequest.isSentAnywhere.contains(name.lowercased()) ? "\(name): \(value)" : "\(name): …"
  }

  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
