import ArgumentParser

/// `feed --help`: examples and commands on a screen of 24 lines by 80 characters. `man feed` has the details.
enum HelpScreen {
  /// True for a command line that requests help, but not for a particular command.
  static func isAsked(_ arguments: [String]) -> Bool { [[], ["help"], ["--help"], ["-h"]].contains(arguments) }

  static var text: String {
    let commands = FeedCommand.configuration.subcommands.map { command in
      "  " + column(command._commandName) + command.configuration.abstract
    }
    return """
      feed shows the images in feeds: from the server or, if that fails, the cache.

        feed https://example.com/blog             the images of a feed or a web page
        feed browse https://example.com/blog      browse its images in the terminal
        feed serve --every 15m                    serve your feeds as a web page

      \(commands.joined(separator: "\n"))

      feed help <command> explains a command and its subcommands. Manual: man feed
      """
  }

  private static func column(_ name: String) -> String {
    name + String(repeating: " ", count: max(1, 15 - name.count))
  }
}
