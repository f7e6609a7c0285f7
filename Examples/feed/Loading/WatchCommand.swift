import ArgumentParser
import FeedPolling
import FeedStream
import Foundation
import ImageFeed

/// `feed watch`: shows feeds whenever they or their origins change, or shows only new images.
struct WatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Reload feeds regularly, and show changes.",
    discussion: """
      Shows a feed when its images change, and when it starts or stops coming from the cache; new images are marked. \
      An image is new until a command has shown it; on a feed's first load, all images are new, but none is marked. \
      If a feed can't be loaded, its saved copy is shown with the reason; without a saved copy, and with --new or \
      --exec, the reason is reported on standard error. watch continues until Ctrl-C. If a server requests longer \
      intervals, watch uses those. "feed explain" shows when a feed is due and why. With --follow, makes no \
      requests: feeds are shown as soon as other processes save them in the same cache.
      """)

  @OptionGroup var load: LoadOptions

  @OptionGroup var pages: PageImageOption

  @Option(
    help: ArgumentHelp(
      "Minimum time between loads, such as 15m; \"auto\" adapts to how often the feed changes. A feed's own interval in "
        + "the list takes precedence.",
      valueName: "duration"),
    transform: WatchInterval.init(parsing:))
  var every: WatchInterval?

  @Flag(help: "Make no requests; show feeds that other processes save in the cache.")
  var follow = false

  @Option(
    help: ArgumentHelp(
      "Exit after this many updates (with --new or --exec: updates with new images).", valueName: "count"))
  var count: Int?

  @Flag(help: "Show only new images; with --format json, one line per feed.")
  var new = false

  @Flag(help: "Treat the images of each feed's first load as already shown.")
  var fromNow = false

  @Option(
    help: ArgumentHelp(
      "Run this command for each new image, with JSON on standard input and FEED_… and ITEM_… in the environment. Without "
        + "--new, no images are shown.", valueName: "cmd"))
  var exec: String?

  @Flag(help: "Run the --exec command with /bin/sh.")
  var shell = false

  @Flag(help: "Also save the images of each update, for offline use.")
  var saveImages = false

  @OptionGroup var budget: ImageBudgetOption

  func validate() throws {
    if saveImages, follow { throw ValidationError("--save-images makes requests; leave out --follow.") }
    if let count, count < 1 { throw ValidationError("--count must be at least 1.") }
    if follow == (every != nil) {
      throw ValidationError(
        follow
          ? "--follow makes no requests, so leave out --every."
          : "Choose --every 15m, --every auto, or --follow.")
    }
    if shell, exec == nil { throw ValidationError("--shell needs --exec.") }
    if let exec {
      // A shell would run an empty command successfully.
      if exec.allSatisfy(\.isWhitespace) { throw ValidationError("--exec needs a command.") }
      if !shell { _ = try CommandWords.split(exec) }
    }
  }

  func run() throws {
    let selection = try load.list.selection()
    try load.request.check(for: selection.addresses)
    if saveImages { try load.common.checkImages() }
    let session = Session(load.common)
    if let exec, !shell, let syntax = try CommandWords.shellSyntax(in: exec) {
      session.console.hint("--exec runs without a shell, so \(syntax) has no effect; add --shell")
    }
    var intervals = Self.intervals(of: selection.subscriptions)
    let usual = every?.duration
    let interval: (URL) -> Duration? = { intervals[$0] ?? usual }
    let status = WatchStatus(
      of: selection.addresses, named: selection.shownNames, following: follow, on: session)
    let source = FeedSource(load, of: selection, on: session, observer: status.observer)
    session.takeHangups(readingLists: selection.list != nil)
    let lists = selection.list?.changes(on: session)
      .handleEvents(receiveOutput: { [weak status] feeds in
        intervals = Self.intervals(of: feeds)
        selection.shownNames.replace(with: FeedSelection.names(of: feeds))
        status?.addresses = Set(feeds.map(\.address))
      })
      .eraseToAnyPublisher()
    let reports =
      follow
      ? source.following(lists)
      : source.reports(every: interval, atMost: count, following: lists, pages) { [weak status] in status?.take($0) }
    try show(reports, of: source, selection, status, in: session)
    try session.finish(closing: source.store)
  }

  /// The intervals of feeds in a list.
  static func intervals(of feeds: [SubscribedFeed]) -> [URL: Duration] {
    Dictionary(feeds.compactMap { feed in feed.interval.map { (feed.address, $0) } }) { first, _ in first }
  }

  /// The updates to show or to run the command for, after the marks of their feeds are known.
  private func updates(
    _ reports: AnyPublisher<FeedReport, Never>, of source: FeedSource, _ selection: FeedSelection,
    _ status: WatchStatus, _ console: Console, failed: @escaping (NothingToShow) -> Void
  ) -> AnyPublisher<Update, Never> {
    let isOnlyNew = new || exec != nil
    let warnings = isOnlyNew ? FailureWarnings(on: console) : nil
    return source.afterMarks(source.finder.reports(of: selection.addresses) { reports })
      .handleEvents(receiveOutput: {
        status.take($0.report)
        warnings?.take($0.report, isTold: true)
      })
      .map { [fromNow] new -> NewImages in
        // A restart isn't a first load: images that arrived in between are new.
        guard fromNow, new.isFirst else { return new }
        source.finder.markShown(new)
        var old = new
        old.positions = []
        return old
      }
      .flatMap(maxPublishers: .max(1)) { new -> AnyPublisher<Update, Never> in
        guard case .failure(let error) = new.report.result else { return Just(.images(new)).eraseToAnyPublisher() }
        return source.explain(error, for: new.report.address)
          .handleEvents(receiveOutput: failed)
          .map { .failure($0) }
          .eraseToAnyPublisher()
      }
      .filter { !isOnlyNew || $0.isNews }
      .ending(after: count) { $0.images != nil }
  }

  /// Shows reports, either from polls or from the cache.
  private func show(
    _ reports: AnyPublisher<FeedReport, Never>, of source: FeedSource, _ selection: FeedSelection,
    _ status: WatchStatus,
    in session: Session
  ) throws {
    let screen = FeedScreen(load, of: selection, on: session, source.marks, isRepeated: true)
    let command = try exec.map { ItemCommand(shell ? ["/bin/sh", "-c", $0] : try CommandWords.split($0), on: session) }
    session.command = command
    let saver = saveImages ? ImageSaver(for: load.common, budget, client: source.client, on: session) : nil
    let shown = updates(reports, of: source, selection, status, session.console) {
      session.console.showFailure(screen.text(of: $0))
    }
    session.run(shown) { [new, isExec = command != nil] update in
      if case .failure(let failure) = update { return isExec && !new ? [] : screen.bytes(of: failure) }
      guard let update = update.images, let feed = update.report.feed else { return [] }
      let address = update.report.address
      if new { return screen.bytes(of: feed, at: address, onlyNew: update.positions) }
      return isExec ? [] : screen.bytes(of: feed, at: address, new: update.isFirst ? [] : update.positions)
    } written: { update, written in
      guard let update = update.images else { return written() }
      let done = {
        guard let saver, let feed = update.report.feed else { return written() }
        saver.save([(update.report.address, feed.images)], isTold: false, then: written)
      }
      guard let command, let feed = update.report.feed else {
        source.finder.markShown(update)
        return done()
      }
      let address = update.report.address
      // Create the list off the loop, because it may be long.
      SerialWorker(on: session.loop).perform {
        FeedTimeline(screen.member(feed, address), at: update.positions)
      } completion: { (timeline: Result<FeedTimeline, Never>) in
        command.run(timeline.get()) { entry in
          source.finder.markShown(entry.image.id, of: address)
        } then: {
          source.finder.markShown(update)
          done()
        }
      }
    }
  }
}

/// A report to show.
private enum Update: Sendable {
  case images(NewImages)
  case failure(NothingToShow)

  var images: NewImages? { if case .images(let images) = self { images } else { nil } }

  /// True if the report has new images, or is a failure.
  var isNews: Bool { images.map { !$0.positions.isEmpty } ?? true }
}

extension Publisher where Failure == Never {
  /// Completes after `count` values that match; if there is no count, never completes on its own.
  fileprivate func ending(
    after count: Int?, _ counts: @escaping (Output) -> Bool
  ) -> AnyPublisher<Output, Never> {
    guard let count else { return eraseToAnyPublisher() }
    return scan((value: Output?.none, number: 0)) { state, value in
      (value, state.number + (counts(value) ? 1 : 0))
    }
    .flatMap(maxPublishers: .max(1)) { state in
      (state.number == count ? [state.value, nil] : [state.value]).publisher
    }
    .prefix { $0 != nil }
    .compactMap { $0 }
    .eraseToAnyPublisher()
  }
}
