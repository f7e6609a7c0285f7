import ArgumentParser
import FeedHTTP
import FeedStream
import Foundation
import PlainText

/// The option about the certificates that are trusted, of every command that asks servers.
struct TrustOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Trust the certificate authorities in this file (PEM). (default: $SSL_CERT_FILE and $SSL_CERT_DIR, or the system's)",
      valueName: "file"), completion: .file())
  var cacert: String?

  func validate() throws {
    if let cacert, !FileManager.default.isReadableFile(atPath: cacert) {
      throw ValidationError("--cacert: \(cacert.printable) can't be read.")
    }
  }

  /// A client that trusts them, for feeds and images.
  func client(
    on loop: EventLoop, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> CurlHTTPClient {
    CurlHTTPClient(on: loop, configuration(environment: environment))
  }

  /// The configuration of clients that trust them, on any loop.
  func configuration(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> CurlHTTPClient.Configuration {
    var configuration = CurlHTTPClient.Configuration()
    let variable = { (name: String) in environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    configuration.certificateAuthorities = cacert ?? variable("SSL_CERT_FILE")
    configuration.certificateFolder = variable("SSL_CERT_DIR")
    return configuration
  }
}

extension HTTPError {
  /// The advice for a server that is not trusted; `nil` for any other failure.
  var hintOnTrust: String? {
    guard kind == .tls else { return nil }
    if isWithoutTLS { return "try http://" }
    let cause = cause.lowercased()
    if cause.contains("expired") { return "its certificate has expired; tell the site's owner" }
    if cause.contains("subject name") || cause.contains("hostname") || cause.contains("host name") {
      return "its certificate is for another host; check the URL"
    }
    if cause.contains("self-signed") || cause.contains("self signed") || cause.contains("issuer") {
      return "if you trust the certificate's issuer, pass the issuer's certificate with --cacert <file>"
    }
    return nil
  }
}
