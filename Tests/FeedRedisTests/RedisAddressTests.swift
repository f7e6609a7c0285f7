import FeedRedis
import TestSupport
import Testing

@Suite(.settled) struct RedisAddressTests {
  @Test func `a Redis URL states the server and the credentials`() throws {
    var expected = RedisAddress(.internet(host: "example.org", port: 7000))
    (expected.user, expected.password, expected.database) = ("ann", "p@ss/1", 3)
    #expect(try RedisAddress(parsing: "redis://ann:p%40ss%2F1@example.org:7000/3") == expected)
    #expect(try RedisAddress(parsing: "redis://localhost") == RedisAddress(.internet(host: "localhost", port: 6379)))
    #expect(try RedisAddress(parsing: "redis://[::1]:1").place == .internet(host: "::1", port: 1))
    #expect(try RedisAddress(parsing: "redis://:secret@h").password == "secret")
    #expect(try RedisAddress(parsing: "redis://:secret@h").user == nil)
    #expect(try RedisAddress(parsing: "rediss://h").usesTLS)
    let socket = try RedisAddress(parsing: "unix:///run/redis.sock?db=2")
    #expect(socket.place == .unix(path: "/run/redis.sock") && socket.database == 2)
  }

  @Test(arguments: [
    "", "localhost", "http://h", "redis://", "redis://h/x", "redis://h:99999", "unix://", "redis://a@h",
    "redis://h/1?db=2", "redis://h?db=x", "redis://h?timeout=3", "redis://:a@h?password=b", "redis://:p#w@h",
    "redis://h/1/2", "redis://h/-1", "redis://h:0", "unix://run/s", "redis+sentinel://h", "redis+sentinel://h/a/b",
    "redis+sentinel:///a", "redis+sentinel://h,,i/a", "redis+sentinel://a@h/b", "redis+sentinel://h/a#b",
  ])
  func `an invalid Redis URL is refused with a reason`(_ text: String) {
    #expect(throws: RedisAddressError.self) { try RedisAddress(parsing: text) }
  }

  @Test func `a URL's query can replace its user, password and database`() throws {
    let plain = try RedisAddress(parsing: "redis://ann:p%20w@h/3")
    #expect(try RedisAddress(parsing: "redis://h?db=3&username=ann&password=p%20w") == plain)
    #expect(try RedisAddress(parsing: "redis://ann:p%20w@h/3?db=3") == plain)
    #expect(try RedisAddress(parsing: "unix:///s?password=x&db=1").password == "x")
    #expect(try RedisAddress(parsing: "unix://:x@/s?db=1") == RedisAddress(parsing: "unix:///s?password=x&db=1"))
  }

  @Test func `a Sentinel URL lists the hosts, then the name of the primary`() throws {
    let address = try RedisAddress(parsing: "redis+sentinel://ann:s@a,b:1,[::1],[::2]:3/main/2")
    let hosts = [("a", 26379), ("b", 1), ("::1", 26379), ("::2", 3)].map {
      RedisAddress.SentinelHost(host: $0.0, port: $0.1)
    }
    #expect(address.place == .sentinel(hosts: hosts, name: "main"))
    #expect(address.user == "ann" && address.password == "s" && address.database == 2)
    #expect("\(address)" == "redis+sentinel://a:26379,b:1,[::1]:26379,[::2]:3/main/2")
    #expect(try RedisAddress(parsing: "redis+sentinel://a/main?db=1").database == 1)
    #expect(RedisAddress.isAddress("redis+sentinel://a/main"))
  }

  @Test(arguments: [
    "redis://secret@h", "redis://:secret#@h", "redis://:se/cret@h", "redis://h?password=secret&x=1",
    "redis://:secret@h/x",
  ])
  func `the error for an invalid URL doesn't contain its password`(_ text: String) {
    let error = #expect(throws: RedisAddressError.self) { try RedisAddress(parsing: text) }
    #expect(error.map { "\($0)".contains("secret") } == false)
  }

  @Test func `a server's message is shown on one short line, without the password`() throws {
    let address = try RedisAddress(parsing: "redis://:secret@h")
    let text =
      "ERR unknown command, with args beginning with: secret \u{1B}[31m\n" + String(repeating: "x", count: 5000)
    let shown = "\(RedisError.refused(address, RedisRefusal(text)))"
    #expect(!shown.contains("secret") && !shown.contains("\u{1B}") && !shown.contains("\n") && shown.count < 500)
  }

  @Test func `the hint for a missing password has the form of the URL`() throws {
    let refusal = RedisRefusal("NOAUTH Authentication required.")
    for (text, remedy) in [
      ("redis://h:1", "redis://:PASSWORD@h:1"), ("unix:///s?db=2", "unix://:PASSWORD@/s?db=2"),
    ] {
      #expect("\(RedisError.refused(try RedisAddress(parsing: text), refusal))".contains(remedy))
    }
  }

  @Test func `a printed URL never shows its password`() throws {
    let address = try RedisAddress(parsing: "redis://ann:secret@h/2")
    #expect("\(address)" == "redis://h:6379/2")
    #expect(!"\(RedisError.closed(address))".contains("secret"))
  }

  @Test func `a file path isn't a Redis URL`() {
    for text in ["feeds.db", "/tmp/feeds.db", "redis.db", "./redis:/x"] { #expect(!RedisAddress.isAddress(text)) }
    for text in ["redis://h", "unix:/run/s", "rediss://h"] { #expect(RedisAddress.isAddress(text)) }
  }
}
