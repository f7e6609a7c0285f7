import FeedHTTPServer
import FeedStream
import Foundation
import ImageFeed

/// The open files of large images while they are sent, so that a slow client needs only a position in a file, not the
/// image in memory.
final class ImageFiles {
  /// A part of a file that several responses share.
  struct Part {
    let file: ServedFile
    let range: Range<Int64>
  }

  private struct Place {
    weak var file: ServedFile?
    let range: Range<Int64>

    var part: Part? { file.map { Part(file: $0, range: range) } }
  }

  /// The minimum size of images that are sent from their files. A connection may hold smaller images in memory.
  static let least = HTTPServerLimits().bufferedBytes
  /// The maximum number of open files: half of the file descriptors that are not reserved for connections
  /// (`ConnectionLimit`). Beyond that, images are held in memory, up to the server's limit.
  static let most = 256

  private let store: DiskImageStore
  private let scheduler: any LoopScheduler
  private var places: [String: Place] = [:]

  init(_ store: DiskImageStore, on scheduler: any LoopScheduler) {
    self.store = store
    self.scheduler = scheduler
  }

  /// The file with an image's bytes, under the image's URL or the URL of a smaller size; `nil` if none is saved.
  ///
  /// - Parameter tag: identifies the bytes.
  func part(of image: ImageData, tag: String, at url: URL) -> AnyPublisher<Part?, Never> {
    if let part = places[tag]?.part { return Just(part).eraseToAnyPublisher() }
    places = places.filter { $0.value.file != nil }
    guard places.count < Self.most else { return Just(nil).eraseToAnyPublisher() }
    return Deferred { [self] in
      var job: (any Cancellable)?
      return Future<Part?, Never> { [self] promise in
        job = scheduler.offload { [store] in
          ([url] + SizedImageLoader.addresses(of: url)).lazy.compactMap { store.openFile(of: image, at: $0) }.first
            .map { (file: ServedFile($0.descriptor), range: $0.range) }
        } completion: { [self] found in
          // Another request may have opened the file meanwhile.
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
