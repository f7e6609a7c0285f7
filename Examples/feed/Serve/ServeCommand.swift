import ArgumentParser
import FeedFleet
import FeedFormats
import FeedHTTPServer
import FeedPolling
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// `feed serve`: a live page of feeds.
struct ServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Show feeds on a web page that stays up to date.",
    discussion: """
      The page's address is written to standard output; Ctrl-C ends it. Next to the page there are /feed.json (JSON Feed), \
      /feed.atom, /events (Server-Sent Events), /health, /metrics (Prometheus), /slideshow?every=30s and \
      /frame.png?w=800&h=480&palette=gray4 for frames of electronic paper. Browsers on this machine alone reach \
      it; another --host needs the token that is part of the address.

      With --store it is a gateway: it shows what the workers of a fleet find, the first 1,000 feeds unless addresses are given. \
      There may be any number of them; a client of one goes on with another where it stopped. A gateway has no history, search \
      and stars: those are in a cache file.

      Started by a socket of systemd, it listens there, and --host and --port don't count.

      Examples:
        feed serve https://example.com/feed.json
        feed serve --opml subscriptions.opml --every 5m
        feed serve --store redis://db.example
        feed serve --host 0.0.0.0 --port 9000 https://example.com/feed.json
      """)

  @Argument(
    help: ArgumentHelp("The feeds' addresses, http or https; the subscriptions unless given.", valueName: "url"),
    transform: FeedAddress.parse)
  var addresses: [URL] = []

  @Option(help: ArgumentHelp("A list of feeds, as feed readers export it.", valueName: "file"), completion: .file())
  var opml: String?

  @Option(
    help: ArgumentHelp(
      "Only the feeds of this folder of the list; repeat it for a folder within a folder.", valueName: "name"))
  var folder: [String] = []

  @Option(help: ArgumentHelp("The numeric address to listen at.", valueName: "address"))
  var host = "127.0.0.1"

  @Option(help: ArgumentHelp("The port to listen at; 0 for any that is free.", valueName: "port"))
  var port = 8080

  @Option(
    help: ArgumentHelp(
      "How long to wait between two loads of a feed at least; servers may ask for more. (default: 15m)",
      valueName: "duration"),
    transform: DurationArgument.init(positive:))
  var every = DurationArgument(.seconds(15 * 60))

  @Option(
    help: ArgumentHelp(
      "How many of the latest images to load before somebody looks, so that the page has them offline; 0 for none.",
      valueName: "count"))
  var imagesAhead = 60

  @Option(
    help: ArgumentHelp(
      "The token that requests need, or FEED_TOKEN of the environment; one is made for a host that others reach.",
      valueName: "text"))
  var token: String?

  @Option(help: ArgumentHelp("Another name under which the page is reached.", valueName: "name"))
  var allowHost: [String] = []

  @Option(
    help: ArgumentHelp(
      "The numeric address of a proxy in front on another machine, whose connections are many clients'.",
      valueName: "address"))
  var proxy: [String] = []

  @Option(
    help: ArgumentHelp("How long a request may take in all. (default: 30s)", valueName: "duration"),
    transform: DurationArgument.init(positive:))
  var timeout = DurationArgument(.seconds(30))

  @Option(
    help: ArgumentHelp(
      "Show the feeds of a fleet, such as redis://host, which feed work polls, instead of asking their servers.",
      valueName: "address"), transform: StoreArgument.init(parsing:))
  var store: StoreArgument?

  @OptionGroup var trust: TrustOptions

  @OptionGroup var common: CommonOptions

  /// Others see arguments in the list of processes, and not the environment.
  private var chosenToken: String? { token ?? ProcessInfo.processInfo.environment["FEED_TOKEN"] }

  func validate() throws {
    guard (0...2_000).contains(imagesAhead) else {
      throw ValidationError("--images-ahead is a number from 0 to 2000.")
    }
    if store != nil, !folder.isEmpty { throw ValidationError("--folder is for a list in a file, not for --store.") }
    if store != nil, opml != nil { throw ValidationError("--store has its own list; leave --opml out.") }
    guard (0...65_535).contains(port) else { throw ValidationError("A port is a number from 0 to 65535.") }
    guard host == "localhost" || Door.isAddress(host) else {
      throw ValidationError(
        "--host needs a local IP address: 0.0.0.0 for all, or one of those that \"ip address\" shows.")
    }
    if let wrong = proxy.first(where: { !Door.isAddress($0) }) {
      throw ValidationError("--proxy needs an IP address, and \(wrong.printable) isn't one.")
    }
    let isPlain = { (byte: UInt8) in byte > 0x20 && byte < 0x7F && !";,\"&+%#".utf8.contains(byte) }
    if let chosenToken, chosenToken.isEmpty || !chosenToken.utf8.allSatisfy(isPlain) {
      throw ValidationError("A token, of --token or FEED_TOKEN, needs letters and digits.")
    }
  }

  func run() throws {
    let selection = try store == nil ? FeedSelection(addresses: addresses, opml: opml, folder: folder) : nil
    let feeds = selection.map { $0.subscriptions.map(Gallery.Name.init) } ?? []
    try common.checkImages()
    let secret = try PageSecret.kept(besideCacheAt: common.cachePath)
    let session = Session(verbose: common.verbose, quiet: common.quiet)
    let store = SQLiteFeedStore(cacheAt: common.cachePath, keeping: common.keep, on: session)
    let cache = FeedCache(store: LoggingStore(store: store, log: session.log), on: session.loop)
    session.cache = cache
    let client = ObservedClient(client: trust.client(on: session.loop), observer: nil, log: session.log)
    let gallery = Gallery(feeds, every: every.duration, secret: secret, isShared: self.store != nil, on: session.loop)
    let address = host == "localhost" ? "127.0.0.1" : host
    do throws(SystemError) {
      let passed = try SocketAddress.passed()
      let places = passed.isEmpty ? [.internet(address, port: port)] : passed
      let server = try HTTPServer(at: places, limits: limits, on: session.loop)
      server.onError = { [console = session.console] in console.warn("\($0.method) \($0.path): \($0.error)") }
      let door = Door(
        host: passed.isEmpty ? address : Door.widest(server.addresses), token: chosenToken, names: allowHost,
        secret: secret)
      let fleet = self.store.map { session.fleet(at: $0) }
      let images = common.imageStore
      let shown = Pictures(pictures(client, in: images, on: session), PictureFiles(images, on: session.loop))
      let history =
        fleet == nil
        ? GalleryHistory(FeedHistory(store: store, cache: cache), of: gallery) {
          [console = session.console] in console.warn("\($0)")
        } : nil
      shown.teach(gallery)
      let ahead = GalleryAhead(gallery, shown, count: imagesAhead, on: session.loop)
      session.keep(AnyCancellable { withExtendedLifetime(ahead) {} })
      let site = Site(gallery, shown, door, server, history: history, fleet: fleet) {
        [console = session.console] in console.warn($0)
      }
      session.keep(server.serve(site.routes, behind: door))
      session.keep(AnyCancellable { server.close() })
      if let selection { session.keep(follow(selection, gallery, client, cache, store, on: session)) }
      if let place = self.store, let fleet {
        let gateway = Gateway(gallery, place.address, session.console, session.storeReporter())
        let follower = FleetFollower(addresses.isEmpty ? nil : addresses, in: fleet, on: session.loop)
        session.keep(follower.sink { gateway.take($0) })
      }
      session.print(Array("\(site.place(port: server.address?.port ?? port))\n".utf8))
    } catch {
      session.fail("\(error)\(Self.advice(error.code))".printable)
    }
    try session.finish(closing: store)
  }

  private static func advice(_ code: Int32) -> String {
    switch code {
    case EADDRINUSE: "; another program listens there: choose another --port, or 0 for any that is free"
    case EACCES: "; ports below 1024 are for the administrator: choose another --port"
    case EADDRNOTAVAIL: "; this machine does not have that address: choose another --host"
    default: ""
    }
  }

  private var limits: HTTPServer.Limits {
    var limits = HTTPServer.Limits()
    // Nothing is sent to this server but requests for what there is.
    limits.bodyBytes = 4 * 1024
    // Most are event streams, which do nothing for minutes.
    limits.connections = ConnectionLimit.raised(upTo: 16_384)
    limits.connectionsPerAddress = 1_024
    limits.wholeBodyBytes = 64 << 20
    let proxies = Set(proxy.map { SocketAddress.internet($0, port: 0).client })
    let isLocal = limits.isUnlimited
    limits.isUnlimited = { isLocal($0) || proxies.contains($0.client) }
    return limits
  }

  /// Polls the feeds, into the gallery.
  private func follow(
    _ selection: FeedSelection, _ gallery: Gallery, _ client: ObservedClient, _ cache: FeedCache,
    _ store: SQLiteFeedStore, on session: Session
  ) -> AnyCancellable {
    let (console, loop) = (session.console, session.loop)
    var options = FeedLoader.Options()
    options.maxAge = common.maxAge.duration
    options.timeout = timeout.duration
    options.report = { console.warn("\($0)") }
    let poll = { [every] (feed: SubscribedFeed) -> PolledAddress in
      var polled = PolledAddress(feed.address, every: feed.interval ?? every.duration, options: options)
      let headers = RequestOptions(of: feed).headers(for: feed.address)
      if !headers.isEmpty { polled.client = client.sending(headers, to: feed.address) }
      return polled
    }
    var places = Self.places(of: selection.subscriptions)
    var polling = FeedPoller.Options()
    polling.report = options.report
    polling.onDecision = { [isVerbose = common.verbose, unowned loop] address, decision in
      if isVerbose {
        console.report("\(address.shown): \(ExplanationText(style: .plain, now: Date()).line(decision))")
      }
      // What the decision is about is delivered after it.
      loop.schedule { if let place = places[address] { gallery.noteCheck(of: place) } }
    }
    var poller = FeedPoller(
      selection.subscriptions.map(poll), client: client, cache: cache, store: store, on: loop, options: polling)
    if let list = selection.list {
      session.takeHangups()
      poller = poller.following(
        list.changes(on: session).map { feeds in
          places = Self.places(of: feeds)
          gallery.follow(feeds.map(Gallery.Name.init))
          console.note("The list has changed: it has \(FleetStatusText.count(feeds.count, "feed")) now")
          return feeds.map(poll)
        })
    }
    return
      poller
      .sink { if let place = places[$0.address] { gallery.take($0.result, from: place) } }
  }

  /// Where each feed is in the gallery.
  private static func places(of feeds: [SubscribedFeed]) -> [URL: Int] {
    Dictionary(feeds.enumerated().map { ($1.address.absoluteURL, $0) }) { first, _ in first }
  }
}

extension Gallery.Name {
  init(_ feed: SubscribedFeed) {
    self.init(address: feed.address, title: feed.title, interval: feed.interval, folders: feed.folders)
  }
}
