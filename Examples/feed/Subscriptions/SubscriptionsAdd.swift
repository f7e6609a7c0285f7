import ArgumentParser
import FeedFormats
import FeedHTTP
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// `feed subscriptions add`: adds feeds to the list, or changes their settings.
struct SubscriptionsAdd: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add feeds to the list, or change their settings.",
    discussion: """
      Each feed is loaded and saved first. For a web page, adds the feed that it links to, not counting comment \
      feeds. If there are several, asks which to add; without a terminal, only lists them. A URL without a feed is refused \
      unless you use --force. A feed that is already in the list isn't loaded; its title, folder, interval and \
      credentials are updated if you specify them. With --store, nothing is loaded.
      """)

  @Argument(
    help: ArgumentHelp("The URLs of feeds, or of web pages that link to them.", valueName: "url"),
    transform: FeedAddress.parse)
  var addresses: [URL]

  @Option(help: ArgumentHelp("The feed's title in the list.", valueName: "text"))
  var title: String?

  @Option(help: ArgumentHelp("The folder for the feed; repeat the option for a nested folder.", valueName: "name"))
  var folder: [String] = []

  @Option(
    help: ArgumentHelp(
      "Minimum time between loads by serve, watch and browse, such as 15m.", valueName: "duration"),
    transform: DurationArgument.init(positive:))
  var every: DurationArgument?

  @Flag(help: "Add the URL even if it isn't a feed or can't be loaded now.")
  var force = false

  @Option(
    help: ArgumentHelp("Time limit for each request. (default: 30s)", valueName: "duration"),
    transform: DurationArgument.init(positive:))
  var timeout = DurationArgument(.seconds(30))

  /// The maximum length of a title that a feed gives itself, in Unicode scalars.
  private static let longestTitle = 200

  @OptionGroup var options: SubscriptionOptions

  @OptionGroup var request: RequestOptions

  @OptionGroup var trust: TrustOptions

  @OptionGroup var common: CommonOptions

  func validate() throws {
    try checkFolders(folder)
    guard title?.hasVisibleCharacter ?? true else {
      throw ValidationError("A title needs at least one visible character.")
    }
    guard title == nil || addresses.count == 1 else {
      throw ValidationError("--title is for one feed; add the feeds one at a time.")
    }
  }

  func run() throws {
    if let fleet = options.fleet {
      guard title == nil, folder.isEmpty, every == nil else {
        throw ValidationError("A fleet's list has only URLs; leave out --title, --folder and --every.")
      }
      guard request.header.isEmpty, request.user == nil, !request.netrc, request.netrcFile == nil else {
        throw ValidationError(
          "A fleet's list has no credentials; leave out --header, --user, --netrc and --netrc-file. Workers read "
            + "credentials from their own list (\"feed work --opml\").")
      }
      return try fleet.add(addresses, on: Session(common))
    }
    guard request.netrcFile == nil else {
      throw ValidationError("The list can't store --netrc-file; use --netrc, --user or --header.")
    }
    try request.check(for: addresses)
    let file = try options.list.file()
    let listed = try file.read()?.subscriptions.map(\.address) ?? []
    let known = Dictionary(listed.map { (FeedAddress.requested($0), $0) }) { first, _ in first }
    let session = Session(common)
    let (store, cache) = session.openCache(common)
    let client = ObservedClient(client: trust.client(on: session.loop), log: session.log)
    var choices = FeedLoader.Options()
    choices.timeout = timeout.duration
    choices.pageImages = PageImageBook(store)
    let finder = FeedFinder(client: client, cache: cache, options: choices, session: session)
    let lines = addresses.publisher.concatMap { address -> AnyPublisher<Result<String, SubscriptionFileError>, Never> in
      let address = FeedAddress.requested(address)
      if let listed = known[address] { return keep(listed, nil, in: file, on: session) }
      return finder.feeds(at: address, sending: request.headers(for: address))
        .flatMap { found in
          let isSent = found.address.hasSameOrigin(as: address) || !hasCredentials
          if !isSent { reportOtherOrigin(found.address, address, session.console) }
          return keep(known[found.address] ?? found.address, found, sending: isSent, in: file, on: session)
            .setFailureType(to: RemoteFeedError.self)
        }
        .catch { error in refused(address, error, in: file, on: session) }
        .eraseToAnyPublisher()
    }
    session.run(lines) { result in
      (try? result.get()) ?? ""
    } written: { result, done in
      if case .failure(let error) = result { session.fail("\(error)".printable) }
      done()
    }
    try session.finish(closing: store)
  }

  /// The command to add a URL with the same settings.
  private var command: String {
    var words = ["feed subscriptions add"]
    if let opml = options.list.opml { words += ["--opml", opml.shellWord] }
    if let title { words += ["--title", title.shellWord] }
    for name in folder { words += ["--folder", name.shellWord] }
    if let every { words += ["--every", every.description] }
    return words.joined(separator: " ")
  }

  private var hasCredentials: Bool { !request.header.isEmpty || request.user != nil || request.netrc }

  /// Says that the credentials for a page aren't saved for its feed, which has another origin.
  private func reportOtherOrigin(_ feed: URL, _ page: URL, _ console: Console) {
    console.warn(
      "\(feed.shown) has another scheme, host or port than \(page.shown), so the header fields and credentials for the "
        + "page are not saved for the feed.")
    let words = [command, feed.shown.shellWord] + request.placeholders
    console.hint("if they are for the feed, too, run \"\(words.joined(separator: " "))\"")
  }

  /// Adds a feed to the list, or changes its settings, and reports the result.
  ///
  /// - Parameter isSent: false if the header fields and credentials belong to another origin.
  private func keep(
    _ address: URL, _ found: FeedFinder.Found?, sending isSent: Bool = true, in file: SubscriptionFile,
    on session: Session
  ) -> AnyPublisher<Result<String, SubscriptionFileError>, Never> {
    // Keep a title that the user has chosen.
    let change = SubscribedFeed(
      address: address, title: title, folders: folder, interval: every?.duration,
      headers: isSent ? request.header : [], user: isSent ? request.user : nil, usesNetrc: isSent && request.netrc)
    // A feed may claim a title of megabytes.
    let wanted = change.titled(title ?? found?.title.map { String($0.unicodeScalars.prefix(Self.longestTitle)) })
    return SerialWorker(on: session.loop).publisher {
      Result { () throws(SubscriptionFileError) in
        try file.update { list -> String in
          let before = list
          let isKnown = list.subscriptions.contains { $0.address == address }
          list.add(isKnown ? change : wanted)
          return Self.text(address, found, wanted, isNew: !isKnown, isChanged: list != before)
        }
      }
    }
    .eraseToAnyPublisher()
  }

  private static func text(
    _ address: URL, _ found: FeedFinder.Found?, _ feed: SubscribedFeed, isNew: Bool, isChanged: Bool
  ) -> String {
    guard isNew else {
      guard isChanged else { return "\(address.shown) is already in the list\n" }
      let place = feed.folders.isEmpty ? "" : "; its folder is \(feed.folders.joined(separator: " / ").printable)"
      return "Changed \(address.shown)\(place)\n"
    }
    guard let found else { return "Added \(address.shown)\n" }
    // The list leaves out control characters.
    let name = feed.title.map { "\(plainLine($0).printable(limit: 200)), " } ?? ""
    let rest = found.itemsWithoutImages
    let others = rest > 0 ? " (\(rest) \(rest == 1 ? "item has" : "items have") no image)" : ""
    return "Added \(name)\(counted(found.images, "image"))\(others): \(address.shown)\n"
  }

  /// Adds a URL that isn't a feed if `--force` is given; otherwise, reports why it is refused.
  private func refused(
    _ address: URL, _ error: RemoteFeedError, in file: SubscriptionFile, on session: Session
  ) -> AnyPublisher<Result<String, SubscriptionFileError>, Never> {
    if force {
      session.console.warn("\(error)")
      return keep(address, nil, in: file, on: session)
    }
    if case .invalidData(.severalFeeds(let links)) = error {
      session.fail("not added: \(address.shown) is a web page that links to \(links.count) feeds")
      session.console.hint(NothingToShow.choice(of: links, at: address, for: command, with: request.placeholders))
      return Empty().eraseToAnyPublisher()
    }
    session.fail("not added: \(address.shown): \("\(error)".printable)")
    if case .invalidData(.listOfFeeds) = error {
      session.console.hint("save the list as a file; then run \"feed subscriptions import <file>\"")
    } else {
      session.console.hint("use --force to add it anyway")
    }
    return Empty().eraseToAnyPublisher()
  }
}

extension SubscribedFeed {
  fileprivate func titled(_ title: String?) -> SubscribedFeed {
    var copy = self
    copy.title = title
    return copy
  }
}
