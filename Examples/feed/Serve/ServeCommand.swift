import ArgumentParser
import FeedFleet
import FeedHTTPServer
import FeedPolling
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// `feed serve`: serves a live page of feeds.
struct ServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve feeds as a web page that updates itself.",
    discussion: """
      Writes the page's URL to standard output. To stop the server, press Ctrl-C or send SIGTERM; responses in \
      progress have up to a second to complete. The server also serves /feed.json (JSON Feed), /feed.atom, /events \
      (Server-Sent Events), /health, /metrics (Prometheus), /slideshow?every=30s and \
      /frame.png?w=800&h=480&palette=gray4 for e-paper displays. By default, only programs on this machine can reach \
      the server; with a different --host, clients need the token in the printed URL.

      With --store, the server is a gateway: it shows the feeds that a fleet's workers poll, either the first 1,000 or \
      those whose URLs you pass. You can run any number of gateways; a client can switch to another gateway and \
      continue where it left off. A gateway has no history, search or stars, because these need a cache file.

      If systemd starts the server by socket activation, the server listens on systemd's socket and ignores --host and \
      --port.

      Examples:
        feed serve https://example.com/feed.json
        feed serve --opml subscriptions.opml --every 5m
        feed serve --store redis://db.example
        feed serve --host 0.0.0.0 --port 9000 https://example.com/feed.json
      """)

  @OptionGroup var list: FeedListOptions

  @Option(help: ArgumentHelp("The IP address to listen on.", valueName: "address"))
  var host = "127.0.0.1"

  @Option(help: ArgumentHelp("The port to listen on; 0 for any free port.", valueName: "port"))
  var port = 8080

  @Option(
    help: ArgumentHelp(
      "Number of event loops, each on its own thread, that serve clients; use more if one core is fully loaded.",
      valueName: "count"))
  var loops = 1

  @Option(
    help: ArgumentHelp(
      "Minimum time between loads of a feed; servers may request a longer interval, and a feed's own interval in the list "
        + "takes precedence. (default: 15m)",
      valueName: "duration"),
    transform: DurationArgument.init(positive:))
  var every = DurationArgument(.seconds(15 * 60))

  @Option(
    help: ArgumentHelp(
      "For how many of the latest items to load the images before anyone opens the page, for offline use; 0 for none.",
      valueName: "count"))
  var imagesAhead = 1_000

  @OptionGroup var ahead: ImageBudgetOption

  @Option(
    help: ArgumentHelp(
      "The token that clients must send. (default: $FEED_TOKEN, or generated if other machines can reach --host)",
      valueName: "text"))
  var token: String?

  @Option(
    help: ArgumentHelp("Also accept requests for this host name; may be repeated.", valueName: "name"),
    transform: AccessRules.allowedName)
  var allowHost: [String] = []

  @Option(
    help: ArgumentHelp(
      "IP address of a reverse proxy on another machine, exempt from the per-client connection limit; may be repeated.",
      valueName: "address"))
  var proxy: [String] = []

  @Option(
    help: ArgumentHelp("Time limit for each request. (default: 30s)", valueName: "duration"),
    transform: DurationArgument.init(positive:))
  var timeout = DurationArgument(.seconds(30))

  @Option(
    help: ArgumentHelp(
      "Show the feeds of the fleet on this server, such as redis://host, instead of polling feeds.",
      valueName: "url"), transform: StoreArgument.init(parsing:))
  var store: StoreArgument?

  @Option(
    help: ArgumentHelp(
      """
      This server's public URL, where hubs (WebSub) announce changes to feeds; if you set it, this server is also a hub \
      for its own feeds.
      """,
      valueName: "url"), transform: FeedAddress.parse)
  var publicUrl: URL?

  @OptionGroup var pages: PageImageOption

  @OptionGroup var trust: TrustOptions

  @OptionGroup var common: CommonOptions

  /// The token; other users can see arguments in process listings, but not the environment.
  var chosenToken: String? { token ?? ProcessInfo.processInfo.environment["FEED_TOKEN"] }

  func validate() throws {
    guard (0...2_000).contains(imagesAhead) else {
      throw ValidationError("--images-ahead must be from 0 to 2000.")
    }
    if store != nil, !list.folder.isEmpty {
      throw ValidationError("--folder is for a list in a file, not for --store.")
    }
    if store != nil, publicUrl != nil {
      throw ValidationError("With --store, serve polls no feeds; leave out --public-url.")
    }
    if store != nil, list.opml != nil { throw ValidationError("--store has its own list; leave out --opml.") }
    guard (1...64).contains(loops) else { throw ValidationError("--loops must be from 1 to 64.") }
    guard (0...65_535).contains(port) else { throw ValidationError("--port must be from 0 to 65535.") }
    guard host == "localhost" || AccessRules.isAddress(host) else {
      throw ValidationError(
        "--host needs a local IP address: 0.0.0.0 for all, or one that \"ip address\" shows.")
    }
    if let wrong = proxy.first(where: { !AccessRules.isAddress($0) }) {
      throw ValidationError("--proxy needs an IP address, and \(wrong.printable) isn't one.")
    }
    let isPlain = { (byte: UInt8) in byte > 0x20 && byte < 0x7F && !";,\"&+%#".utf8.contains(byte) }
    if let chosenToken, chosenToken.isEmpty || !chosenToken.utf8.allSatisfy(isPlain) {
      throw ValidationError(
        "--token or FEED_TOKEN needs printable ASCII characters, without spaces or any of ; , \" & + % #.")
    }
  }

  func run() throws {
    let selection = try store == nil ? list.selection() : nil
    let feeds = selection.map { $0.subscriptions.map(Gallery.Name.init) } ?? []
    try common.checkImages()
    let secret = try PageSecret.kept(besideCacheAt: common.cachePath)
    let session = Session(common)
    let (store, cache) = session.openCache(common)
    let signer = trust.configuration().signer
    let sent = SentRequests()
    let client = ObservedClient(
      client: sent.counting(trust.client(on: session.loop)), log: session.log)
    let shared = loops > 1 ? Gallery.Shared(hasOthers: self.store != nil) : nil
    let fleet = self.store.map { session.fleet(at: $0) }
    let gallery = Gallery(
      feeds, every: fleet == nil ? every.duration : nil, secret: secret, isShared: fleet != nil, sharing: shared,
      on: session.loop)
    let shown = images(of: gallery, client, on: session)
    let history =
      fleet == nil
      ? GalleryHistory(FeedHistory(store: store, cache: cache), of: gallery) {
        [console = session.console] in console.warn($0)
      } : nil
    let hubs = publicUrl.map {
      HubSubscriber(
        at: $0.appendingPathComponent(String(Site.pushPath.dropFirst().dropLast())), client: client, on: session.loop)
    }
    session.keep(AnyCancellable { hubs?.cancel() })
    var serving: Serving?
    do {
      let started = try serve(on: session, sharing: shared, secret: secret) { access in
        var site = Site(
          gallery, shown, access, history: history, fleet: fleet, served: ServedRequests(log: session.log),
          on: session.loop, loop: LoopFigures(of: session.loop)
        ) { [console = session.console] in console.warn($0) }
        site.sent = sent
        site.hubs = hubs
        site.signer = signer
        if let publicUrl {
          let hub = site.hub(at: publicUrl, client, store, cache)
          hub.report = { [console = session.console] in console.warn($0) }
          site.hub = hub
          session.keep(gallery.news.sink { hub.changed() })
          session.keep(AnyCancellable { hub.cancel() })
        }
        return site
      }
      serving = started
      session.stopping = started.stop
      session.takeHangups(readingLists: selection?.list != nil)
      if let selection { session.keep(follow(selection, gallery, client, cache, store, hubs, on: session)) }
      if let place = self.store, let fleet {
        let gateway = Gateway(
          gallery, place.address, session.console, log: session.log, session.storeReporter())
        let follower = FleetFollower(list.addresses.isEmpty ? nil : list.addresses, in: fleet, on: session.loop)
        session.keep(follower.sink { gateway.take($0) })
      }
      session.print(Array("\(started.place)\n".utf8))
    } catch let error as SystemError {
      session.fail("\(error)\(advice(error.code))".printable)
    } catch {
      session.fail("\(error)".printable)
    }
    try session.finish {
      serving?.shutdown()
      store.close()
    }
  }

  /// The images of the gallery, the latest of which are loaded before anyone opens the page.
  private func images(of gallery: Gallery, _ client: ObservedClient, on session: Session) -> ServedImages {
    let images = common.imageStore(in: session)
    let shown = ServedImages(
      SizedImageLoader(images, client: client, on: session), ImageFiles(images, on: session.loop))
    shown.teach(gallery)
    let ahead = GalleryAhead(
      gallery, shown, count: imagesAhead, within: self.ahead.budget(within: common), on: session.loop)
    session.keep(AnyCancellable { withExtendedLifetime(ahead) {} })
    return shown
  }
}
