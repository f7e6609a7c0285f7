import ArgumentParser

/// `feed --help`: examples and commands on one screen, 24 lines of 80 characters. `man feed` has the rest.
enum HelpScreen {
  /// True for a command line that asks for the help of no command.
  static func isAsked(_ arguments: [String]) -> Bool { [[], ["help"], ["--help"], ["-h"]].contains(arguments) }

  static var text: String {
    let commands = FeedCommand.configuration.subcommands.map { command in
      "  " + column(command._commandName) + command.configuration.abstract
    }
    return """
      feed: pictures of feeds, from their servers, or else what was saved.

        feed https://example.com/blog             the pictures of a feed, or of a page
        feed browse https://example.com/blog      look at them on the whole terminal
        feed serve --every 15m                    show it all on a web page

      \(commands.joined(separator: "\n"))

      feed help <command> explains one, man feed all; feed --version names this one.
      """
  }

  private static func column(_ name: String) -> String {
    name + String(repeating: " ", count: max(1, 15 - name.count))
  }
}
