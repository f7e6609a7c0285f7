import FeedFleet
import FeedRedis
import Foundation
import ImageFeed
import RedisTestSupport
import TestSupport
import Testing

/// Error messages of a store on a server: they don't mention files.
@Suite(.settled, .timeLimit(.minutes(5))) struct RedisSentenceTests {
  private let address = URL(string: "http://127.0.0.1/feed")!

  private func sentence(of server: RedisServer, _ address: RedisAddress? = nil) throws -> String {
    let store = try RedisFeedStore(address ?? server.address)
    defer { store.close() }
    do {
      let feed = CachedFeed(images: [], timestamp: Date(timeIntervalSince1970: 1_700_000_000))
      _ = try store.replace(for: self.address, with: feed, now: feed.timestamp)
      return "saved"
    } catch {
      return "\(error)"
    }
  }

  @Test func `a wrong or missing Redis password is reported as an error of the URL`() throws {
    let server = try RedisServer(["--requirepass", "secret"])
    var address = server.address
    for password in [nil, "wrong"] {
      address.password = password
      let text = try sentence(of: server, address)
      #expect(
        text.contains("permission denied. Correct the user and the password,") && !text.contains("file"))
    }
    address.password = "secret"
    #expect(try sentence(of: server, address) == "saved")
  }

  @Test func `errors about permissions, replicas and other programs' keys don't mention files`() throws {
    let server = try RedisServer()
    #expect(try sentence(of: server) == "saved")
    try server.cli("ACL", "SETUSER", "default", "-@write")
    #expect(try sentence(of: server).contains("allow that user to read and write there"))
    try server.cli("ACL", "SETUSER", "default", "+@all")
    try server.cli("REPLICAOF", "127.0.0.1", "1")
    let text = try sentence(of: server)
    #expect(text.hasSuffix("Use the URL of the primary."), "\(text)")
    let other = try RedisServer()
    try other.cli("SET", "mine", "1")
    #expect(
      try sentence(of: other)
        .hasSuffix("it belongs to another program, so it was left unchanged. Choose another database."))
  }

  @Test func `an error's text is safe to print`() {
    let error = FleetError.damaged("redis://localhost:6379", "The key fs{0}:h:\u{1B}[2J\u{202E}")
    #expect("\(error)".contains("fs{0}:h:\\u{1B}[2J\\u{202E} in redis"))
  }

  @Test func `full memory is reported as the server's error`() throws {
    let server = try RedisServer()
    try server.cli("CONFIG", "SET", "maxmemory", "1")
    #expect(
      try sentence(of: server).hasSuffix("its memory is full. Raise its limit, or delete keys that aren't needed."))
  }
}
