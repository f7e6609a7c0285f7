import ArgumentParser
import ImageFeed

/// The option of the commands that load images before anyone opens them.
struct ImageBudgetOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Maximum total size of a feed's images to load in advance, such as 30MB; the latest are loaded first. "
        + "(default: 30MB)",
      valueName: "size"),
    transform: ByteCount.init(parsing:))
  var imagesPerFeed = ByteCount(30_000_000)

  func budget(within common: CommonOptions) -> ImageBudget {
    ImageBudget(perFeed: imagesPerFeed.bytes, of: common.imageCacheSize.bytes)
  }
}
