import ArgumentParser
import FeedStream
import Foundation
import ImageFeed

/// `feed load`: shows feeds once.
struct LoadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "load",
    abstract: "Load feeds and show them.",
    discussion: """
      Loads each feed from its server and saves it. If the server fails, shows the saved feed, provided it is younger than \
      --max-age. To change this behavior, use --fallback, --offline, --refresh or --prefer-cache. Several feeds are \
      shown as one list, with the newest image first. Without a URL, shows your subscriptions. For each feed that \
      can't be shown, prints an error to standard error. The exit status is 1 if no feed could be shown.
      """)

  @OptionGroup var load: LoadOptions

  @Flag(exclusivity: .exclusive) var choice: ReadChoice?

  @Option(
    help: ArgumentHelp(
      "How many pages of one feed to load and save, if each links to the next. (default: 1)", valueName: "count"))
  var pages: Int?

  @Flag(help: "Also save the images, for offline use.")
  var saveImages = false

  @OptionGroup var budget: ImageBudgetOption

  @OptionGroup var imageOptions: ImageOptions

  private var mode: ReadMode { choice?.mode ?? .networkFirst }

  func validate() throws {
    try imageOptions.check(for: load.format)
    guard !saveImages || choice != .offline else {
      throw ValidationError("--save-images makes requests; leave out --offline.")
    }
    guard let pages else { return }
    guard pages > 0 else { throw ValidationError("--pages must be at least 1.") }
    guard load.list.addresses.count == 1, load.list.opml == nil else {
      throw ValidationError("--pages is for one feed; pass one URL, without --opml.")
    }
    guard choice == nil else {
      throw ValidationError("--pages can't be combined with --offline, --refresh or --prefer-cache.")
    }
  }

  func run() throws {
    let selection = try load.list.selection()
    try load.request.check(for: selection.addresses)
    if imageOptions.choice == .always || saveImages { try load.common.checkImages() }
    let session = Session(load.common)
    let source = FeedSource(load, of: selection, on: session)
    let screen = FeedScreen(load, of: selection, on: session, source.marks)
    // A frame has no room for the cause of a failure, which --verbose reports.
    let client = ObservedClient(client: source.client, log: session.log)
    let imageOutput = ImageOutput(
      imageOptions, for: load, client: client, isOffline: choice == .offline, on: session)
    let saver = saveImages ? ImageSaver(for: load.common, budget, client: source.client, on: session) : nil
    let progress = LoadProgress(of: source.client, hasImages: imageOutput != nil, on: session)
    if selection.isSingle {
      show(source.feeds.loaders[0], of: source, on: screen, imageOutput, saver, with: progress, in: session)
    } else {
      showAll(source, of: selection, on: screen, imageOutput, saver, in: session)
    }
    try session.finish(closing: source.store)
  }

  private func show(
    _ loader: FeedLoader, of source: FeedSource, on screen: FeedScreen, _ imageOutput: ImageOutput?,
    _ saver: ImageSaver?, with progress: LoadProgress, in session: Session
  ) {
    let address = loader.url
    let loaded = source.afterMarks(pages.map { loader.pages(upTo: $0, on: session) } ?? loader.load(mode))
    let feed =
      loaded
      .handleEvents(receiveOutput: { _ in progress.feedDelivered() })
      .catch { [choice] error in source.explain(error, for: address, choice).flatMap { Fail(error: $0) } }
    guard !screen.isJSON else {
      let results = feed.map { Result<Feed, NothingToShow>.success($0) }.catch { Just(.failure($0)) }
      return session.run(results) {
        screen.bytes(of: $0, at: address)
      } written: { result, done in
        switch result {
        case .success(let feed):
          source.finder.note(feed.images, of: address)
          if feed.isEmptyPart { session.fail() }
          if let saver { return saver.save([(address, feed.images)], then: done) }
        case .failure(let failure):
          session.console.showFailure(screen.text(of: failure))
          session.fail()
        }
        done()
      }
    }
    run(feed, imageOutput, saver, in: session) {
      screen.bytes(of: $0, at: address)
    } list: {
      screen.list(of: $0, at: address)
    } shown: { feed in
      source.finder.note(feed.images, of: address)
      if feed.isEmptyPart { session.fail() }
      return [(address, feed.images)]
    } ended: { completion in
      if case .failure(let failure) = completion {
        session.console.showFailure(screen.text(of: failure))
        session.fail()
      }
    }
  }

  private func showAll(
    _ source: FeedSource, of selection: FeedSelection, on screen: FeedScreen, _ imageOutput: ImageOutput?,
    _ saver: ImageSaver?, in session: Session
  ) {
    let reports = source.afterMarks(source.feeds.load(mode))
      .handleEvents(receiveOutput: { report in
        guard case .failure(let error) = report.result else { return }
        session.console.showFailure(screen.text(of: source.nothingToShow(error, for: report.address)))
      })
      .collect()
      .map { reports in
        let places = Dictionary(uniqueKeysWithValues: selection.addresses.enumerated().map { ($1, $0) })
        return reports.sorted { places[$0.address]! < places[$1.address]! }
      }
    run(reports, imageOutput, saver, in: session) {
      screen.bytes(of: $0)
    } list: {
      screen.list(of: $0)
    } shown: { reports in
      let shown = reports.compactMap { report in report.feed.map { (report.address, $0.images) } }
      for (address, images) in shown { source.finder.note(images, of: address) }
      if reports.allSatisfy({ $0.feed?.isEmptyPart ?? true }) { session.fail() }
      return shown
    }
  }

  /// Shows the loaded feeds, with their images if there are any.
  ///
  /// - Parameter shown: records that a value was shown, and returns the feeds whose images may be saved.
  private func run<P: Publisher>(
    _ loaded: P, _ imageOutput: ImageOutput?, _ saver: ImageSaver?, in session: Session,
    bytes: @escaping @Sendable (P.Output) -> [UInt8],
    list: @escaping @Sendable (P.Output) -> ImageOutput.List,
    shown: @escaping (P.Output) -> [(address: URL, images: FeedImages)],
    ended: ((Subscribers.Completion<P.Failure>) -> Void)? = nil
  ) where P.Output: Sendable {
    guard let imageOutput else {
      return session.run(
        loaded, bytes: bytes,
        written: { value, done in
          let feeds = shown(value)
          if let saver { saver.save(feeds, then: done) } else { done() }
        }, ended: ended)
    }
    let worker = SerialWorker(on: session.loop)
    let parts =
      loaded
      .flatMap(maxPublishers: .max(1)) { value in
        worker.publisher { list(value) }
          .flatMap { imageOutput.output(of: $0) }
          .append(
            Deferred {
              let feeds = shown(value)
              return Future<[UInt8], Never> { promise in
                if let saver { saver.save(feeds) { promise(.success([])) } } else { promise(.success([])) }
              }
            })
      }
    session.run(parts, bytes: { $0 }, ended: ended)
  }
}

extension Feed {
  /// True if the document was cut off before its first image, so that nothing is shown.
  fileprivate var isEmptyPart: Bool {
    if case .part = source { images.isEmpty } else { false }
  }
}
