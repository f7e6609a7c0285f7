import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeedTesting
import TestSupport
import Testing

@testable import ImageFeed

/// Images in sizes that fit a screen: made once, and kept with their originals.
@Suite(.settled) struct SizedImageLoaderTests {
  private let world = SizedWorld()

  @Test func `an image is scaled down once, and the next process finds it in the cache`() throws {
    world.serve(makePNG(1, count: 9_000))
    #expect(world.outcome(width: 400) == .success(LoadedImage(try world.small(400), source: .remote)))
    #expect(world.asked == [400])
    let saved = LoadedImage(try world.small(400), source: .cache(savedAt: noon))
    #expect(world.outcome(width: 400) == .success(saved))
    let next = world.restarted()
    #expect(next.outcome(width: 400) == .success(saved))
    #expect(next.asked == [])
    #expect(next.images.network.requests == 0)
    #expect(try next.images.store.usage().count == 2, "the original and the smaller one both count")
  }

  @Test(
    arguments: [(1, 200), (200, 200), (201, 400), (800, 800), (1_600, 1_600), (1_601, nil), (4_096, nil)]
      as [(Int, Int?)])
  func `the requested width is rounded up to a step, and beyond the last one the original is used`(
    width: Int, step: Int?
  ) throws {
    world.serve(makePNG(1, count: 9_000))
    let expected = try step.map { try world.small($0) } ?? ImageData(makePNG(1, count: 9_000))
    #expect(try world.outcome(width: width)?.get().data == expected)
    #expect(world.asked == (step.map { [$0] } ?? []))
  }

  @Test func `without a width, the original is delivered`() throws {
    world.serve(makePNG(1, count: 9_000))
    #expect(try world.outcome(width: nil)?.get().data.bytes.count == 9_000)
    #expect(world.asked == [])
  }

