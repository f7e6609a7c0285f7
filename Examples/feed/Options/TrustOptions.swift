import ArgumentParser
import FeedHTTP
import FeedStream
import Foundation
import PlainText

/// The options of every command that makes requests: the trusted certificates, and the client operator's identity.
struct TrustOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Trust the certificate authorities in this file (PEM), and those in $SSL_CERT_DIR. (default: $SSL_CERT_FILE, or the system's)",
      valueName: "file"), completion: .file())
  var cacert: String?

  @Option(
    help: ArgumentHelp(
      "A URL where server operators can contact you; sent in the User-Agent field. (default: $FEED_CONTACT, or none)",
      valueName: "url"))
  var contact: String?

  @Option(
    help: ArgumentHelp(
      "Sign requests with this Ed25519 key (PEM), so that servers can verify who sends them. (default: $FEED_SIGNING_KEY, or none)",
      valueName: "file"), completion: .file())
  var signingKey: String?

  @Option(
    help: ArgumentHelp(
      "The https URL, without a path, where servers find the public key. \"feed serve\" publishes the key. (default: $FEED_SIGNATURE_AGENT)",
      valueName: "url"))
  var signatureAgent: String?

  func validate() throws {
    if let cacert, !FileManager.default.isReadableFile(atPath: cacert) {
      throw ValidationError("--cacert: \(cacert.printable) can't be read.")
    }
    if let contact = chosenContact(ProcessInfo.processInfo.environment), !Self.isContact(contact) {
      throw ValidationError(
        "--contact or FEED_CONTACT needs an http, https or mailto URL of at most 200 characters, such as https://example.com/bot."
      )
    }
    _ = try signer(ProcessInfo.processInfo.environment)
  }

  /// A client that trusts these certificates, for feeds and images.
  func client(
    on loop: EventLoop, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> CurlHTTPClient {
    CurlHTTPClient(on: loop, configuration(environment: environment))
  }

  /// The configuration of clients that trust these certificates, on any loop.
  func configuration(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> CurlHTTPClient.Configuration {
    var configuration = CurlHTTPClient.Configuration()
    let variable = { (name: String) in environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    configuration.certificateAuthorities = cacert ?? variable("SSL_CERT_FILE")
    configuration.certificateFolder = variable("SSL_CERT_DIR")
    if let contact = chosenContact(environment), Self.isContact(contact) { configuration.userAgent += " (+\(contact))" }
    // Validated when the arguments were read.
    configuration.signer = try? signer(environment)
    return configuration
  }

  private func signer(_ environment: [String: String]) throws -> RequestSigner? {
    let variable = { (name: String) in environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    let (file, agent) = (
      signingKey ?? variable("FEED_SIGNING_KEY"), signatureAgent ?? variable("FEED_SIGNATURE_AGENT")
    )
    guard let file else {
      guard agent != nil else { return nil }
      throw ValidationError("--signature-agent or FEED_SIGNATURE_AGENT needs --signing-key or FEED_SIGNING_KEY.")
    }
    guard let agent else {
      throw ValidationError("--signing-key or FEED_SIGNING_KEY needs --signature-agent or FEED_SIGNATURE_AGENT.")
    }
    guard let url = URL(string: agent) else {
      throw ValidationError("--signature-agent: \(agent.printable) isn't a URL.")
    }
    do throws(RequestSigner.Refusal) {
      return try RequestSigner(keyFile: file, agent: url)
    } catch {
      let option = error.kind == .agent ? "--signature-agent" : "--signing-key"
      throw ValidationError("\(option): \(error.cause.printable).")
    }
  }

  private func chosenContact(_ environment: [String: String]) -> String? {
    contact ?? environment["FEED_CONTACT"].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// True for text that can be a contact. A URL in a comment of `User-Agent` must have neither parentheses nor spaces
  /// (RFC 9110, section 5.6.5).
  private static func isContact(_ text: String) -> Bool {
    guard text.utf8.count <= 200, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"()\\\"<>".utf8.contains($0) }),
      let url = URL(string: text), let scheme = url.scheme?.lowercased()
    else { return false }
    return scheme == "mailto" ? text.contains("@") : ["http", "https"].contains(scheme) && url.host()?.isEmpty == false
  }
}

extension HTTPError {
  /// The advice for a server that is not trusted; `nil` for any other failure.
  var hintOnTrust: String? {
    guard kind == .tls else { return nil }
    if isWithoutTLS { return "try http://" }
    if mayLackTLS { return "retry later or, if the server speaks plain HTTP, try http://" }
    let cause = cause.lowercased()
    if cause.contains("expired") { return "the server's certificate has expired; tell the site's owner" }
    if cause.contains("subject name") || cause.contains("hostname") || cause.contains("host name") {
      return "the server's certificate is for another host; check the URL"
    }
    if cause.contains("self-signed") || cause.contains("self signed") || cause.contains("issuer") {
      return "if you trust the certificate's issuer, pass the issuer's certificate with --cacert <file>"
    }
    return nil
  }
}
