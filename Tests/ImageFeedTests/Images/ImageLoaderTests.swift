import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeedTesting
import TestSupport
import Testing

@testable import ImageFeed

/// Loading image data as specified: from the cache first, then from the server.
@Suite(.settled) struct ImageLoaderTests {
  private func remote(_ mark: UInt8 = 1) throws -> LoadedImage {
    LoadedImage(try ImageData(makePNG(mark)), source: .remote)
  }

  @Test func `an image that isn't saved is requested from its server and saved`() throws {
    let world = ImageWorld()
    world.network.serve("images.example") { _, _ in .answer(makePNG()) }
    #expect(world.outcome(of: imageURL) == .success(try remote()))
    #expect(try world.store.retrieve(for: imageURL, now: noon)?.value.data.bytes == makePNG())
  }

  @Test func `a saved image is delivered without a request, in another process too`() throws {
    let world = ImageWorld()
    world.network.serve("images.example") { _, _ in .answer(makePNG()) }
    _ = world.outcome(of: imageURL)
    let saved = LoadedImage(try ImageData(makePNG()), source: .cache(savedAt: noon))
    #expect(world.outcome(of: imageURL) == .success(saved))
    let next = world.restarted()
    #expect(next.outcome(of: imageURL) == .success(saved))
    #expect(world.network.requests == 1)
    #expect(next.network.requests == 0)
  }

  @Test(arguments: [
    (Data(), InvalidImage.empty), (Data("<!doctype html>".utf8), .webPage), (Data("hello".utf8), .notAnImage),
  ])
  func `a response that isn't an image is an error and isn't saved`(body: Data, reason: InvalidImage) throws {
    let world = ImageWorld()
    world.network.serve("images.example") { _, _ in .answer(body) }
    #expect(world.outcome(of: imageURL) == .failure(ImageError(remote: .invalidData(reason))))
    #expect(try world.store.usage().count == 0)
  }

  /// An image of each format whose end can be detected.
  static let whole: [Data] = [
    Data(MadeImage.png(width: 8, height: 8)),
    // A segment that contains a small image, a scan, and the end.
    Data([0xFF, 0xD8, 0xFF, 0xE1, 0, 8, 0xFF, 0xD8, 0xFF, 0xDA, 0xFF, 0xD9, 0xFF, 0xDA, 0, 2])
      + Data(repeating: 7, count: 100) + Data([0xFF, 0xD9]),
    Data(MadeImage.gif(frames: 9)),
    Data("RIFF".utf8) + Data([104, 0, 0, 0]) + Data("WEBP".utf8) + Data(repeating: 7, count: 100),
  ]

  @Test(arguments: whole)
  func `a truncated image never replaces the saved one, and is delivered if none is saved`(body: Data) throws {
    let world = ImageWorld()
    world.network.serve("images.example") { _, _ in .answer(body) }
    _ = world.outcome(of: imageURL)
    #expect(try world.store.retrieve(for: imageURL, now: noon)?.value.data.bytes == body)
    world.clock.now += 8 * 86_400
    for count in [64, body.count - 1] {
      world.network.serve("images.example") { _, _ in .answer(body.prefix(count)) }
      #expect(try world.outcome(of: imageURL)?.get().data.bytes == body)
      #expect(try world.store.retrieve(for: imageURL, now: noon)?.value.data.bytes == body)
      let empty = ImageWorld()
      empty.network.serve("images.example") { _, _ in .answer(body.prefix(count)) }
      let part = LoadedImage(try ImageData(body.prefix(count)), source: .part)
      #expect(empty.outcome(of: imageURL) == .success(part))
      #expect(try empty.store.retrieve(for: imageURL, now: noon) == nil)
    }
  }

  @Test func `keeping an image that is cut off fails, because nothing is kept`() throws {
    let world = ImageWorld()
    let part = try ImageData(Data(MadeImage.gif(frames: 9).dropLast()))
    world.network.serve("images.example") { _, _ in .answer(part.bytes) }
    var result: Result<LoadedImage, ImageError>?
    let keeping = world.loader.keep(imageURL).asResult().sink { result = $0 }
    world.time.run()
    #expect(result == .failure(ImageError(remote: .invalidData(.cutOff(part)))))
    #expect(try world.store.retrieve(for: imageURL, now: noon) == nil)
    withExtendedLifetime(keeping) {}
  }