  @Test(arguments: [(300, 100), (2_000, 9_000)])
  func `an original that isn't wider, or is smaller in bytes, is delivered and decoded once`(side: Int, bytes: Int)
    throws
  {
    world.serve(makePNG(1, count: 1_000))
    world.originalSide = side
    world.smallBytes = bytes
    for _ in 0..<3 { #expect(try world.outcome(width: 400)?.get().data.bytes == makePNG(1, count: 1_000)) }
    #expect(world.asked == [400])
  }

  @Test func `an animation becomes a still image, even if that is larger in bytes and isn't narrower`() throws {
    world.serve(Data(MadeImage.gif(frames: 3)))
    world.originalSide = 300
    world.smallBytes = 9_000
    #expect(try world.outcome(width: 400)?.get().data == world.small(400))
    #expect(try world.outcome(width: nil)?.get().data.isAnimated == true)
    #expect(try world.outcome(width: 1_600)?.get().data.isAnimated == true, "this size fills the window")
  }

  @Test func `with an unchanged original the scaled image is renewed, and with a new one scaled again`() throws {
    world.serve(makePNG(1, count: 9_000), lifetime: 100)
    _ = world.outcome(width: 400)
    world.images.clock.now = noon.addingTimeInterval(100)
    #expect(try world.outcome(width: 400)?.get().data == world.small(400))
    #expect(world.images.network.requests == 2)
    #expect(world.asked == [400])
    // The resized image and the original are fresh again, so no request is made.
    #expect(try world.outcome(width: 400)?.get().data == world.small(400))
    #expect(world.images.network.requests == 2)
    world.serve(makePNG(2, count: 9_000), lifetime: 100)
    world.images.clock.now = noon.addingTimeInterval(200)
    _ = world.outcome(width: 400)
    #expect(world.asked == [400, 400])
    world.images.network.disconnect()
    world.images.clock.now = noon.addingTimeInterval(900)
    let stale = try world.outcome(width: 400)?.get()
    #expect(try stale?.data == world.small(400))
    if case .stale = stale?.source {} else { Issue.record("its server is away: \(String(describing: stale?.source))") }
    #expect(world.asked == [400, 400])
  }

  @Test func `a scaled image is shown after its time even if its original was evicted and its server is unreachable`()
    throws
  {
    world.serve(makePNG(1, count: 9_000), lifetime: 100)
    _ = world.outcome(width: 400)
    try world.images.store.delete(for: imageURL)
    let next = world.restarted()
    next.images.clock.now = noon.addingTimeInterval(200)
    next.images.network.disconnect()
    let shown = try next.outcome(width: 400)?.get()
    #expect(try shown?.data == world.small(400))
    if case .stale = shown?.source {} else { Issue.record("\(String(describing: shown?.source))") }
    #expect(try next.outcome(width: 800)?.get().data == world.small(400), "no larger size is saved")
    #expect(try next.outcome(width: 200)?.get().data == world.small(400), "a larger size will do")
    guard case .failure(.image) = next.outcome(width: nil) else {
      Issue.record("the original isn't saved")
      return
    }
  }

  @Test func `an image that can't be decoded fails, and isn't tried again until it changes`() throws {
    world.serve(makePNG(1, count: 9_000), lifetime: 100)
    world.answer = { .answer(ImageDecodingResponse(.corrupt, body: "why")) }
    for width in [400, 400, 800] {
      #expect(world.outcome(width: width) == .failure(.decoding(.corrupt("why"))))
    }
    #expect(world.asked == [400])
    world.answer = nil
    world.serve(makePNG(2, count: 9_000))
    world.images.clock.now = noon.addingTimeInterval(100)
    #expect(try world.outcome(width: 400)?.get().data == world.small(400))
  }

  @Test func `without a working decoder the original is delivered, and decoding is tried again next time`() throws {
    world.serve(makePNG(1, count: 9_000))
    world.answer = { .end(.exited(71)) }
    #expect(try world.outcome(width: 400)?.get().data.bytes.count == 9_000)
    world.answer = nil
    #expect(try world.outcome(width: 400)?.get().data == world.small(400))
    #expect(world.asked == [400, 400])
  }

  @Test func `formats that can't be decoded are delivered unchanged if browsers show them`() throws {
    world.answer = { .answer(ImageDecodingResponse(.unsupported, body: "why")) }
    world.serve(Data([0, 0, 0, 0x20] + Array("ftypavif and more".utf8)))
    #expect(try world.outcome(width: 400)?.get().data.kind == .avif)
    let tiff = SizedWorld()
    tiff.answer = { .answer(ImageDecodingResponse(.unsupported, body: "why")) }
    tiff.serve(Data([0x49, 0x49, 0x2A, 0, 1, 2, 3]))
    #expect(tiff.outcome(width: 400) == .failure(.decoding(.unsupported("why"))))
  }

  @Test func `a missing image is the image loader's error`() throws {
    world.images.network.serve("images.example") { _, _ in .answer(status: 404, Data()) }
    #expect(world.outcome(width: 400) == .failure(.image(ImageError(remote: .invalidData(.status(404))))))
    #expect(world.asked == [])
  }

  @Test func `requests for the same size share a decoding, which is cancelled with the last one`() throws {
    world.serve(makePNG(1, count: 9_000))
    var images: [LoadedImage] = []
    let all = (0..<3).map { _ in
      world.loader.data(for: imageURL, width: 400).sink { _ in
      } receiveValue: {
        images.append($0)
      }
    }
    world.images.time.run()
    #expect(images.count == 3)
    #expect(world.asked == [400])
    let leaving = (0..<2).map { _ in
      world.loader.data(for: imageURL, width: 800).sink { _ in
      } receiveValue: {
        images.append($0)
      }
    }
    for one in leaving + all { one.cancel() }
    world.images.time.run()
    #expect(images.count == 3)
    #expect(world.asked == [400])
  }

  @Test func `a scaled image is cached even if its only subscriber cancels`() throws {
    world.serve(makePNG(1, count: 9_000))
    var count = 0
    let subscription = world.loader.data(for: imageURL, width: 400).prefix(1).sink { _ in
    } receiveValue: { _ in
      count += 1
    }
    world.images.time.run()
    #expect(count == 1)
    #expect(try world.restarted().outcome(width: 400)?.get().source == .cache(savedAt: noon))
    subscription.cancel()
  }

  @Test func `a scaled image that can't be saved is delivered, and the error reported`() throws {
    let store = InMemoryImageStore { step in step == .insertion ? .diskFull : nil }
    let world = SizedWorld(store: store)
    world.serve(makePNG(1, count: 9_000))
    #expect(try world.outcome(width: 400)?.get().data == world.small(400))
    #expect(world.reported.count == 1)
  }

  @Test func `a scaled image's key is a URL that no feed can contain`() throws {
    let key = try #require(SizedImageLoader.key(imageURL, width: 400))
    #expect(key.absoluteString == "w400.2+https://images.example/1.png")
  }

  @Test func `an image that an older release scaled isn't shown, but is found to be deleted`() throws {
    let former = try #require(URL(string: "w400+https://images.example/1.png"))
    try world.images.store.save(makeSavedImage(9), for: former, now: noon)
    world.serve(makePNG(1, count: 9_000))
    #expect(try world.outcome(width: 400)?.get().data == world.small(400))
    #expect(SizedImageLoader.addresses(of: imageURL).contains(former))
  }
}
