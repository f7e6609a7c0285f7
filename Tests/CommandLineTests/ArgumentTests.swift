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
    for arguments in [
      ["https://e.com/a"], ["--format", "json", "https://e.com/a"], ["e.com"], ["localhost:80/a"],
      ["--offline", "e.com"], ["--offline"], ["--opml", "my.opml"],
      ["--offline", "--folder", "demo"], ["--opml", "x", "--cache", "cache"],
      ["-v", "e.com"], ["-v", "--opml", "my.opml"], ["-v", "--offline"],
    ] {
      #expect(FeedCommand.completed(arguments) == ["load"] + arguments)
    }
    for arguments in [
      [], ["--version"], ["help", "load"], ["load", "https://e.com/a"], ["-h"], ["--help-hidden"],
      ["--generate-completion-script", "bash"], ["--generate-completion-script=bash"], ["--experimental-dump-help"],
      ["---completion", "load"], ["--quiet", "watch"],
      ["--folder", "demo", "watch"], ["-v"],
    ] {
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

  @Test func `for a host without a scheme, the error suggests https only if the host is public`() {
    for (text, url) in [
      ("e.com/x", "https://e.com/x"), ("e.com:443/x", "https://e.com:443/x"), ("e.com:8000/x", "http://e.com:8000/x"),
      ("127.0.0.1/x", "http://127.0.0.1/x"),
    ] {
      #expect(message("load", text).contains("Did you mean \(url)?"))
    }
  }

  @Test func `an error about a URL with a space in its host names the space`() {
    #expect(message("load", "http://local host/").contains("This URL contains a space; remove it."))
  }

  @Test func `flags that exclude each other are named`() async throws {
    let run = try await FeedBinary.run(["load", "http://127.0.0.1:9/", "--offline", "--refresh"])
    #expect(run.status == 64 && run.errors.contains("--offline can't be combined with --refresh."), "\(run.errors)")
  }

  @Test(arguments: ["https//e.com/x", "https/e.com/x", "https:/e.com/x", "https:e.com/x"])
  func `for a URL with a mistyped scheme, the error suggests the complete URL`(text: String) {
    #expect(message("load", text).contains("Did you mean https://e.com/x?"))
  }

  @Test(arguments: [
    ["load", "https:/u:p@secret@h/x"], ["load", "https:/u:p secret@h/x"], ["load", "https//u:12/secret@h/x"],
    ["load", "https:/u:secret@h/x"], ["inspect", "https:/u:secret@h/x"], ["inspect", "https//u:12/secret@h/x"],
  ])
  func `an error about a mistyped URL doesn't show its password`(words: [String]) async throws {
    let run = try await FeedBinary.run(words)
    #expect(run.status != 0 && !run.errors.isEmpty && !run.errors.contains("secret"), "\(run.errors)")
  }

  @Test func `for a relative path without a file, the error says so`() {
    let message = message("load", "./no-such-file.xml")
    #expect(message.contains("There is no file ./no-such-file.xml.") && !message.contains("Did you mean"))
  }

  @Test(arguments: [
    ["load"], ["browse"], ["watch", "--every", "1h"], ["serve"], ["search", "--feed"], ["explain"], ["get"],
    ["subscriptions", "add"], ["cache", "show"], ["cache", "images", "show"],
  ])
  func `an unknown option with a value is named, in every command that takes a URL`(command: [String]) {
    for words in [["--zzz", "15m"], ["--zzz=15m"], ["--zzz"]] {
      #expect(UnknownOption(in: command + ["https://e.com/"] + words)?.message == "Unknown option '--zzz'.")
    }
  }

  @Test func `an unknown option gets a suggestion, and its command's usage`() async throws {
    for (words, meant) in [
      (["serve", "--prot", "9000"], "'--prot'. Did you mean '--port'?"),
      (["watch", "https://e.com/", "--evry", "15m"], "'--evry'. Did you mean '--every'?"),
      (["subscriptions", "--opm", "x"], "'--opm'. Did you mean '--opml'?"), (["load", "-ujoe:secret"], "'-u'."),
      (["load", "-opml", "x"], "'-o'. Did you mean '--opml'?"), (["load", "-qx"], "'-x'."),
      (["--quiet", "watch"], "'--quiet'. Write options after the command."),
    ] {
      #expect(UnknownOption(in: words)?.message == "Unknown option \(meant)")
    }
    let run = try await FeedBinary.run(["serve", "https://e.com/", "--prot", "9000"])
    #expect(run.status == 64 && run.output == "")
    let message = "feed: Unknown option '--prot'. Did you mean '--port'?\nUsage: feed serve "
    #expect(run.errors.hasPrefix(message), "\(run.errors)")
  }

  @Test(arguments: [
    ["load", "--cache", "-x"], ["load", "-q", "--offline", "e.com"], ["load", "--cache=x", "e.com"], ["load", "-hq"],
    ["load", "--", "--zzz"], ["subscriptions", "--opml", "x"], ["subscriptions", "list", "--format", "json"],
    ["star", "--store", "redis://h"], ["fleet", "pause", "h", "--for", "1h"], ["load", "-1"], ["search", "-"],
  ])
  func `an option that a command has isn't unknown`(arguments: [String]) {
    #expect(UnknownOption(in: arguments)?.message == nil)
  }

  @Test func `an empty --exec is a usage error, with --shell, too`() {
    for command in ["", " \n"] {
      for shell in [[], ["--shell"]] {
        let words = ["watch", "http://example.com", "--every", "1s", "--exec", command] + shell
        #expect(throws: (any Error).self) { try FeedCommand.parseAsRoot(words) }
      }
    }
  }

  @Test(arguments: [
    (["load", "http://u:p/w@127.0.0.1/x"], "http://u:…@127.0.0.1/x"), (["load", "u:p/w@e.com/x"], "u:…@e.com/x"),
    (["load", "u:p/w@e.com/x?y=https://e.com/"], "u:…@e.com/x?y=https://e.com/"),
    (["fleet", "status", "--store", "redis://:p/w'x@host:port"], "redis://…@host:port"),
    (["fleet", "status", "--store=redis://p'/w@host:port"], "redis://…@host:port"),
  ])
  func `an error doesn't show a password that makes a URL invalid`(words: [String], shown: String) async throws {
    let ending = try await FeedBinary.run(words)
    #expect(ending.status == 64 && ending.errors.contains("'\(shown)'"), "\(ending.errors)")
    #expect(!ending.errors.contains("p/w") && !ending.errors.contains("p'/w"))
  }

  @Test func `an @ in a valid URL's path isn't taken for the end of a password`() {
    for text in ["https://h:80/@u", "http://[::1]/@a", "http://h/a:b@c", "http://h/a@2x.png"] {
      #expect(text.withoutPossiblePassword == text)
    }
  }

  @Test func `a feed that isn't in the list is shown without a password, even if its URL is mistyped`() {
    for (text, shown) in [
      ("https:/u:secret@h/", "https:…@h/"), ("https://u:secret@h/", "https://u:…@h/"), ("News: 1 @ 2", "News: 1 @ 2"),
    ] {
      #expect(text.withoutPasswordOfURL == shown)
    }
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
