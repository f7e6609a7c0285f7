import FeedStream
import Foundation
import TestSupport
import Testing

@testable import ImageFeed

/// Images that are loaded before anyone opens them, each in a limited number of bytes.
@Suite(.settled) struct SizedImagesAheadTests {
  private let world = SizedWorld()

  init() {
    world.bytesByWidth = [400: 300, 800: 900, 1_600: 3_000]
    world.serve(makePNG(1, count: 50_000))
  }

  @Test func `an original that fits is kept with its tile`() throws {
    #expect(world.ahead(within: 50_300) == .success(.init(bytes: 50_300, isReduced: false)))
    #expect(world.asked == [400])
    #expect(try world.images.store.usage().count == 2)
    #expect(try world.restarted().outcome(width: nil)?.get().source == .cache(savedAt: noon))
  }

  @Test(arguments: [(50_299, 1_600, 3_300), (3_299, 800, 1_200), (1_200, 800, 1_200), (1_199, 400, 300), (0, 400, 300)])
  func `in place of an original that doesn't fit, the widest copy that fits is kept`(room: Int, width: Int, bytes: Int)
    throws
  {
    #expect(world.ahead(within: room) == .success(.init(bytes: bytes, isReduced: true)))
    let next = world.restarted()
    next.images.network.disconnect()
    #expect(try next.outcome(width: width)?.get().data == world.small(width))
    #expect(try next.outcome(width: 400)?.get().data == world.small(400))
    #expect(next.images.network.requests == 0)
    // The copy is better than nothing for a larger size, but not in place of the original.
    #expect(try next.outcome(width: 1_600)?.get().data == world.small(width))
    guard case .failure(.image) = next.outcome(width: nil) else {
      Issue.record("only a smaller copy is saved")
      return
    }
  }

  @Test func `the original of a copy is loaded when it is needed, and then kept`() throws {
    _ = world.ahead(within: 1_200)
    #expect(world.images.network.requests == 1)
    #expect(try world.outcome(width: nil)?.get().data.bytes.count == 50_000)
    #expect(world.images.network.requests == 2)
    #expect(world.ahead(within: 1_200) == .success(.init(bytes: 50_300, isReduced: false)))
    #expect(try world.outcome(width: nil)?.get().source == .cache(savedAt: noon))
    #expect(world.images.network.requests == 2)
  }

  @Test func `an image that is kept in a smaller size isn't requested again in advance, even after its lifetime`()
    throws
  {
    _ = world.ahead(within: 1_200)
    let next = world.restarted()
    next.serve(makePNG(1, count: 50_000))
    next.images.clock.now = noon.addingTimeInterval(2_000)
    #expect(next.ahead(within: 1_200) == .success(.init(bytes: 1_200, isReduced: true)))
    #expect(next.images.network.requests == 0)
    #expect(next.asked == [])
  }

  @Test func `an image that was saved before is never replaced by a copy`() throws {
    _ = world.outcome(width: nil)
    world.images.clock.now = noon.addingTimeInterval(2_000)
    #expect(world.ahead(within: 1_200) == .success(.init(bytes: 50_300, isReduced: false)))
    world.images.network.disconnect()
    #expect(try world.outcome(width: nil)?.get().data.bytes.count == 50_000)
  }

  @Test(arguments: [ImageDecodingResponse.Status.unsupported, .corrupt, .tooLarge])
  func `an image that can't be decoded is kept as it is`(status: ImageDecodingResponse.Status) throws {
    world.answer = { .answer(ImageDecodingResponse(status, body: "why")) }
    #expect(world.ahead(within: 1_200) == .success(.init(bytes: 50_000, isReduced: false)))
  }

  @Test func `a copy whose lifetime has passed is confirmed by its server, and stays`() throws {
    world.serve(makePNG(1, count: 50_000), lifetime: 100)
    _ = world.ahead(within: 1_200)
    world.images.clock.now = noon.addingTimeInterval(200)
    #expect(try world.outcome(width: 800)?.get().data == world.small(800))
    #expect(world.images.network.requests == 2)
    #expect(try world.outcome(width: 800)?.get().data == world.small(800))
    #expect(world.images.network.requests == 2)
    #expect(try world.images.store.retrieve(for: imageURL, now: noon)?.value.reducedWidth == 800)
  }

  @Test func `a copy is found in the files of another process, and in those whose index is lost`() throws {
    let folder = TemporaryFolder()
    let world = SizedWorld(store: DiskImageStore(folder: folder.file("images")))
    world.bytesByWidth = self.world.bytesByWidth
    world.serve(makePNG(1, count: 50_000))
    #expect(world.ahead(within: 1_200) == .success(.init(bytes: 1_200, isReduced: true)))
    #expect(world.reported.isEmpty)
    for isLost in [false, true] {
      if isLost { try FileManager.default.removeItem(atPath: folder.file("images/index.sqlite")) }
      let next = SizedWorld(store: DiskImageStore(folder: folder.file("images")))
      next.bytesByWidth = world.bytesByWidth
      next.images.network.disconnect()
      #expect(try next.outcome(width: 800)?.get().data == world.small(800))
      guard case .failure(.image) = next.outcome(width: nil) else {
        Issue.record("only a smaller copy is saved")
        return
      }
    }
  }

