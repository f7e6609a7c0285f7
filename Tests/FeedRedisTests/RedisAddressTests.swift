import FeedRedis
import TestSupport
import Testing

@Suite(.settled) struct RedisAddressTests {
  @Test func `an address says where the server is and how to log in`() throws {
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
  ])
  func `what is no address is refused with a reason`(_ text: String) {
    #expect(throws: RedisAddressError.self) { try RedisAddress(parsing: text) }
  }

  @Test func `a password is never shown`() throws {
    let address = try RedisAddress(parsing: "redis://ann:secret@h/2")
    #expect("\(address)" == "redis://h:6379/2")
    #expect(!"\(RedisError.closed(address))".contains("secret"))
  }

  @Test func `a path of a file is no address`() {
    for text in ["feeds.db", "/tmp/feeds.db", "redis.db", "./redis:/x"] { #expect(!RedisAddress.isAddress(text)) }
    for text in ["redis://h", "unix:/run/s", "rediss://h"] { #expect(RedisAddress.isAddress(text)) }
  }
}
