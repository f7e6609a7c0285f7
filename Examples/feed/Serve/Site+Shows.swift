import FeedHTTPServer
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// The slideshow, and the image for e-paper displays.
extension Site {
  func slideshow(_ request: WholeRequest) -> Reply {
    guard let every = Self.time(request.query("every"), or: SlideshowPage.usual) else {
      return Self.failed(.badRequest)
    }
    let wish = SlideshowPage.Wish(
      query: GalleryQuery(request, of: gallery), every: every, hasClock: request.query("clock") != nil,
      card: request.query("at"))
    return Self.entries(wish.query, gallery, history)
      .flatMap(maxPublishers: .max(1)) { [gallery, access, images] entries -> Reply in
        let unknown = gallery.unknown(SlideshowPage.place(wish, in: entries).map { [entries[$0]] } ?? [])
        return images.tell(gallery, of: unknown).setFailureType(to: HTTPStatus.self)
          .map {
            // Reading the facts takes a while, in which the list of feeds may have changed.
            let text = SlideshowPage.text(gallery, unknown.isEmpty ? entries : gallery.placed(entries), wish)
            return Self.answer(request, "text/html; charset=utf-8", text, access)
          }
          .eraseToAnyPublisher()
      }
      .eraseToAnyPublisher()
  }

  func frame(_ request: WholeRequest) -> Reply {
    let frame: FrameImage
    do throws(FrameImage.Problem) {
      frame = try FrameImage(
        width: request.query("w"), height: request.query("h"), palette: request.query("palette"))
    } catch {
      return Self.refused("\(error.reason)\n", .badRequest)
    }
    guard let every = Self.time(request.query("every"), or: .zero) else {
      return Self.refused("every must be a duration from 2s to 24h, such as 30s, 15m or 1h.\n", .badRequest)
    }
    return Self.entries(GalleryQuery(request, of: gallery), gallery, history)
      .flatMap(maxPublishers: .max(1)) { [gallery, frames, images] entries -> Reply in
        guard let entry = Self.turn(of: entries, every: every, at: Date()), let named = gallery.image(entry.key)
        else { return Self.refused("There is no image.\n", .notFound) }
        let tag = frame.tag(of: entry.key)
        return images.tell(gallery, of: gallery.unknown([entry]))
          .flatMap(maxPublishers: .max(1)) {
            frames.png(frame, of: named, as: tag, size: gallery.facts[entry.key]?.size)
          }
          .setFailureType(to: HTTPStatus.self).eraseToAnyPublisher()
      }
      .eraseToAnyPublisher()
  }

  /// A duration from the URL; `nil` if it is invalid or out of bounds.
  private static func time(_ text: String?, or usual: Duration) -> Duration? {
    guard let text else { return usual }
    guard let time = try? Duration(parsing: text), SlideshowPage.times.contains(time) else { return nil }
    return time
  }

  /// The latest entry, or each one in turn.
  private static func turn(of entries: [Gallery.Entry], every: Duration, at now: Date) -> Gallery.Entry? {
    guard every > .zero, !entries.isEmpty else { return entries.first }
    return entries[Int(now.timeIntervalSince1970 / (every / .seconds(1))) % entries.count]
  }

  private static func refused(_ reason: String, _ status: HTTPStatus) -> Reply { now(.text(reason, status)) }
}

/// The latest frames: a device requests the same frame until there is a new image.
final class Frames {
  private static let most = 16
  /// The time, in seconds, for which a frame isn't made again. After that, the image at its URL may have changed.
  private static let lifetime = 600.0
  private let images: ServedImages
  private let scheduler: any LoopScheduler
  private var made: [(tag: String, date: Date, bytes: Chunk)] = []

  init(_ images: ServedImages, on scheduler: any LoopScheduler) {
    (self.images, self.scheduler) = (images, scheduler)
  }

  /// - Parameters:
  ///   - tag: identifies this frame of this image.
  ///   - size: the size of the image, if known: with it, the image is decoded only once.
  func png(
    _ frame: FrameImage, of image: Gallery.Named, as tag: String, size: DecodedImage.Size?
  ) -> AnyPublisher<ServerResponse, Never> {
    let now = Date()
    made.removeAll { abs(now.timeIntervalSince($0.date)) > Self.lifetime }
    if let bytes = made.first(where: { $0.tag == tag })?.bytes {
      return Just(Self.response(bytes)).eraseToAnyPublisher()
    }
    let scheduler = scheduler
    let box = frame.box(for: size)
    return images.pixels(of: image, fitting: box)
      .flatMap(maxPublishers: .max(1)) { [images] decoded -> AnyPublisher<DecodedImage, ServedImages.Problem> in
        // An unchanged image must have the same frame, even if its size became known only later.
        let right = frame.box(for: decoded.originalSize)
        guard right == box else { return images.pixels(of: image, fitting: right) }
        return Just(decoded).setFailureType(to: ServedImages.Problem.self).eraseToAnyPublisher()
      }
      .flatMap(maxPublishers: .max(1)) { decoded -> AnyPublisher<Chunk, ServedImages.Problem> in
        SerialWorker(on: scheduler).publisher { () throws(ServedImages.Problem) in Chunk(frame.png(of: decoded)) }
      }
      .map { [self] bytes in
        made = [(tag, now, bytes)] + made.prefix(Self.most - 1)
        return Self.response(bytes)
      }
      .catch { Just(.text("\($0.reason)\n", $0.status)) }
      .eraseToAnyPublisher()
  }

  private static func response(_ bytes: Chunk) -> ServerResponse {
    let tag = "\"\(BodyDigest(bytes).text)\""
    return ServerResponse(
      headers: ["Content-Type": "image/png", "ETag": tag, "Cache-Control": "private, no-cache"], body: bytes)
  }
}
