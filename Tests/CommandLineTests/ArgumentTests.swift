import ArgumentParser
import Foundation
import ImageFeed
import TestSupport
import Testing

@testable import feed

@Suite(.settled) struct ArgumentTests {
  private func load(_ arguments: String...) throws -> LoadOptions {
    let command = try FeedCommand.parseAsRoot(["load", "http://example.com/feed.json"] + arguments)
    return try #require(command as? LoadCommand).load
  }

  private func message(_ arguments: String...) -> String {
    do {
      _ = try FeedCommand.parseAsRoot(arguments)
      return "parsed"
    } catch {
      #expect(FeedCommand.exitCode(for: error).rawValue == 64)
      return FeedCommand.message(for: error)
    }
  }

  @Test func `the defaults are 7 days, 30 seconds, fallback for any failure, and text`() throws {
    let options = try load()
    #expect(options.common.maxAge.duration == .seconds(604_800))
    #expect(options.timeout.duration == .seconds(30))
    #expect(options.fallback == .any)
    #expect(options.format == .text)
  }

  @Test func `every option is parsed`() throws {
    let options = try load(
      "--cache", "x.db", "--max-age", "36h", "--timeout", "500ms", "--fallback", "connectivity", "--format", "json")
    #expect(options.common.cachePath == "x.db")
    #expect(options.common.maxAge.duration == .seconds(36 * 3600))
    #expect(options.timeout.duration == .milliseconds(500))
    #expect(options.fallback == .connectivity)
    #expect(options.format == .json)
  }

  @Test func `--max-age none accepts a feed of any age`() throws {
    #expect(try load("--max-age", "none").common.maxAge.duration == nil)
  }

  @Test(arguments: ["ftp://example.com/feed.json", "example.com", "/feed.json", "http://", "", "file:///feed.json"])
  func `a URL that isn't http or https is a usage error`(address: String) {
    #expect(message("load", address).contains("Pass an http or https URL"))
  }

  @Test func `a URL alone is loaded, with options before or after it`() {
    for arguments in [["https://e.com/a"], ["--format", "json", "https://e.com/a"], ["e.com"], ["localhost:80/a"]] {
      #expect(FeedCommand.completed(arguments) == ["load"] + arguments)
    }
    for arguments in [[], ["--version"], ["help", "load"], ["load", "https://e.com/a"]] {
      #expect(FeedCommand.completed(arguments) == arguments)
    }
  }

  @Test(arguments: [
    ("feed://example.com/a", "http://example.com/a"), ("feed:https://example.com/a", "https://example.com/a"),
    ("FEED:http://example.com/a", "http://example.com/a"),
  ])
  func `a feed: URL is parsed as the http or https URL it contains`(text: String, address: String) throws {
    #expect(try FeedAddress.parse(text).absoluteString == address)
  }

  @Test func `for a URL without a scheme, the error suggests the complete URL`() {
    #expect(message("load", "localhost:8000/feed.json").contains("Did you mean http://localhost:8000/feed.json?"))
  }

  @Test func `an error about a URL doesn't show its password`() async throws {
    let ending = try await FeedBinary.run(["load", "ftp://user:secret@example.com/"])
    #expect(ending.status == 64)
    #expect(ending.errors.contains("'ftp://user:…@example.com/'"))
    #expect(!ending.errors.contains("secret"))
  }

  @Test func `an IPv6 address without brackets and an invalid port are usage errors`() {
    #expect(message("load", "http://::1/feed.json").contains("in brackets: [::1]."))
    #expect(message("load", "http://[::1]:65536/").contains("A port must be a number from 1 to 65535."))
    #expect(message("load", "http://localhost:0/").contains("A port must be a number from 1 to 65535."))
  }

  @Test(arguments: ["7", "-1d", "1.5h", "7w", "soon"])
  func `an invalid duration is a usage error`(text: String) {
    #expect(message("load", "http://example.com", "--max-age=\(text)").contains("such as 500ms, 90s, 15m, 36h or 7d"))
    #expect(message("watch", "http://example.com", "--every=\(text)").contains("such as 500ms, 90s, 15m, 36h or 7d"))
  }

  @Test func `a duration or count of zero is a usage error where it must be positive`() {
    #expect(message("load", "http://example.com", "--timeout", "0s").contains("greater than zero"))
    #expect(message("watch", "http://example.com", "--every", "0s").contains("greater than zero"))
    #expect(message("watch", "http://example.com", "--every", "1s", "--count", "0").contains("at least 1"))
  }

  @Test func `a width that no terminal has is a usage error`() throws {
    for width in ["19", "10001", "\(Int.max)"] {
      #expect(message("load", "http://example.com", "--width", width).contains("--width must be from 20 to 10000"))
    }
    #expect(try load("--width", "10000").width == 10_000)
  }

  @Test func `watch requires an interval`() {
    #expect(message("watch", "http://example.com").contains("--every"))
  }

  @Test func `the cache is in the user's cache folder`() {
    func path(_ variable: String?) -> String {
      CommonOptions.defaultCachePath(
        environment: variable.map { ["XDG_CACHE_HOME": $0] } ?? [:], accountHome: "/home/a")
    }
    #expect(path(nil) == "/home/a/.cache/feedstream/feeds.db")
    #expect(path("") == "/home/a/.cache/feedstream/feeds.db")
    #expect(path("/var/c") == "/var/c/feedstream/feeds.db")
    #expect(path("relative") == "/home/a/.cache/feedstream/feeds.db")
  }

  @Test func `the home folder comes from the environment, or else from the user's account`() {
    func path(_ home: String) -> String {
      CommonOptions.defaultCachePath(environment: ["HOME": home], accountHome: "/home/a")
    }
    #expect(path("/tmp/elsewhere") == "/tmp/elsewhere/.cache/feedstream/feeds.db")
    #expect(path("") == "/home/a/.cache/feedstream/feeds.db")
    #expect(path("relative") == "/home/a/.cache/feedstream/feeds.db")
  }
}
