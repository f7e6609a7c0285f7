import TestSupport
import Testing

@testable import feed

@Suite(.settled) struct HelpScreenTests {
  @Test func `the help fits on one screen and names every command`() {
    let lines = HelpScreen.text.split(separator: "\n", omittingEmptySubsequences: false)
    // One line remains for the prompt that follows.
    #expect(lines.count <= 23)
    for line in lines { #expect(line.count <= 80, "\(line)") }
    for command in FeedCommand.configuration.subcommands {
      #expect(lines.contains { $0.hasPrefix("  \(command._commandName) ") }, "\(command._commandName)")
    }
  }

  @Test func `the examples in the help are valid command lines`() throws {
    for line in HelpScreen.text.split(separator: "\n") where line.hasPrefix("  feed ") {
      let words = line.dropFirst(2).split(separator: "  ")[0].split(separator: " ").map(String.init)
      _ = try FeedCommand.parseAsRoot(FeedCommand.completed(Array(words.dropFirst())))
    }
  }

  @Test(arguments: [[], ["help"], ["--help"], ["-h"]])
  func `help is shown at every level where it is requested`(arguments: [String]) async throws {
    let run = try await FeedBinary.run(arguments)
    #expect(run.status == 0 && run.output == HelpScreen.text + "\n" && run.errors == "")
  }

  @Test func `a command's help lists its options`() async throws {
    let run = try await FeedBinary.run(["help", "serve"])
    #expect(run.status == 0 && run.output.contains("--allow-host <name>"))
  }
}
