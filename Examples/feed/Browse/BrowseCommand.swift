import ArgumentParser
import FeedStream
import Foundation
import ImageFeed
import PlainText
import TerminalImages

/// `feed browse`: shows the images of feeds on the whole screen.
struct BrowseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "browse",
    abstract: "Browse the images of feeds in a full-screen terminal view.",
    discussion: """
      Move with the arrow keys, enlarge with Enter, open the post in a browser with O, star with *, search with /, and \
      reload with r; ? shows all keys, and q quits. Feeds are reloaded at the interval set by --every, and updated \
      when another process saves them. Near the end of the list, more pages are loaded; a feed's former items (--keep) \
      follow its last page. Items that are new since your last visit, and those that arrive while you browse, are \
      marked. Click to select, click again to enlarge, and scroll with the wheel; in most terminals, hold Shift to \
      select text with the mouse. Images are drawn with kitty's graphics protocol or sixels if the terminal supports \
      them, otherwise with blocks. The terminal is restored on exit, even after a signal. The exit status is 130 after \
      Ctrl-C, and 1 if there is nothing to show.
      """)

  @OptionGroup var load: LoadOptions

  @Flag(exclusivity: .exclusive) var choice: ReadChoice?

  @Option(
    help: ArgumentHelp(
      "Minimum time between loads of a feed while you browse; servers may request a longer interval, and a feed's own interval "
        + "in the list takes precedence. (default: 15m)",
      valueName: "duration"),
    transform: DurationArgument.init(positive:))
  var every = DurationArgument(.seconds(15 * 60))

  func validate() throws {
    guard load.format == .text else { throw ValidationError("browse has no JSON output; leave out --format json.") }
  }

  func run() throws {
    let selection = try load.list.selection()
    try load.request.check(for: selection.addresses)
    guard Style.isScreen(STDOUT_FILENO) else {
      throw ValidationError("browse needs a terminal; \"feed load --images always\" also works when piped.")
    }
    let isReporting = load.common.log.verbose || load.common.log.logFormat == .json
    guard !isReporting || !Style.isScreen(STDERR_FILENO) else {
      throw ValidationError(
        "browse uses the whole terminal, so --verbose and --log-format json need a file: add 2> browse.log.")
    }
    try load.common.checkImages()
    let session = Session(load.common)
    let terminal = try Terminal(on: session.loop)
    let keeper = TerminalKeeper(farewell: ScreenWriter.leaving(nil))
    let source = FeedSource(load, of: selection, on: session)
    let isOffline = choice == .offline
    let loader = ImageLoader(
      for: load.common, client: isOffline ? OfflineClient() : source.client, on: session)
    let decoder = ImageDecoder(on: session, without: "Images are shown as empty frames.")
    let thumbnails = Thumbnails(loader, decoder, isOffline: isOffline, on: session.loop)
    var browser: Browser?
    let world = Browser.World(
      write: { bytes, done in session.output.write(bytes, then: done) },
      stop: {
        // The shell needs no help with its own terminal.
        keeper.end()
        raise(SIGTSTP)
      },
      isForeground: { StandardTerminal.isForeground },
      woken: { keeper.start() },
      now: { Date() },
      environment: ProcessInfo.processInfo.environment,
      sized: { $0.sized },
      shown: { images, address in source.finder.note(images, of: address) },
      ended: {
        // `Output` drops waiting text when the session ends.
        if let browser { Output.put(browser.leaving, to: STDOUT_FILENO) }
        keeper.end()
        if let browser { Self.judge(browser, in: session) }
        session.end()
      })
    browser = Browser(
      source.feeds.loaders, names: selection.names,
      folders: Dictionary(selection.subscriptions.map { ($0.address, $0.folders) }) { first, _ in first },
      mode: choice?.mode, history: source.history, updates: updates(of: source, selection, on: session), thumbnails,
      terminal,
      size: Self.size, world: world, on: session.loop)
    session.console.onReport = { [weak browser] text in
      browser?.post(.message(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }
    session.keep(AnyCancellable { browser?.end() })
    browser?.start()
    try session.finish(closing: source.store)
  }

  /// The feeds that other processes save, and polls that begin one interval after the first load.
  private func updates(
    of source: FeedSource, _ selection: FeedSelection, on session: Session
  ) -> AnyPublisher<FeedReport, Never> {
    let saved = source.following()
    guard choice != .offline else { return saved }
    let own = WatchCommand.intervals(of: selection.subscriptions)
    let polled = Just(()).delay(for: .init(every.duration), scheduler: session.loop)
      .flatMap { [every] in source.reports(every: { own[$0] ?? every.duration }) }
    return saved.merge(with: polled).eraseToAnyPublisher()
  }

  /// Sets the exit status: the status for a signal after Ctrl-C; or 1, with a message on standard error, if there was
  /// nothing to show.
  private static func judge(_ browser: Browser, in session: Session) {
    session.console.onReport = nil
    if browser.isInterrupted { return session.fail(with: 128 + SIGINT) }
    guard browser.state.hasNothing else { return }
    session.fail()
    for source in browser.state.sources {
      guard let failure = source.failure else { continue }
      session.console.fail("no feed to show for \(source.address.shown): \(failure.printable)")
    }
  }

  private static var size: TerminalSize {
    guard let size = winsize(of: STDOUT_FILENO), size.ws_row > 0 else {
      return TerminalSize(columns: 80, rows: 24)
    }
    return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
  }
}
