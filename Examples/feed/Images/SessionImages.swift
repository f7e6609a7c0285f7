import FeedHTTP
import FeedStream
import ImageFeed

extension CommonOptions {
  /// The images, kept next to the feeds; the same for every command. Images of starred items don't count toward the
  /// limit. The starred items are read through the session's open cache, if there is one.
  func imageStore(in session: Session) -> DiskImageStore {
    let isOpen = session.store != nil
    let feeds = session.store ?? SQLiteFeedStore(path: cachePath)
    return DiskImageStore(folder: imageFolder, limit: imageCacheSize.bytes) { () throws(FeedStoreError) in
      defer { if !isOpen { feeds.close() } }
      return try feeds.starredImages()
    }
  }
}

extension ImageLoader {
  /// The images of a session, kept next to its feeds.
  convenience init(for common: CommonOptions, client: any HTTPClient, on session: Session) {
    self.init(client: client, cache: ImageCache(store: common.imageStore(in: session), on: session.loop)) {
      [console = session.console] in
      console.warn($0)
    }
  }
}

extension ImageDecoder {
  /// A decoder, which warns once if the program is installed but can't be run. A session may have two, whose warnings
  /// name different consequences.
  ///
  /// - Parameter consequence: a sentence for the warning.
  convenience init(on session: Session, without consequence: String) {
    self.init(on: session.loop)
    onUnavailable = { [console = session.console] in console.warn("\($0) \(consequence)") }
  }
}

extension SizedImageLoader {
  /// The images of a session in several sizes, if the decoder is installed.
  ///
  /// - Parameter unsaved: called when an original couldn't be saved, after the warning.
  convenience init(
    _ store: DiskImageStore, client: any HTTPClient, on session: Session, unsaved: @escaping () -> Void = {}
  ) {
    let cache = ImageCache(store: store, on: session.loop)
    let report: (FeedStoreError) -> Void = { [console = session.console] in console.warn($0) }
    let loader = ImageLoader(client: client, cache: cache) {
      report($0)
      unsaved()
    }
    let decoder = ImageDecoder(on: session, without: "Images aren't resized.")
    if !decoder.isAvailable {
      session.console.warn("image-decoder isn't installed next to feed; images aren't resized.")
    }
    session.keep(AnyCancellable { decoder.close() })
    self.init(loader, cache: cache, decoder: decoder, reportingTo: report)
  }
}
