import FeedHTTP
import Foundation
import TestSupport
import Testing

@testable import feed

/// `--signing-key` and `--signature-agent`.
@Suite(.settled) struct SigningTests {
  private func withKey<R>(_ body: (_ file: String) async throws -> R) async throws -> R {
    let file = FileManager.default.temporaryDirectory.appending(path: "key-\(UUID()).pem").path
    defer { try? FileManager.default.removeItem(atPath: file) }
    try """
    -----BEGIN PRIVATE KEY-----
    MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
    -----END PRIVATE KEY-----
    """.write(toFile: file, atomically: true, encoding: .utf8)
    return try await body(file)
  }

  @Test func `a signature needs a key and an agent, from the options or from the environment`() async throws {
    try await withKey { file in
      let agent = "https://bot.example.com"
      let signer = try TrustOptions.parse(["--signing-key", file, "--signature-agent", agent]).configuration().signer
      #expect(signer?.agent.absoluteString == agent)
      let environment = ["FEED_SIGNING_KEY": file, "FEED_SIGNATURE_AGENT": agent]
      #expect(try TrustOptions.parse([]).configuration(environment: environment).signer?.keyID == signer?.keyID)
      #expect(try TrustOptions.parse([]).configuration(environment: [:]).signer == nil)
      for arguments in [
        ["--signing-key", file], ["--signature-agent", agent], ["--signing-key", "/none", "--signature-agent", agent],
        ["--signing-key", file, "--signature-agent", "http://bot.example.com"],
      ] {
        #expect(throws: (any Error).self) { try TrustOptions.parse(arguments) }
      }
    }
  }

  @Test func `serve publishes the public key without a token, and nothing else`() async throws {
    try await withKey { file in
      try await withOrigin(serving: document("A view")) { _, url, cache in
        let run = try RunningFeed([
          "serve", url, "--port", "0", "--token", "sesame", "--signing-key", file, "--signature-agent",
          "https://feeds.example.com", "--cache", cache,
        ])
        let port = try port(of: try #require(await run.output.read(upTo: "\n")))
        let response = try await ask(
          port, "GET \(RequestSigner.directoryPath) HTTP/1.1\r\nHost: feeds.example.com\r\nConnection: close\r\n\r\n")
        #expect(response.hasPrefix("HTTP/1.1 200"))
        #expect(response.contains("\"kid\":\"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U\""))
        for name in [
          "Content-Digest: sha-256=:", "Signature: binding0=:", "Signature-Input: binding0=(\"@authority\";req",
        ] {
          #expect(response.contains(name), "\(name)")
        }
        #expect(try await get(port, "/feed.json").hasPrefix("HTTP/1.1 401"))
        run.send(SIGTERM)
        _ = await run.status()
      }
    }
  }
}
