import FeedTLS
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport

/// Signed requests (Web Bot Auth), with the test key of RFC 9421, section B.1.4.
@Suite(.settled) struct RequestSignerTests {
  private static let pem = """
    -----BEGIN PRIVATE KEY-----
    MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
    -----END PRIVATE KEY-----
    """
  private static let keyID = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"
  private static let agent = URL(string: "https://signature-agent.test")!
  /// The validity in the test vectors of draft-ietf-webbotauth-httpsig-protocol and
  /// draft-meunier-webbotauth-httpsig-directory, and its start.
  private static let begin = Date(timeIntervalSince1970: 1_735_689_600)
  private static let validity = Duration.seconds(4_889_289_600 - 1_735_689_600)

  private func signer() throws -> RequestSigner { try RequestSigner(pem: Self.pem, agent: Self.agent) }

  private func key() throws -> SigningKey { try #require(SigningKey(PEM(Self.pem).key())) }

  @Test func `a request's signature is that of the draft's test vector`() throws {
    let signature = MessageSignature(
      of: [
        ("\"@authority\"", "example.com"), ("\"signature-agent\";key=\"agent2\"", "\"https://signature-agent.test\""),
      ], at: Self.begin, for: Self.validity,
      nonce: "n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==",
      tag: "web-bot-auth", by: try key())
    let fields = signature.fields("sig2")
    #expect(
      fields.first?.value == """
        sig2=("@authority" "signature-agent";key="agent2");created=1735689600;keyid="\(Self.keyID)";alg="ed25519";expires=4889289600;\
        nonce="n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==";tag="web-bot-auth"
        """)
    #expect(
      fields.last?.value
        == "sig2=:RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==:")
  }

  @Test func `the directory and its signature are those of the draft's test vector`() throws {
    let signer = try signer()
    #expect(signer.keyID == Self.keyID)
    #expect(
      signer.directory == """
        {"keys":[{"kty":"OKP","crv":"Ed25519","kid":"\(Self.keyID)","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs","use":"sig"}]}
        """)
    let fields = Dictionary(uniqueKeysWithValues: signer.directoryFields(at: Self.begin).map { ($0.name, $0.value) })
    let digest = "sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:"
    #expect(fields["Content-Digest"] == digest)
    #expect(fields["Content-Type"] == "application/http-message-signatures-directory+json")
    let signature = MessageSignature(
      of: [("\"@authority\";req", "signature-agent.test"), ("\"content-digest\"", digest)], at: Self.begin,
      for: Self.validity, tag: "http-message-signatures-directory", by: try key())
    #expect(
      signature.fields("binding0").last?.value
        == "binding0=:yiHq0TXrbpzbmlttAQMpYoAufitFJUWuNsakB7QQMoN0EHbo5o51bZRVR8az/ptTWCwllix9clrKXfGKwdPzBg==:")
    // A day instead of the vector's century.
    #expect(fields["Signature-Input"]?.contains(";created=1735689600;") == true)
    #expect(fields["Signature-Input"]?.contains(";expires=1735776000;") == true)
  }

  @Test func `each hop of a redirect is signed for its own host`() throws {
    let requests = Mutex<[RawOrigin.Request]>([])
    let second = RawOrigin.answering { request in
      requests.withLock { $0.append(request) }
      return RawOrigin.answer("200 OK", [], Data("done".utf8))
    }
    defer { second.stop() }
    let target = second.url("/moved").absoluteString
    let first = RawOrigin.answering { request in
      requests.withLock { $0.append(request) }
      return RawOrigin.answer("302 Found", ["Location: \(target)"])
    }
    defer { first.stop() }
    let signer = try signer()
    let bench = HTTPBench { configuration in
      configuration.signer = signer
      configuration.publicAddresses = ["127.0.0.1"]
    }
    #expect(bench.run(first.url()).response?.body == Data("done".utf8))
    let key = try key()
    var nonces: Set<Substring> = []
    for (request, origin) in zip(requests.withLock { $0 }, [first, second]) {
      let input = try #require(request["Signature-Input"]?.dropFirst("sig1=".count))
      #expect(request["Signature-Agent"] == "sig1=\"https://signature-agent.test\"")
      let authority = "127.0.0.1:\(try #require(origin.url().port))"
      let base = """
        "@authority": \(authority)
        "signature-agent";key="sig1": "https://signature-agent.test"
        "@signature-params": \(input)
        """
      let signature = Data(key.sign(base)).base64EncodedString()
      #expect(request["Signature"] == "sig1=:\(signature):", "\(request.path)")
      nonces.insert(try #require(input.split(separator: ";").first { $0.hasPrefix("nonce=") }))
    }
    #expect(nonces.count == 2)
  }

  @Test func `a request that is already signed keeps its signature, and other clients sign nothing`() throws {
    let origin = RawOrigin.answering { request in
      RawOrigin.answer("200 OK", [], Data((request["Signature"] ?? "none").utf8))
    }
    defer { origin.stop() }
    let signer = try signer()
    var request = HTTPRequest(origin.url())
    #expect(HTTPBench().run(request).response?.body == Data("none".utf8))
    request.headers = [HTTPRequest.Header(name: "signature", value: "own")]
    #expect(HTTPBench { $0.signer = signer }.run(request).response?.body == Data("own".utf8))
  }

  @Test(arguments: [
    "http://example.com", "https://example.com/bot", "https://me@example.com", "https://example.com/?a=b", "https://",
    "https://example.com/#a",
  ]) func `an agent is an https URL without a path`(_ agent: String) throws {
    let url = try #require(URL(string: agent))
    let error = #expect(throws: RequestSigner.Refusal.self) { try RequestSigner(pem: Self.pem, agent: url) }
    #expect(error?.kind == .agent)
  }

  @Test func `the agent's URL is in its normal form`() throws {
    let url = try #require(URL(string: "https://BOT.Example.com:443/"))
    #expect(try RequestSigner(pem: Self.pem, agent: url).agent.absoluteString == "https://bot.example.com")
  }

  @Test func `a key of another kind, or none, is refused with the command that makes one`() throws {
    let curve = """
      -----BEGIN PRIVATE KEY-----
      MC4CAQAwBQYDK2VuBCIEIHcHbQpzGKV9PBbBclGyZkXfTC+H68CZKrF3+6UduSwq
      -----END PRIVATE KEY-----
      """
    let other = #expect(throws: RequestSigner.Refusal.self) { try RequestSigner(pem: curve, agent: Self.agent) }
    #expect(other?.cause.contains("openssl genpkey -algorithm ed25519") == true)
    for pem in ["", "nonsense", String(Self.pem.dropLast(40))] {
      let error = #expect(throws: RequestSigner.Refusal.self) { try RequestSigner(pem: pem, agent: Self.agent) }
      #expect(error?.kind == .key)
    }
    let missing = #expect(throws: RequestSigner.Refusal.self) {
      try RequestSigner(keyFile: "/no/such/file", agent: Self.agent)
    }
    #expect(missing?.cause == "cannot read /no/such/file: No such file or directory")
  }
}