  @Test func `an image that its server doesn't have isn't requested again for a minute`() throws {
    let world = ImageWorld()
    world.network.serve("images.example") { _, _ in .answer(status: 404, Data()) }
    let error = ImageError(remote: .invalidData(.status(404)))
    #expect(world.outcome(of: imageURL) == .failure(error))
    world.clock.now = noon.addingTimeInterval(59)
    #expect(world.outcome(of: imageURL) == .failure(error))
    #expect(world.network.requests == 1)
    world.clock.now = noon.addingTimeInterval(60)
    #expect(world.outcome(of: imageURL) == .failure(error))
    #expect(world.network.requests == 2)
  }

  @Test func `an image that its server didn't have is requested again after the clock is set back`() throws {
    let world = ImageWorld()
    world.network.serve("images.example") { _, _ in .answer(status: 404, Data()) }
    #expect(world.outcome(of: imageURL) == .failure(ImageError(remote: .invalidData(.status(404)))))
    world.clock.now = noon - 86_400
    world.network.serve("images.example") { _, _ in .answer(makePNG()) }
    #expect(world.outcome(of: imageURL) == .success(try remote()))
    #expect(world.network.requests == 2)
  }

  @Test func `an image whose server was unreachable is requested again immediately`() throws {
    let world = ImageWorld()
    world.network.disconnect()
    guard case .failure(let error) = world.outcome(of: imageURL), case .connectivity = error.remote else {
      Issue.record("a lost connection delivers its error")
      return
    }
    world.network.reconnect()
    world.network.serve("images.example") { _, _ in .answer(makePNG()) }
    #expect(world.outcome(of: imageURL) == .success(try remote()))
  }

  @Test func `an expired image is requested with its validators, and renewed if it is unchanged`() throws {
    let world = ImageWorld()
    world.network.serve("images.example") { _, _ in
      .answer(headers: [("ETag", "\"a\""), ("Cache-Control", "max-age=100")], makePNG())
    }
    _ = world.outcome(of: imageURL)
    world.clock.now = noon.addingTimeInterval(100)
    world.network.serve("images.example") { _, _ in .answer(status: 304, Data()) }
    #expect(world.outcome(of: imageURL) == .success(try remote()))
    #expect(world.network.log.last?.request.headers == [.init(name: "If-None-Match", value: "\"a\"")])
    let saved = try #require(try world.store.retrieve(for: imageURL, now: noon))
    #expect(saved.timestamp == world.clock.now)
    #expect(saved.validators.etag == "\"a\"")
    _ = world.outcome(of: imageURL)
    #expect(world.network.requests == 2)
  }

  @Test func `a server that confirms an image may state a new lifetime for it`() throws {
    let world = ImageWorld()
    world.network.serve("images.example") { _, _ in
      .answer(headers: [("ETag", "\"a\""), ("Cache-Control", "max-age=10")], makePNG())
    }
    _ = world.outcome(of: imageURL)
    world.clock.now = noon.addingTimeInterval(10)
    world.network.serve("images.example") { _, _ in
      .answer(status: 304, headers: [("ETag", "\"b\""), ("Cache-Control", "max-age=1000")], Data())
    }
    #expect(world.outcome(of: imageURL) == .success(try remote()))
    world.clock.now += 999
    _ = world.outcome(of: imageURL)
    #expect(world.network.requests == 2)
    world.clock.now += 1
    _ = world.outcome(of: imageURL)
    #expect(world.network.requests == 3)
    #expect(world.network.log.last?.request.headers == [.init(name: "If-None-Match", value: "\"b\"")])
  }

  @Test func `an expired image is delivered when its server is unreachable`() throws {
    let world = ImageWorld()
    world.network.serve("images.example") { _, _ in .answer(headers: [("Cache-Control", "no-cache")], makePNG()) }
    _ = world.outcome(of: imageURL)
    world.network.disconnect()
    guard case .success(let image) = world.outcome(of: imageURL), case .stale(let savedAt, .connectivity) = image.source
    else {
      Issue.record("the saved image is shown")
      return
    }
    #expect(savedAt == noon)
    #expect(image.data.bytes == makePNG())
  }

