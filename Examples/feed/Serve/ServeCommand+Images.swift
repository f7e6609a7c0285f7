import FeedStream
import ImageFeed

extension ServeCommand {
  /// The images, which are kept next to the feeds, and resized if the decoder is installed.
  func imageLoader(
    _ client: ObservedClient, in store: DiskImageStore, on session: Session
  ) -> SizedImageLoader {
    let cache = ImageCache(store: store, on: session.loop)
    let report: (FeedStoreError) -> Void = { [console = session.console] in console.warn("\($0)") }
    let loader = ImageLoader(client: client, cache: cache, reportingTo: report)
    let decoder = ImageDecoder(on: session.loop)
    if !decoder.isAvailable {
      session.console.warn("image-decoder isn't installed next to feed; images aren't resized.")
    }
    session.keep(AnyCancellable { decoder.close() })
    return SizedImageLoader(loader, cache: cache, decoder: decoder, reportingTo: report)
  }
}
