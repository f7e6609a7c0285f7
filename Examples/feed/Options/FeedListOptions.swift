import ArgumentParser
import Foundation

/// The feeds of `load`, `watch`, `browse` and `serve`: URLs, the feeds of a file, or the subscriptions.
struct FeedListOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The feeds' URLs. (default: your subscriptions)", valueName: "url"),
    transform: FeedAddress.parse)
  var addresses: [URL] = []

  @Option(
    help: ArgumentHelp("An OPML file that lists feeds, in addition to the URLs.", valueName: "file"),
    completion: .file())
  var opml: String?

  @Option(
    help: ArgumentHelp(
      "Show only feeds in this folder of the list; repeat the option for a nested folder.", valueName: "name"))
  var folder: [String] = []
}
