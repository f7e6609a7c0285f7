import FeedStream
import FeedTLS
import TestSupport
import Testing

@testable import FeedRedis

@Suite(.settled) struct RedisRefusalTests {
  /// A refusal is printed on a terminal, and its text is untrusted: the server may repeat an argument.
  @Test(arguments: ["\u{202E}", "\u{2066}", "\u{200F}", "\u{9B}", "\u{1B}", "\n", "\u{2028}"])
  func `a refusal's text never contains characters that control the terminal`(_ character: Character) {
    let refusal = RedisRefusal("ERR unknown command 'a\(character)b'").shown(without: nil)
    #expect(refusal.description == "ERR unknown command 'a b'")
  }

  @Test func `an error about a server that another one named is safe to print`() {
    let host = "\u{1B}[2J\nok\u{202E}"
    let address = RedisAddress(.internet(host: host, port: 1))
    let errors: [any Error] = [
      RedisError.closed(address), RedisError.unreachable(address, SystemError("connect to", host, code: 1)),
      RedisError.notSecure(address, .wrongHost("a", names: [host])), TLSError.wrongHost("a", names: [host]),
      RedisError.noSuchPrimary(address, host), RedisRefusal("ERR \(host)"),
    ]
    for text in ["\(address)"] + errors.map({ "\($0)" }) {
      #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E }, "\(text)")
    }
  }

  @Test(arguments: [
    ("CROSSSLOT Keys in request don't hash to the same slot", false), ("MOVED 1 10.0.0.2:6379", true),
    ("ASK 1 10.0.0.2:6379", true), ("CLUSTERDOWN The cluster is down", true), ("WRONGTYPE no list", false),
  ])
  func `a refusal is temporary if the same command may succeed later`(_ text: String, _ isTemporary: Bool) {
    let address = RedisAddress(.unix(path: "/run/redis"))
    #expect(RedisError.refused(address, RedisRefusal(text)).isTemporary == isTemporary)
  }

  @Test func `a refusal of few characters and many scalars is truncated, too`() {
    let refusal = RedisRefusal("ERR a" + String(repeating: "\u{301}", count: 10_000)).shown(without: nil)
    #expect(refusal.message.unicodeScalars.count == 301)
  }

  @Test func `a refusal is shown without the password, and truncated if it is long`() {
    let refusal = RedisRefusal("WRONGPASS invalid 'hunter2' " + String(repeating: "x", count: 400))
    let shown = refusal.shown(without: "hunter2")
    #expect(shown.message.hasPrefix("invalid '…' xxx"))
    #expect(shown.message.count == 301)
    #expect(shown.code == "WRONGPASS")
  }

  /// Other errors already say what to do, so they have no remedy.
  @Test(arguments: [
    (
      TLSError.notTLS,
      "the peer does not speak TLS. Use redis: instead of rediss:, if the connection need not be secure."
    ),
    (
      .untrusted(certificate: "a", issuer: "b"),
      "the certificate of a was issued by b, which is not trusted. To trust the issuer, set SSL_CERT_FILE to a file with its certificate."
    ),
    (.expired(certificate: "a"), "the certificate of a has expired."),
    (.wrongHost("a", names: ["b"]), "the certificate is for b, not for a."),
  ])
  func `a TLS error's remedy fits the error`(_ error: TLSError, _ sentence: String) throws {
    let address = try RedisAddress(parsing: "rediss://a")
    #expect(RedisError.notSecure(address, error).description == "\(address) cannot be used: \(sentence)")
  }
}
