import ArgumentParser
import FeedPolling
import FeedStream
import ImageFeed

/// The option for commands that search items' pages for images.
struct PageImageOption: ParsableArguments {
  enum Choice: String, CaseIterable, ExpressibleByArgument {
    case on, off
  }

  @Option(
    help: ArgumentHelp(
      "Look for an image on the web page of each item that has none (one request per item).", valueName: "on|off"))
  var pageImages = Choice.on

  /// The feeds of a poller, with the images that are found on the pages of items.
  ///
  /// - Parameter room: the number of results that may wait. Without that room, the poller would poll one feed at a
  ///   time, and a slow server would delay the others.
  func finding(
    in poller: FeedPoller, room: Int, client: any HTTPClient, cache: FeedCache, store: SQLiteFeedStore,
    on session: Session
  ) -> AnyPublisher<FeedReport, Never> {
    let polls =
      room > 1
      ? poller.buffer(size: room, prefetch: .keepFull, whenFull: .dropNewest).eraseToAnyPublisher()
      : poller.eraseToAnyPublisher()
    guard pageImages == .on else { return polls }
    var options = PageImageFinder.Options()
    options.report = { [console = session.console] in console.warn($0) }
    let finder = PageImageFinder(
      PageImageBook(store), store: store, client: client, cache: cache, on: session.loop, options: options)
    return finder.finding(in: polls)
  }
}
