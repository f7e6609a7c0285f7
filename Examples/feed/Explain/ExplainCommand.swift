import ArgumentParser
import FeedStream
import Foundation
import ImageFeed

/// `feed explain`: says when a feed is asked for next, and why.
struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Explain when a feed is asked for next, and why.",
    discussion: """
      Reads what watches have noted in the cache file: what is saved, when the feed is due and which rule says so, whether \
      its host wants a pause, and the last decisions. Makes no request.
      """)

  @Argument(
    help: ArgumentHelp("The feed's address, http or https.", valueName: "url"), transform: FeedAddress.parse)
  var address: URL

  @OptionGroup var common: CommonOptions

  @Option(help: ArgumentHelp("How it is written: for people, or one line of JSON.", valueName: "text|json"))
  var format = OutputFormat.text

  func run() throws {
    let session = Session(verbose: common.verbose)
    let store = SQLiteFeedStore(cacheAt: common.cachePath, on: session)
    let worker = SerialWorker(on: session.loop)
    let explanation = worker.publisher { [address] () throws(FeedStoreError) in
      try FeedExplanation(of: address, in: store)
    }
    session.run(explanation) { [format, style = session.outputStyle] explanation in
      switch format {
      case .text: ExplanationText(style: style, now: Date()).text(of: explanation)
      case .json: ExplanationJSON.line(explanation, now: Date())
      }
    } ended: { completion in
      if case .failure(let error) = completion { session.fail("\(error)") }
    }
    try session.finish(closing: store)
  }
}
