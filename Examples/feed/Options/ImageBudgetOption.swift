import ArgumentParser
import ImageFeed

/// The option for commands that load images before anyone opens them.
struct ImageBudgetOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Maximum total size of the images that are loaded in advance for a feed, such as 50MB. (default: 30MB)",
      valueName: "size"),
    transform: ByteCount.init(parsing:))
  var imagesPerFeed = ByteCount(30_000_000)

  func budget(within common: CommonOptions) -> ImageBudget {
    ImageBudget(perFeed: imagesPerFeed.bytes, of: common.imageCacheSize.bytes)
  }
}
