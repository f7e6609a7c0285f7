import FeedStream
import FeedStreamTesting
import FeedTLS
import TestSupport
import Testing

/// The clients and servers that are accepted or refused, and why.
@Suite(.settled, .timeLimit(.minutes(5))) struct VerificationTests {
  private let papers: Papers

  init() throws { papers = try Papers.all.get() }

  /// The results of a handshake on both sides.
  private func meet(
    _ client: TLSClient, _ server: TLSServer, host: String = "localhost"
  ) throws -> (client: TLSError?, server: TLSError?, session: TLSSession?) {
    var result: (TLSError?, TLSError?, TLSSession?) = (nil, nil, nil)
    try withPair { pair in
      try pair.connect(client, server, host: host)
      result = (pair.clientError, pair.serverError, pair.server?.tls)
    }
    return result
  }

  @Test func `a certificate for another host is refused, and the server learns of the refusal`() throws {
    let (client, server, _) = try meet(papers.client(), papers.server("other"))
    #expect(client == .wrongHost("localhost", names: ["other.example", "more.example"]))
    #expect(server == .refused(reason: "bad certificate"))
  }

  @Test func `an IP address must be in the certificate too`() throws {
    #expect(try meet(papers.client(), papers.server(), host: "127.0.0.1").client == nil)
    let other = try meet(papers.client(), papers.server(), host: "127.0.0.2").client
    #expect(other == .wrongHost("127.0.0.2", names: ["localhost", "127.0.0.1"]))
  }

  @Test func `a wildcard matches exactly one label`() throws {
    #expect(try meet(papers.client(), papers.server("wild"), host: "a.wild.example").client == nil)
    #expect(try meet(papers.client(), papers.server("wild"), host: "A.WILD.EXAMPLE.").client == nil)
    for host in ["wild.example", "a.b.wild.example", "a.wild.example.org"] {
      guard case .wrongHost? = try meet(papers.client(), papers.server("wild"), host: host).client else {
        Issue.record("\(host) was taken")
        continue
      }
    }
  }

  @Test func `the common name isn't used as a host name`() throws {
    // The certificate is for other.example, whatever its subject says.
    let client = try meet(papers.client(), papers.server("client"), host: "client.example").client
    #expect(client == .wrongHost("client.example", names: ["other.example", "more.example"]))
  }

  @Test func `a self-signed certificate is refused unless it is trusted`() throws {
    let (client, server, _) = try meet(papers.client(), papers.server("alone"))
    #expect(client == .selfSigned(certificate: "CN=localhost") && server == .refused(reason: "unknown ca"))
    let trusting = try TLSClient(trusting: .only(file: papers("alone.pem")))
    #expect(try meet(trusting, papers.server("alone")).client == nil)
  }

  @Test func `a certificate from an unknown authority is refused`() throws {
    let (client, server, _) = try meet(papers.client(), papers.server("strange"))
    #expect(client == .untrusted(certificate: "CN=localhost", issuer: "CN=A stranger"))
    #expect(server == .refused(reason: "unknown ca"))
    let trusting = try TLSClient(trusting: papers.roots.adding(.only(papers.text("stranger.pem"))))
    #expect(try meet(trusting, papers.server("strange")).client == nil)
  }

  @Test func `the system's roots don't include the tests' authority`() throws {
    guard case .untrusted? = try meet(TLSClient(), papers.server()).client else {
      Issue.record("it was taken, or refused for another reason")
      return
    }
  }

  @Test func `the server must send its intermediate certificates`() throws {
    #expect(try meet(papers.client(), papers.server("deep")).client == nil)
    let bare = try TLSIdentity(certificates: papers.text("deep.pem"), key: papers.text("deep.key"))
    let client = try meet(papers.client(), TLSServer(identity: bare)).client
    #expect(client == .untrusted(certificate: "CN=localhost", issuer: "CN=Between"))
    // An intermediate certificate may be trusted itself.
    let trusting = try TLSClient(trusting: .only(papers.text("intermediate.pem")))
    #expect(try meet(trusting, TLSServer(identity: bare)).client == nil)
  }

  @Test func `a certificate outside its validity period is refused`() throws {
    let late = try TLSClient(trusting: papers.roots) { 4_000_000_000 }
    #expect(try meet(late, papers.server()).client == .expired(certificate: "CN=Test root"))
    let early = try TLSClient(trusting: papers.roots) { 1_000_000_000 }
    #expect(try meet(early, papers.server()).client == .notYetValid(certificate: "CN=Test root"))
    #expect(try meet(late, papers.server()).server == .refused(reason: "certificate expired"))
  }

  @Test func `a handshake without a common application protocol fails`() throws {
    let (client, server, _) = try meet(papers.client(protocols: ["a"]), papers.server(protocols: ["b"]))
    #expect(client == .noCommonProtocol && server == .noCommonProtocol)
    // A client that offers no protocol is accepted.
    #expect(try meet(papers.client(), papers.server(protocols: ["b"])).server == nil)
    #expect(try meet(papers.client(protocols: ["a"]), papers.server()).client == nil)
  }

  // MARK: Clients

  private func server(_ certificates: TLSServer.ClientCertificates, at time: Int64? = nil) throws -> TLSServer {
    guard let time else {
      return try TLSServer(identity: papers.identity("localhost"), clientCertificates: certificates)
    }
    return try TLSServer(
      identity: papers.identity("localhost"), clientCertificates: certificates, wallClock: { time })
  }

  private func client(showing name: String?) throws -> TLSClient {
    try TLSClient(trusting: papers.roots, identity: name.map { try papers.identity($0) })
  }

  @Test func `a client sends its certificate to a server that requests one`() throws {
    let met = try meet(client(showing: "client"), server(.required(papers.roots)))
    #expect(met.server == nil && met.session?.peerSubject == "CN=client.example" && met.session?.peerFingerprint != nil)
    let unasked = try meet(client(showing: "client"), server(.ignored))
    #expect(unasked.server == nil && unasked.session?.peerSubject == nil)
  }

  @Test func `a client without a certificate is accepted only if a certificate is optional`() throws {
    #expect(try meet(client(showing: nil), server(.verified(papers.roots))).server == nil)
    #expect(try meet(client(showing: nil), server(.required(papers.roots))).server == .noCertificate)
  }

  @Test func `a client with an invalid certificate is refused, even if a certificate is optional`() throws {
    let optional = try meet(client(showing: "strange"), server(.verified(papers.roots))).server
    #expect(optional == .untrusted(certificate: "CN=localhost", issuer: "CN=A stranger"))
    let late = try meet(client(showing: "client"), server(.required(papers.roots), at: 4_000_000_000)).server
    #expect(late == .expired(certificate: "CN=Test root"))
  }

  @Test func `a refused client reads the reason`() throws {
    try withPair { pair in
      try pair.connect(client(showing: nil), server(.required(papers.roots)))
      // In TLS 1.3, the client's handshake completes before the server has verified the client.
      let reading = Outcome(try #require(pair.client).bytes)
      pair.time.run()
      #expect(reading.error?.name == "EPROTO" && pair.client?.tlsFailure == .refused(reason: "certificate required"))
    }
  }

  @Test func `a refused client reads the reason even after a failed write`() throws {
    try withPair { pair in
      try pair.connect(client(showing: nil), server(.required(papers.roots)))
      let client = try #require(pair.client)
      let writing = Outcome((["x"] as [Chunk]).publisher.write(to: client))
      pair.time.run()
      #expect((writing.error?.cause as? SystemError)?.name == "EPIPE")
      let reading = Outcome(client.bytes)
      pair.time.run()
      #expect(reading.error?.name == "EPROTO" && client.tlsFailure == .refused(reason: "certificate required"))
    }
  }

  // MARK: Configuration

  @Test func `an invalid host name is refused before any bytes are sent`() throws {
    for host in ["", ".", "a b", "a\0b", "bücher.example", "fe80::1%lo", String(repeating: "a", count: 254)] {
      #expect(try meet(papers.client(), papers.server(), host: host).client == .badHost(host))
    }
  }

  @Test func `a host name isn't a pattern`() throws {
    for host in [".wild.example", ".a.wild.example", "a..wild.example", "*.wild.example"] {
      #expect(try meet(papers.client(), papers.server("wild"), host: host).client == .badHost(host))
    }
  }

  @Test func `invalid certificates, keys and roots throw when they are loaded`() throws {
    let other = #expect(throws: TLSError.self) {
      try TLSIdentity(certificates: papers.text("localhost.pem"), key: papers.text("other.key"))
    }
    #expect(other == .keyIsAnother(certificate: "CN=localhost"))
    let none = #expect(throws: TLSError.self) {
      try TLSIdentity(certificateFile: papers("none.pem"), keyFile: papers("other.key"))
    }
    #expect("\(try #require(none))".hasPrefix("cannot read \(papers("none.pem")): "))
    for text in ["", "no PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
      #expect(throws: TLSError.self) { try TrustedRoots.only(text) }
      #expect(throws: TLSError.self) { try TLSIdentity(certificates: papers.text("localhost.pem"), key: text) }
    }
    #expect(throws: TLSError.badProtocol("")) { try TLSClient(trusting: papers.roots, protocols: [""]) }
  }
}
