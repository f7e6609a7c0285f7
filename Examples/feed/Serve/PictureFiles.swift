import FeedHTTPServer
import FeedStream
import Foundation
import ImageFeed

/// The files of long images, open while somebody takes them: a client that reads slowly holds a place in a file, not an
/// image.
final class PictureFiles {
  /// Part of a file that several responses share.
  struct Part {
    let file: HTTPServer.OpenFile
    let range: Range<Int64>
  }

  private struct Place {
    weak var file: HTTPServer.OpenFile?
    let range: Range<Int64>

    var part: Part? { file.map { Part(file: $0, range: range) } }
  }

  /// Shorter images are held by the connection, which may hold that much.
  static let least = HTTPServer.Limits().bufferedBytes
  /// Half of the descriptors that are kept for everything but connections (`ConnectionLimit`). Of more images at a time,
  /// the bytes are held, as many as the server's limit lets.
  static let most = 256

  private let store: DiskImageStore
  private let scheduler: any LoopScheduler
  private var places: [String: Place] = [:]

  init(_ store: DiskImageStore, on scheduler: any LoopScheduler) {
    self.store = store
    self.scheduler = scheduler
  }

  /// The file with an image's bytes, under its URL or that of a smaller size; `nil` when none is kept.
  ///
  /// - Parameter tag: names the bytes.
  func part(of image: ImageData, tag: String, at url: URL) -> AnyPublisher<Part?, Never> {
    if let part = places[tag]?.part { return Just(part).eraseToAnyPublisher() }
    places = places.filter { $0.value.file != nil }
    guard places.count < Self.most else { return Just(nil).eraseToAnyPublisher() }
    return Deferred { [self] in
      var job: (any Cancellable)?
      return Future<Part?, Never> { [self] promise in
        job = scheduler.offload { [store] in
          ([url] + SizedImageLoader.addresses(of: url)).lazy.compactMap { store.openFile(of: image, at: $0) }.first
            .map { (file: HTTPServer.OpenFile($0.descriptor), range: $0.range) }
        } completion: { [self] found in
          // Another request may have been quicker.
          let part = places[tag]?.part ?? found.map { Part(file: $0.file, range: $0.range) }
          if let part { places[tag] = Place(file: part.file, range: part.range) }
          promise(.success(part))
        }
      }
      .handleEvents(receiveCancel: { job?.cancel() })
    }
    .eraseToAnyPublisher()
  }
}
