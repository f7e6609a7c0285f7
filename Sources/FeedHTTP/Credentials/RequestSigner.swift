internal import COpenSSL
internal import FeedTLS
public import Foundation

/// Signs requests, so that servers can verify who sends them: Web Bot Auth.
///
///     var configuration = CurlHTTPClient.Configuration()
///     configuration.signer = try RequestSigner(keyFile: "key.pem", agent: URL(string: "https://bot.example.com")!)
///
/// Each request gets the fields `Signature-Agent`, `Signature-Input` and `Signature`. The signature covers the host that
/// the request is for, and ``agent``; a redirect to another host is signed again. A server that verifies signatures
/// fetches the public key from the agent, which must publish ``directory`` at ``directoryPath``, with the fields that
/// ``directoryFields(at:)`` returns. `feed serve` publishes the directory if it has the key. Some operators also want
/// you to register the agent's URL with them.
///
/// The signature is an HTTP Message Signature (RFC 9421) with Ed25519, in the form that
/// draft-ietf-webbotauth-httpsig-protocol-00 describes.
public struct RequestSigner: Sendable {
  /// The HTTPS URL, without a path, where servers find the public key.
  public let agent: URL
  /// The time for which a signature is valid after the request is sent. Five minutes by default.
  public var validity: Duration = .seconds(300)

  private let key: SigningKey
  private let authority: String

  /// Reads an Ed25519 key from a PEM file, such as one created with `openssl genpkey -algorithm ed25519 -out key.pem`.
  /// The key must not be encrypted.
  public init(keyFile: String, agent: URL) throws(Refusal) {
    do {
      try self.init(PEM(file: keyFile), keyFile, agent: agent)
    } catch let error as TLSError {
      throw Refusal(kind: .key, cause: "\(error)")
    } catch {
      throw error as? Refusal ?? Refusal(kind: .key, cause: "\(error)")
    }
  }

  /// - Parameter pem: the key as PEM text.
  public init(pem: String, agent: URL) throws(Refusal) {
    do {
      try self.init(PEM(pem), "the signing key", agent: agent)
    } catch {
      throw error as? Refusal ?? Refusal(kind: .key, cause: "\(error)")
    }
  }

  private init(_ pem: PEM, _ name: String, agent: URL) throws {
    guard let host = agent.host(), !host.isEmpty, agent.scheme?.lowercased() == "https", agent.user() == nil,
      ["", "/"].contains(agent.path()), agent.query() == nil, agent.fragment() == nil
    else {
      throw Refusal(
        kind: .agent,
        cause: "\(agent.absoluteString) must be an https URL with only a host and a port, such as https://example.com")
    }
    authority = agent.authority
    self.agent = URL(string: "https://\(authority)") ?? agent
    guard let key = SigningKey(try pem.key()) else {
      throw Refusal(
        kind: .key, cause: "\(name) isn't an Ed25519 key; make one with openssl genpkey -algorithm ed25519 -out key.pem"
      )
    }
    self.key = key
  }

  /// The reason why no signer could be created.
  public struct Refusal: Error, Hashable, CustomStringConvertible, LocalizedError {
    public enum Kind: Sendable, Hashable {
      /// The file can't be read, or contains no unencrypted Ed25519 key.
      case key
      /// The agent isn't an https URL, or has more than a host and a port.
      case agent
    }

    public var kind: Kind
    public var cause: String

    public var description: String { cause }
    public var errorDescription: String? { cause }
  }

  /// The name of the public key: its thumbprint (RFC 7638).
  public var keyID: String { key.id }

  // MARK: Requests

  private static let label = "sig1"

  /// The fields that sign a request to `url`.
  package func fields(for url: URL, at date: Date = Date()) -> [HTTPRequest.Header] {
    let nonce = Data((0..<64).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
    let signature = MessageSignature(
      of: [
        ("\"@authority\"", url.authority), ("\"signature-agent\";key=\"\(Self.label)\"", "\"\(agent.absoluteString)\""),
      ], at: date, for: validity, nonce: nonce, tag: "web-bot-auth", by: key)
    return [HTTPRequest.Header(name: "Signature-Agent", value: "\(Self.label)=\"\(agent.absoluteString)\"")]
      + signature.fields(Self.label)
  }

  // MARK: The directory

  /// The path at which the agent publishes ``directory``.
  public static let directoryPath = "/.well-known/http-message-signatures-directory"

  /// The JSON document with the public key (draft-meunier-webbotauth-httpsig-directory-00).
  public var directory: String { "{\"keys\":[\(key.jwk)]}" }

  /// The fields of a response with ``directory``. They include a signature that is valid for a day, so create them for
  /// each response, or once a day.
  public func directoryFields(at date: Date = Date()) -> [(name: String, value: String)] {
    let digest = "sha-256=:\(Data(SigningKey.sha256(directory)).base64EncodedString()):"
    let signature = MessageSignature(
      of: [("\"@authority\";req", authority), ("\"content-digest\"", digest)], at: date, for: .seconds(86_400),
      tag: "http-message-signatures-directory", by: key)
    return [
      ("Content-Type", "application/http-message-signatures-directory+json"), ("Content-Digest", digest),
      ("Cache-Control", "max-age=3600"),
    ] + signature.fields("binding0").map { ($0.name, $0.value) }
  }
}

extension URL {
  /// The host, in lower case, with the port if it isn't the scheme's default (RFC 9421, section 2.2.3).
  fileprivate var authority: String {
    let name = (host(percentEncoded: true) ?? "").lowercased()
    let host = name.contains(":") ? "[\(name)]" : name
    let standard = scheme?.lowercased() == "https" ? 443 : 80
    return portInUse == standard ? host : "\(host):\(portInUse)"
  }
}

/// A signature over components of a message (RFC 9421, section 2.5).
struct MessageSignature {
  /// The signed components' identifiers and the parameters, as they are written in `Signature-Input`.
  let input: String
  let signature: [UInt8]

  init(
    of components: [(identifier: String, value: String)], at date: Date, for validity: Duration, nonce: String? = nil,
    tag: String, by key: SigningKey
  ) {
    let created = Int(date.timeIntervalSince1970)
    let expires = created + Int(validity.components.seconds)
    let nonce = nonce.map { ";nonce=\"\($0)\"" } ?? ""
    input =
      "(\(components.map(\.identifier).joined(separator: " ")));created=\(created);keyid=\"\(key.id)\";alg=\"ed25519\""
      + ";expires=\(expires)\(nonce);tag=\"\(tag)\""
    let lines = components.map { "\($0.identifier): \($0.value)" } + ["\"@signature-params\": \(input)"]
    signature = key.sign(lines.joined(separator: "\n"))
  }

  func fields(_ label: String) -> [HTTPRequest.Header] {
    [
      HTTPRequest.Header(name: "Signature-Input", value: "\(label)=\(input)"),
      HTTPRequest.Header(name: "Signature", value: "\(label)=:\(Data(signature).base64EncodedString()):"),
    ]
  }
}