  @Test func `an original that is too large for the store is kept as a copy`() throws {
    let folder = TemporaryFolder()
    let world = SizedWorld(
      store: DiskImageStore(folder: folder.file("images"), limit: ImageIndex.ownBytes + 10_000))
    world.bytesByWidth = self.world.bytesByWidth
    world.serve(makePNG(1, count: 50_000))
    #expect(world.ahead(within: 1_200) == .success(.init(bytes: 1_200, isReduced: true)))
  }

  @Test func `an image that the store's owner keeps isn't replaced by a copy`() throws {
    let folder = TemporaryFolder()
    let world = SizedWorld(store: DiskImageStore(folder: folder.file("images")) { [imageURL] })
    world.serve(makePNG(1, count: 50_000))
    world.bytesByWidth = self.world.bytesByWidth
    #expect(world.ahead(within: 1_200) == .success(.init(bytes: 50_300, isReduced: false)))
  }

  @Test func `an image that is starred while only a copy is saved gets its original when it can be loaded ahead`()
    throws
  {
    let folder = TemporaryFolder()
    let world = SizedWorld(store: DiskImageStore(folder: folder.file("images")))
    world.serve(makePNG(1, count: 50_000))
    world.bytesByWidth = self.world.bytesByWidth
    #expect(world.ahead(within: 400) == .success(.init(bytes: 300, isReduced: true)))
    let next = SizedWorld(store: DiskImageStore(folder: folder.file("images")) { [imageURL] })
    next.serve(makePNG(1, count: 50_000))
    next.bytesByWidth = world.bytesByWidth
    next.images.network.disconnect()
    guard case .failure(.image) = next.ahead(within: 400) else {
      Issue.record("only a smaller copy is saved")
      return
    }
    next.images.network.reconnect()
    #expect(next.ahead(within: 400) == .success(.init(bytes: 50_300, isReduced: false)))
  }

  @Test func `a server's confirmation of a copy doesn't replace an original that another process has saved`() throws {
    world.serve(makePNG(1, count: 50_000), lifetime: 100)
    _ = world.ahead(within: 1_200)
    let other = world.restarted()
    other.serve(makePNG(1, count: 50_000), lifetime: 100)
    #expect(try other.outcome(width: nil)?.get().data.bytes.count == 50_000)
    world.images.clock.now = noon.addingTimeInterval(200)
    _ = world.outcome(width: 800)
    #expect(try world.images.store.retrieve(for: imageURL, now: noon)?.value.data.bytes.count == 50_000)
  }

  @Test func `a version that is saved while a copy of the former one is made stays`() throws {
    let newer = try makeSavedImage(2, count: 50_000)
    var saving: AnyCancellable?
    world.answer = { [unowned world] in
      if saving == nil { saving = world.images.cache.image(at: imageURL).saving(newer).asResult().sink { _ in } }
      return nil
    }
    #expect(world.ahead(within: 1_200) == .success(.init(bytes: 50_300, isReduced: false)))
    #expect(try world.images.store.retrieve(for: imageURL, now: noon)?.value == newer.value)
    withExtendedLifetime(saving) {}
  }

  @Test func `a version that another process saves while a copy of the former one is made stays`() throws {
    let newer = try makeSavedImage(2, count: 50_000)
    world.answer = { [unowned world] in
      _ = try? world.images.store.save(newer, for: imageURL, now: noon)
      return nil
    }
    #expect(world.ahead(within: 1_200) == .success(.init(bytes: 50_300, isReduced: false)))
    #expect(try world.images.store.retrieve(for: imageURL, now: noon)?.value == newer.value)
  }

  @Test func `an image to keep, of which only a copy is saved, fails while its server is unreachable`() throws {
    _ = world.ahead(within: 1_200)
    world.images.network.disconnect()
    var result: Result<LoadedImage, ImageError>?
    let subscription = world.loader.keep(imageURL).asResult().sink { result = $0 }
    world.images.time.run()
    #expect(throws: ImageError.self) { try result?.get() }
    withExtendedLifetime(subscription) {}
  }

  @Test func `the facts about an image are those of its original, not of a copy`() throws {
    _ = world.ahead(within: 1_200)
    world.originalSide = 800
    _ = world.outcome(width: 200)
    var sizes: [DecodedImage.Size] = []
    let subscription = world.loader.facts(for: [imageURL]).sink { _ in
    } receiveValue: {
      sizes += $0.values.map(\.size)
    }
    world.images.time.run()
    #expect(sizes == [DecodedImage.Size(width: 2_000, height: 2_000)])
    withExtendedLifetime(subscription) {}
  }
}
