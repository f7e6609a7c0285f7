import FeedHTTPServer
import FeedStream
import Foundation
import ImageFeed

/// Pictures on their way from their servers to the page, kept in memory for a while.
final class Pictures {
  struct Picture {
    let bytes: Chunk
    let type: String
    let tag: String
  }

  /// Bytes of all pictures that are kept.
  static let mostBytes = 64 << 20
  /// Bytes of one.
  static let mostPictureBytes = 16 << 20
  /// How long a picture that could not be had is not asked for again.
  static let pause: Duration = .seconds(30)

  private let client: any HTTPClient
  private let loop: EventLoop
  private var kept: [URL: (picture: Picture, used: Int)] = [:]
  private var failed: [URL: StreamInstant] = [:]
  private var waiting: [URL: AnyPublisher<Picture, any Error>] = [:]
  private var uses = 0
  private(set) var bytes = 0
  private(set) var hits = 0
  private(set) var misses = 0
  private(set) var failures = 0

  init(client: any HTTPClient, on loop: EventLoop) {
    self.client = client
    self.loop = loop
  }

  var count: Int { kept.count }

  /// The picture at `url`: kept, or from its server. Those who ask for it together share one request.
  func picture(at url: URL) -> AnyPublisher<Picture, any Error> {
    uses += 1
    if let found = kept[url] {
      hits += 1
      kept[url]?.used = uses
      return Just(found.picture).setFailureType(to: (any Error).self).eraseToAnyPublisher()
    }
    if let date = failed[url], loop.now < date {
      return Fail(error: HTTPServer.Status.badGateway).eraseToAnyPublisher()
    }
    if let waiting = waiting[url] { return waiting }
    misses += 1
    let loading = client.get(HTTPRequest(url, maxBodyBytes: Self.mostPictureBytes))
      .mapError { _ in HTTPServer.Status.badGateway as any Error }
      .tryMap { response in
        guard response.status == 200, let type = Self.type(of: response.body) else {
          throw HTTPServer.Status.badGateway
        }
        let tag = String(BodyDigest(response.body).value, radix: 36)
        return Picture(bytes: Chunk(response.body), type: type, tag: tag)
      }
      .handleEvents(
        receiveOutput: { [unowned self] in keep($0, url) },
        receiveCompletion: { [unowned self] completion in
          waiting[url] = nil
          guard case .failure = completion else { return }
          failures += 1
          if failed.count > 1_000 { failed = [:] }
          failed[url] = loop.now.advanced(by: Self.pause)
        },
        receiveCancel: { [unowned self] in waiting[url] = nil }
      )
      .share()
      .eraseToAnyPublisher()
    waiting[url] = loading
    return loading
  }

  private func keep(_ picture: Picture, _ url: URL) {
    guard picture.bytes.count <= Self.mostBytes / 4 else { return }
    kept[url] = (picture, uses)
    bytes += picture.bytes.count
    while bytes > Self.mostBytes, let oldest = kept.min(by: { $0.value.used < $1.value.used }) {
      bytes -= oldest.value.picture.bytes.count
      kept[oldest.key] = nil
    }
  }

  /// What kind of picture it is by its first bytes, whatever its server says; `nil` for anything else, such as a page.
  static func type(of data: Data) -> String? {
    let head = [UInt8](data.prefix(16))
    func begins(_ bytes: [UInt8], at start: Int = 0) -> Bool { head.dropFirst(start).starts(with: bytes) }
    if begins([0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
    if begins([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
    if begins(Array("GIF87a".utf8)) || begins(Array("GIF89a".utf8)) { return "image/gif" }
    if begins(Array("RIFF".utf8)), begins(Array("WEBP".utf8), at: 8) { return "image/webp" }
    if begins(Array("ftypavif".utf8), at: 4) { return "image/avif" }
    return nil
  }
}