  @Test(
    arguments: [
      ([("Cache-Control", "max-age=100, private"), ("Age", "40")], 60),
      ([("Cache-Control", "max-age=60, no-cache")], 0),
      ([("Expires", "Sun, 22 Nov 2026 00:01:30 GMT"), ("Date", "Sun, 22 Nov 2026 00:00:00 GMT")], 90),
      ([("Cache-Control", "max-age=99999999999")], 31_536_000), ([], 604_800),
    ] as [([(String, String)], Int)])
  func `an image's lifetime is determined by its response`(fields: [(String, String)], seconds: Int) throws {
    let world = ImageWorld()
    let headers = HTTPHeaders(fields.map { (name: $0.0, value: $0.1) })
    world.network.serve("images.example") { _, _ in .answer(headers: headers, makePNG()) }
    _ = world.outcome(of: imageURL)
    #expect(try world.store.retrieve(for: imageURL, now: noon)?.value.lifetime == .seconds(seconds))
  }

  @Test func `requests for an image that is being loaded share the load`() throws {
    let world = ImageWorld()
    world.network.serve("images.example") { _, _ in .answer(makePNG()) }
    var count = 0
    let subscriptions = (0..<5).map { _ in world.loader.data(for: imageURL).asResult().sink { _ in count += 1 } }
    world.time.run()
    #expect(count == 5)
    #expect(world.network.requests == 1)
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `cancelling the last subscription closes the request, and delivers nothing`() throws {
    let world = ImageWorld()
    world.network.serve("images.example") { _, _ in .answer(makePNG(), after: 1) }
    var count = 0
    let first = world.loader.data(for: imageURL).asResult().sink { _ in count += 1 }
    let second = world.loader.data(for: imageURL).asResult().sink { _ in count += 1 }
    world.time.advance(by: 0.5)
    first.cancel()
    #expect(world.network.open.count == 1)
    second.cancel()
    #expect(world.network.open.isEmpty)
    world.time.run()
    #expect(count == 0)
    #expect(world.outcome(of: imageURL) == .success(try remote()))
  }

  @Test func `a failing save is reported, and the image is delivered`() throws {
    let world = ImageWorld(store: InMemoryImageStore { $0 == .insertion ? .diskFull : nil })
    world.network.serve("images.example") { _, _ in .answer(makePNG()) }
    #expect(world.outcome(of: imageURL) == .success(try remote()))
    #expect(world.reported == [.insertion(.diskFull, place: "memory")])
  }

  @Test func `an image is requested from its server if the cache can't be read`() throws {
    let world = ImageWorld(store: InMemoryImageStore { $0 == .retrieval ? .busy : nil })
    world.network.serve("images.example") { _, _ in .answer(makePNG()) }
    #expect(world.outcome(of: imageURL) == .success(try remote()))
  }

  @Test func `ahead delivers images in order, and loads at most its width ahead`() throws {
    let world = ImageWorld()
    world.network.serve("images.example") { request, _ in
      // The first request is the slowest.
      .answer(makePNG(), after: request.number == 0 ? 3 : 1)
    }
    let images = (0..<10 as Range<UInt32>).map {
      FeedImage(id: FeedImage.ID(UUID(), number: $0 + 1), url: URL(string: "https://images.example/\($0).png")!)
    }
    let screen = images.ahead(width: 3) { image in world.loader.data(for: image.url).asResult().map { (image, $0) } }
      .record(on: world.time, demand: .max(2))
    world.time.run()
    #expect(screen.values.map(\.0.id.number) == [1, 2])
    #expect(world.network.requests == 5)
    screen.cancel()
    world.time.run()
    #expect(world.network.requests == 5)
  }

  @Test func `scrolling on cancels images that weren't shown`() throws {
    let world = ImageWorld()
    world.network.serve("images.example") { _, _ in .answer(makePNG(), after: 10) }
    let images = (0..<10 as Range<UInt32>).map {
      FeedImage(id: FeedImage.ID(UUID(), number: $0 + 1), url: URL(string: "https://images.example/\($0).png")!)
    }
    let subscription = images.ahead(width: 4) { world.loader.data(for: $0.url).asResult() }.sink { _ in }
    world.time.advance(by: 1)
    #expect(world.network.open.count == 4)
    subscription.cancel()
    #expect(world.network.open.isEmpty)
  }
}
