import ArgumentParser
import TestSupport
import Testing

@testable import feed

/// The command lines that are read without the parser.
@Suite(.settled) struct QuickArgumentsTests {
  @Test(arguments: [
    ["load"], ["load", "https://e.com/a"], ["load", "https://e.com/a", "feed:https://e.com/b", "http://[::1]:80/"],
    ["load", "https://e.com/a", "--format", "json", "--cache", "x.db"], ["load", "--format", "text", "http://e.com"],
    ["load", "--offline", "--cache", "a b.db", "http://e.com"], ["load", "http://e.com", "--refresh"],
    ["load", "http://e.com", "--prefer-cache", "--format", "json"],
  ])
  func `QuickArguments reads a plain command line exactly as the parser does`(_ arguments: [String]) throws {
    let quick = try #require(QuickArguments.command(arguments))
    let parsed = try #require(try FeedCommand.parseAsRoot(arguments) as? LoadCommand)
    // Compare the value of each property; an unset property is described as such.
    #expect("\(quick)" == "\(parsed)")
    #expect("\(quick)".contains("https://e.com/a") == arguments.contains("https://e.com/a"))
    #expect(!"\(quick)".contains("*definition*"))
  }

  @Test(arguments: [
    [], ["--version"], ["help", "load"], ["watch", "http://e.com", "--every", "1h"], ["load", "--help"],
    ["load", "-h"],
    ["load", "http://e.com", "--version"], ["load", "--", "http://e.com"], ["load", "ftp://e.com"], ["load", "e.com"],
    ["load", ""], ["load", "http://e.com", "--cache"], ["load", "http://e.com", "--cache", ""],
    ["load", "http://e.com", "--cache", "--format"], ["load", "http://e.com", "--format", "xml"],
    ["load", "http://e.com", "--format"], ["load", "http://e.com", "--offline", "--refresh"],
    ["load", "http://e.com", "--offline", "--offline"], ["load", "http://e.com", "--cash", "x"],
    ["load", "http://e.com", "--pages", "0"], ["load", "http://e.com", "--cache=x.db"],
    ["load", "http://e.com", "--cache", "a", "--cache", "b"], ["load", "http://localhost:0/"],
    ["load", "http://e.com", "--max-age", "1h"], ["load", "--generate-completion-script", "bash"],
  ])
  func `QuickArguments leaves wrong arguments, help and rare options to the parser`(_ arguments: [String]) {
    #expect(QuickArguments.command(arguments) == nil)
  }
}
