import ArgumentParser

/// `feed`: an image feed on the terminal, from its server or, when that cannot be had, from the cache.
@main
struct FeedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "feed",
    abstract: "Shows an image feed: the latest from its server, or else the one that was saved.",
    discussion: """
      Exit status: 0 a feed was shown, 1 there was nothing to show or something failed, 64 the command line was wrong, \
      130 interrupted (Ctrl-C), 143 terminated.
      """,
    subcommands: [LoadCommand.self, WatchCommand.self, CacheCommand.self, DemoCommand.self])
}
