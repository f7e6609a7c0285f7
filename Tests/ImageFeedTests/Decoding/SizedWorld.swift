import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeedTesting
import TestSupport

@testable import ImageFeed

/// Image servers and a scripted decoder in virtual time.
final class SizedWorld {
  let images: ImageWorld
  let loader: SizedImageLoader
  /// The widths that were requested from the decoder.
  private(set) var asked: [Int] = []
  var originalSide = 2_000
  var smallBytes = 100
  /// The bytes of each resized image, by its width; ``smallBytes`` for others.
  var bytesByWidth: [Int: Int] = [:]
  /// The decoder's reaction; a resized image if that is `nil`.
  var answer: (() -> ScriptedDecoding?)?
  private(set) var reported: [FeedStoreError] = []

  init(store: any ImageStore = InMemoryImageStore()) {
    images = ImageWorld(store: store)
    var report: (FeedStoreError) -> Void = { _ in }
    let decoder = ImageDecoder(program: "image-decoder", on: images.time)
    loader = SizedImageLoader(images.loader, cache: images.cache, decoder: decoder) { report($0) }
    report = { [unowned self] in reported.append($0) }
    images.time.programs.decodeImages(on: images.time) { [unowned self] request in
      asked.append(request.width)
      return answer?() ?? .answer(decoded(request))
    }
  }

  /// Resizes an image as the real decoder does.
  private func decoded(_ request: ImageDecodingRequest) -> ImageDecodingResponse {
    let original = DecodedImage.Size(width: originalSide, height: originalSide)
    let side = min(originalSide, request.width)
    return ImageDecodingResponse(
      .decoded, size: DecodedImage.Size(width: side, height: side), originalSize: original, form: .png,
      body: Chunk(
        Array(makePNG(UInt8(truncatingIfNeeded: request.width / 100), count: bytesByWidth[request.width] ?? smallBytes))
      ))
  }

  func small(_ width: Int) throws -> ImageData {
    try ImageData(makePNG(UInt8(truncatingIfNeeded: width / 100), count: bytesByWidth[width] ?? smallBytes))
  }

  func serve(_ bytes: Data, lifetime: Int = 1_000) {
    let tag = "\"\(bytes.hashValue)\""
    images.network.serve("images.example") { request, _ in
      let isKnown = request.request.headers.contains { $0.name == "If-None-Match" && $0.value == tag }
      let headers = HTTPHeaders([("ETag", tag), ("Cache-Control", "max-age=\(lifetime)")])
      return .answer(status: isKnown ? 304 : 200, headers: headers, isKnown ? Data() : bytes)
    }
  }

  func restarted() -> SizedWorld {
    let world = SizedWorld(store: images.store)
    world.images.clock.now = images.clock.now
    world.bytesByWidth = bytesByWidth
    return world
  }

  func outcome(width: Int?) -> Result<LoadedImage, SizedImageError>? {
    var result: Result<LoadedImage, SizedImageError>?
    let subscription = loader.data(for: imageURL, width: width).asResult().sink { result = $0 }
    images.time.run()
    subscription.cancel()
    return result
  }

  func ahead(within room: Int) -> Result<SizedImageLoader.Ahead, SizedImageError>? {
    var result: Result<SizedImageLoader.Ahead, SizedImageError>?
    let feed = URL(string: "https://images.example/feed")!
    let subscription = loader.ahead(imageURL, of: feed, isPrivate: nil, within: room).asResult().sink { result = $0 }
    images.time.run()
    subscription.cancel()
    return result
  }
}
