import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeedTesting
import Synchronization
import TestSupport
import Testing

@testable import ImageFeed

/// Images that are kept beyond the limit: those of starred items.
@Suite(.settled) struct KeptImagesTests {
  private let folder = TemporaryFolder()

  private func url(_ number: Int) -> URL { URL(string: "https://images.example/\(number).png")! }

  private func makeStore(room: Int = 100_000, keeping kept: @escaping DiskImageStore.KeptImages) -> DiskImageStore {
    DiskImageStore(folder: folder.file("images"), limit: ImageIndex.ownBytes + room, keeping: kept)
  }

  private func save(_ numbers: ClosedRange<Int>, count: Int = 10_000, in store: DiskImageStore) throws {
    for number in numbers {
      try store.save(makeSavedImage(count: count), for: url(number), now: noon + Double(number))
    }
  }

  private func numbers(in store: DiskImageStore) throws -> [Int] {
    try (0...40).filter { try store.retrieve(for: url($0), now: noon) != nil }
  }

  @Test func `an image that must be kept isn't deleted for newer ones, and doesn't count toward the limit`() throws {
    let wanted = Set([url(0), url(1), url(2), url(77)])
    let store = makeStore { wanted }
    try save(0...30, in: store)
    let kept = try numbers(in: store)
    #expect(kept.prefix(3) == [0, 1, 2] && kept.count >= 3 + 6 && kept.last == 30)
    #expect(try store.keptUsage().count == 3)
    let others = makeStore { [] }
    try save(31...40, in: others)
    #expect(try others.retrieve(for: url(0), now: noon) == nil, "with its star an image loses its place")
  }

  @Test func `an image that must be kept is saved whatever its size`() throws {
    let wanted = url(1)
    let store = makeStore { [wanted] }
    try save(0...0, in: store)
    #expect(try store.save(makeSavedImage(count: 300_000), for: url(2), now: noon) == false)
    #expect(try store.save(makeSavedImage(count: 300_000), for: wanted, now: noon))
    try save(3...4, in: store)
    #expect(try numbers(in: store) == [0, 1, 3, 4])
  }

  @Test func `a lost index is rebuilt with all images that must be kept`() throws {
    let wanted = Set((0...4).map(url))
    try save(0...9, in: makeStore(room: 200_000) { [] })
    for companion in ["", "-wal", "-shm"] { unlink(folder.file("images/index.sqlite\(companion)")) }
    let store = makeStore(room: 1_000) { wanted }
    #expect(try numbers(in: store) == [0, 1, 2, 3, 4])
  }

  @Test func `rebuilding the index reads the stars once, and they take no room from other images`() throws {
    let asked = Mutex(0)
    try save(0...9, in: makeStore(room: 200_000) { [] })
    for companion in ["", "-wal", "-shm"] { unlink(folder.file("images/index.sqlite\(companion)")) }
    let wanted = Set((5...9).map(url))
    let store = makeStore(room: 60_000) {
      asked.withLock { $0 += 1 }
      return wanted
    }
    #expect(try numbers(in: store) == Array(0...9))
    #expect(asked.withLock { $0 } == 1)
  }

  @Test func `while it is unknown which images to keep, no image is deleted`() throws {
    let store = makeStore { () throws(FeedStoreError) in throw .retrieval(.busy, place: "feeds") }
    try save(0...3, in: store)
    #expect(throws: FeedStoreError.self) { try save(4...30, in: store) }
    #expect(try numbers(in: store).prefix(4) == [0, 1, 2, 3])
    #expect(throws: FeedStoreError.self) { try store.deleteUnkept() }
    #expect(try numbers(in: store).prefix(4) == [0, 1, 2, 3])
  }

  @Test func `deleteUnkept deletes all images except those to keep`() throws {
    let wanted = url(2)
    let store = makeStore { [wanted] }
    try save(0...3, in: store)
    try store.deleteUnkept()
    #expect(try numbers(in: store) == [2])
    try store.deleteAll()
    #expect(try numbers(in: store) == [])
  }

  @Test func `starredImages has the images of starred items, in the feed and in the history`() throws {
    let feeds = SQLiteFeedStore(path: folder.file())
    func save(_ images: [FeedImage], _ days: Double) throws {
      _ = try feeds.replace(for: address, with: CachedFeed(images: images, timestamp: noon + days * 86_400), now: noon)
    }
    #expect(try feeds.starredImages() == [])
    try save([makePost(1), makePost(2), makePost(3)], 0)
    #expect(try feeds.starredImages() == [])
    #expect(try feeds.setStar(true, makePost(1).id, of: address, now: noon))
    #expect(try feeds.setStar(true, makePost(3).id, of: address, now: noon))
    #expect(try feeds.starredImages() == [makePost(1).url, makePost(3).url])
    try save([makePost(3), makePost(4)], 1)
    #expect(try feeds.starredImages() == [makePost(1).url, makePost(3).url])
    try feeds.deleteAll()
    #expect(try feeds.starredImages() == [makePost(1).url, makePost(3).url])
    try feeds.setStar(false, makePost(3).id, of: address, now: noon)
    #expect(try feeds.starredImages() == [makePost(1).url])
    try feeds.forgetHistory(of: nil)
    #expect(try feeds.starredImages() == [])
  }

  @Test func `an image that is too large for the store is delivered, and reported as not saved`() throws {
    let store = makeStore(room: 1_000) { [] }
    let world = ImageWorld(store: store)
    world.network.serve("images.example") { _, _ in .answer(makePNG(count: 2_048)) }
    #expect(try world.outcome(of: imageURL)?.get().data.bytes.count == 2_048)
    #expect(
      world.reported.map { "\($0)" } == [
        "Cannot save to the image cache: an image of 2 KiB is too large for its limit."
      ])
  }

  @Test func `an image held only in memory is saved when it must be kept`() throws {
    let wanted = Mutex<Set<URL>>([])
    let store = DiskImageStore(folder: folder.file("images"), limit: ImageIndex.ownBytes + 50) {
      wanted.withLock { $0 }
    }
    let time = VirtualTimeScheduler()
    let cache = ImageCache(store: store, on: time, now: { noon })
    let loader = ImageLoader(client: VirtualNetwork(on: time), cache: cache)
    _ = cache.image(at: imageURL).saving(try makeSavedImage())
    time.advance(by: .seconds(1))
    #expect(try store.retrieve(for: imageURL, now: noon) == nil, "it is too large for the disk")
    wanted.withLock { $0 = [imageURL] }
    var found: [LoadedImage] = []
    let loading = loader.keep(imageURL).sink(receiveCompletion: { _ in }, receiveValue: { found.append($0) })
    time.advance(by: .seconds(1))
    #expect(found.count == 1)
    #expect(try store.retrieve(for: imageURL, now: noon) != nil)
    withExtendedLifetime(loading) {}
  }
}
