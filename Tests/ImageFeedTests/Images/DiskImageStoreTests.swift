import Foundation
import GRDB
import TestSupport
import Testing

@testable import ImageFeed

/// A folder of images that several processes share.
@Suite(.settled) struct DiskImageStoreTests {
  private let folder = TemporaryFolder()

  private func makeStore(limit: Int = 150_000_000) -> DiskImageStore {
    DiskImageStore(folder: folder.file("images"), limit: limit)
  }

  /// The index as another process has it open.
  private func makeIndex() -> ImageIndex {
    ImageIndex(folder: folder.file("images"), limit: 150_000_000, kept: { [] }, busyTimeout: .seconds(1))
  }

  /// The place of the file of `imageURL`.
  private var file: URL { URL(filePath: folder.file("images/data/\(ImageFile.name(for: imageURL))")) }

  private func url(_ number: Int) -> URL { URL(string: "https://images.example/\(number).png")! }

  /// The actual number of bytes in the folder.
  private var bytesOnDisk: Int {
    let root = folder.file("images/data")
    return (FileManager.default.subpaths(atPath: root) ?? []).map { name in
      let path = "\(root)/\(name)"
      return CacheFile.identity(of: path)?.isRegular == true ? FileManager.default.size(atPath: path) : 0
    }.reduce(0, +)
  }

  @Test func `reading creates no files`() throws {
    let store = makeStore()
    #expect(try store.retrieve(for: imageURL, now: noon) == nil)
    #expect(try store.usage() == ImageStoreUsage(count: 0, bytes: 0, limit: 150_000_000))
    try store.delete(for: imageURL)
    try store.deleteAll()
    #expect(try folder.contents == [])
  }

  @Test func `another process retrieves a saved image with all its metadata`() throws {
    let image = try makeSavedImage(
      validators: FeedValidators(etag: "\"ä\"", lastModified: "Sun, 22 Nov 2026 00:00:00 GMT"))
    try makeStore().save(image, for: imageURL, now: noon)
    #expect(try makeStore().retrieve(for: imageURL, now: noon) == image)
    #expect(try makeStore().retrieve(for: url(2), now: noon) == nil)
  }

  @Test func `openFile opens an image's file if it has the given bytes, which stay while it is open`() throws {
    let (store, image) = (makeStore(), try makeSavedImage(count: 600_000))
    #expect(store.openFile(of: image.value.data, at: imageURL) == nil)
    try store.save(image, for: imageURL, now: noon)
    let found = try #require(store.openFile(of: image.value.data, at: imageURL))
    defer { close(found.descriptor) }
    try store.save(makeSavedImage(2, count: 600_000), for: imageURL, now: noon)
    let file = FileHandle(fileDescriptor: found.descriptor, closeOnDealloc: false)
    try file.seek(toOffset: UInt64(found.range.lowerBound))
    #expect(try file.read(upToCount: found.range.count) == image.value.data.bytes)
    #expect(store.openFile(of: image.value.data, at: imageURL) == nil, "another image is there now")
    try store.deleteAll()
    try file.seek(toOffset: UInt64(found.range.lowerBound))
    #expect(try file.readToEnd() == image.value.data.bytes)
  }

  @Test func `another process reads an image's facts, for as long as the image is saved`() throws {
    let facts = ImageFacts(size: DecodedImage.Size(width: 740, height: 2600), color: 0xABCDEF, isAnimated: true)
    let store = makeStore()
    #expect(try store.facts(for: [imageURL]).isEmpty)
    try store.note(facts, for: imageURL)
    #expect(try store.facts(for: [imageURL]).isEmpty, "an image that is not kept has no facts")
    try store.save(makeSavedImage(), for: imageURL, now: noon)
    try store.note(facts, for: imageURL)
    #expect(try makeStore().facts(for: [url(2), imageURL]) == [imageURL: facts])
    try store.save(makeSavedImage(at: noon + 60), for: imageURL, now: noon + 60)
    #expect(try makeStore().facts(for: [imageURL]) == [imageURL: facts], "a renewed image keeps them")
    try store.delete(for: imageURL)
    #expect(try makeStore().facts(for: [imageURL]).isEmpty)
  }

  @Test func `an older release's index gets a table of facts`() throws {
    try makeStore().save(makeSavedImage(), for: imageURL, now: noon)
    let index = try DatabaseQueue(path: folder.file("images/index.sqlite"))
    try index.writeWithoutTransaction { try $0.execute(sql: "DROP TABLE facts") }
    let facts = ImageFacts(size: DecodedImage.Size(width: 1, height: 1), color: 0)
    let store = makeStore()
    try store.note(facts, for: imageURL)
    #expect(try store.facts(for: [imageURL]) == [imageURL: facts])
  }

  @Test func `a tiny PNG's missing end is noticed, and bytes after a GIF's end aren't its end`() throws {
    let png = MadeImage.png(width: 1, height: 1)
    #expect(try !ImageData(Data(png)).isCutOff)
    for count in 16..<png.count - 8 { #expect(try ImageData(Data(png.prefix(count))).isCutOff, "\(count)") }
    let gif = MadeImage.gif(frames: 4)
    for added in ["", "\0\0", "\r\n"] {
      #expect(try !ImageData(Data(gif + added.utf8)).isCutOff)
      #expect(try ImageData(Data(gif.dropLast() + added.utf8)).isCutOff)
    }
  }

  @Test func `a GIF's end is found by its blocks`() throws {
    let gif = MadeImage.gif(frames: 40)
    #expect(try !ImageData(Data(gif + "xyz".utf8)).isCutOff)
    // Cut within a block, after a byte that is also the end's.
    let cut = Array(gif.prefix(gif.count - 19)) + [0x3B]
    #expect(try ImageData(Data(cut)).isCutOff)
    #expect(try !ImageData(Data(gif.dropLast(2) + [0x3B])).isCutOff, "without the empty sub-block before its end")
  }

  @Test func `an AVIF is recognized by any of its brands`() throws {
    for brand in ["avif", "mif1", "msf1", "miaf", "MA1A"] {
      var bytes = MadeImage.avif
      bytes.replaceSubrange(8..<12, with: brand.utf8)
      #expect(try ImageData(Data(bytes)).kind == .avif, "\(brand)")
    }
    for brand in ["mif1", "msf1"] {
      let bytes = [0, 0, 0, 0x18] + Array("ftyp\(brand)\0\0\0\0mif1heic".utf8)
      #expect(try ImageData(Data(bytes)).kind == .heif)
    }
    let video = [0, 0, 0, 0x18] + Array("ftypisom\0\0\0\0isommp41".utf8)
    #expect(throws: InvalidImage.notAnImage) { try ImageData(Data(video + Array("avif".utf8))) }
  }

  @Test func `animated images are recognized by their bytes`() throws {
    // A GIF screen of one pixel with two colors, and frames of one pixel.
    let head = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 1, 2, 3, 4, 5, 6]
    let control: [UInt8] = [0x21, 0xF9, 4, 0, 10, 0, 0, 0]
    let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
    let webP = Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBPVP8X".utf8) + [10, 0, 0, 0]
    let (long, animation) = ([UInt8](repeating: 65, count: 600), MadeImage.chunk("acTL", [0, 0, 0, 2, 0, 0, 0, 0]))
    let rows: [([UInt8], Bool)] = [
      (head + control + frame + [0x3B], false), (head + control + frame + control + frame + [0x3B], true),
      (head + control + frame, false), (head, false), (Array(head.prefix(8)), false),
      (webP + [0x02] + Array(repeating: 0, count: 9), true), (webP + [0x10] + Array(repeating: 0, count: 9), false),
      (webP, false), (Array(webP.dropLast(4)), false),
      (MadeImage.animatedAVIF, true), (MadeImage.avif, false),
      (Array(makePNG()), false),
      (MadeImage.png(width: 1, height: 1, extra: MadeImage.chunk("tEXt", long) + animation), true),
      (MadeImage.png(width: 1, height: 1, extra: MadeImage.chunk("tEXt", Array("acTL".utf8))), false),
    ]
    for (index, row) in rows.enumerated() {
      #expect(try ImageData(Data(row.0)).isAnimated == row.1, "\(index)")
    }
  }

  @Test func `HMAC-SHA-1 matches the test vectors of RFC 2202`() {
    func code(_ text: String, _ key: [UInt8]) -> String {
      SHA1.code(of: Array(text.utf8), key: key).hexDigits
    }
    #expect(code("Hi There", Array(repeating: 0x0B, count: 20)) == "b617318655057264e28bc0b6fb378c8ef146be00")
    #expect(code("what do ya want for nothing?", Array("Jefe".utf8)) == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
    #expect(
      code("Test Using Larger Than Block-Size Key - Hash Key First", Array(repeating: 0xAA, count: 80))
        == "aa4ae5e15272d00e95705637ce8a3b55ed402112")
  }

  @Test func `saving the same bytes again updates the metadata and leaves the file unchanged`() throws {
    let store = makeStore()
    try store.save(makeSavedImage(), for: imageURL, now: noon)
    let file = try #require(FileManager.default.subpaths(atPath: folder.file("images/data"))?.first { $0.count > 2 })
    let before = CacheFile.identity(of: folder.file("images/data/\(file)"))
    let later = try makeSavedImage(at: noon.addingTimeInterval(9), lifetime: .seconds(7))
    try store.save(later, for: imageURL, now: noon)
    #expect(CacheFile.identity(of: folder.file("images/data/\(file)")) == before)
    #expect(try store.retrieve(for: imageURL, now: noon) == later)
  }

  @Test func `every byte counts toward the limit, and the least recently used images are deleted`() throws {
    let limit = ImageIndex.ownBytes + 100_000
    let store = makeStore(limit: limit)
    for number in 0..<9 {
      try store.save(makeSavedImage(count: 10_000), for: url(number), now: noon.addingTimeInterval(Double(number)))
      #expect(try store.usage().bytes == bytesOnDisk)
    }
    // The oldest image is used again, much later.
    _ = try store.retrieve(for: url(0), now: noon.addingTimeInterval(600))
    for number in 9..<11 {
      try store.save(makeSavedImage(count: 10_000), for: url(number), now: noon.addingTimeInterval(700))
    }
    #expect(try store.usage().bytes == bytesOnDisk)
    #expect(bytesOnDisk <= 80_000)
    #expect(try store.retrieve(for: url(0), now: noon) != nil)
    #expect(try store.retrieve(for: url(1), now: noon) == nil)
    #expect(try store.retrieve(for: url(10), now: noon) != nil)
  }

  @Test func `images that were used while the clock was ahead are the first to be deleted`() throws {
    let store = makeStore(limit: ImageIndex.ownBytes + 100_000)
    for number in 0..<5 {
      try store.save(makeSavedImage(count: 10_000), for: url(number), now: noon + 365 * 86_400)
    }
    for number in 5..<10 { try store.save(makeSavedImage(count: 10_000), for: url(number), now: noon) }
    #expect(try store.usage().count < 10)
    for number in 5..<10 { #expect(try store.retrieve(for: url(number), now: noon) != nil, "\(number)") }
  }

  @Test func `the index counts toward the limit too`() throws {
    let limit = 1 << 20
    let store = makeStore(limit: limit)
    var (most, largest) = (0, 0)
    // Most of the bytes of these images are in their URLs.
    let long = String(repeating: "long/", count: 300)
    for number in 0..<250 {
      let url = try #require(URL(string: "https://images.example/\(long)\(number).png"))
      try store.save(makeSavedImage(count: 200), for: url, now: noon.addingTimeInterval(Double(number)))
      let sizes = ["", "-wal", "-shm"].map { FileManager.default.size(atPath: folder.file("images/index.sqlite\($0)")) }
      let index = sizes.reduce(0, +)
      (most, largest) = (max(most, bytesOnDisk + index), max(largest, index))
    }
    #expect(most <= limit && largest > ImageIndex.ownBytes, "\(most), of which the index has \(largest)")
    #expect(try store.usage().count > 0)
  }

  @Test func `a rebuilt index deletes the oldest images if they exceed the limit`() throws {
    for number in 0..<4 {
      try makeStore().save(makeSavedImage(count: 10_000), for: url(number), now: noon)
      // The last written file must be the newest, so set the times: a file system's clock is coarse.
      let path = folder.file("images/data/\(ImageFile.name(for: url(number)))")
      try FileManager.default.setAttributes(
        [.modificationDate: noon.addingTimeInterval(Double(number))], ofItemAtPath: path)
    }
    for companion in ["", "-wal", "-shm"] { unlink(folder.file("images/index.sqlite\(companion)")) }
    let store = makeStore(limit: ImageIndex.ownBytes + 25_000)
    #expect(try store.usage().count == 2)
    #expect(try store.retrieve(for: url(0), now: noon) == nil && store.retrieve(for: url(1), now: noon) == nil)
    #expect(try store.retrieve(for: url(3), now: noon) != nil)
  }

  @Test func `an image larger than the available room isn't saved, and no image is deleted for it`() throws {
    let store = makeStore(limit: ImageIndex.ownBytes + 100_000)
    try store.save(makeSavedImage(), for: url(1), now: noon)
    #expect(try store.save(makeSavedImage(count: 71_000), for: url(2), now: noon) == false)
    #expect(try store.retrieve(for: url(1), now: noon) != nil)
    #expect(try store.usage().count == 1)
  }

  @Test func `a missing or damaged index is rebuilt from the files`() throws {
    let header = Data("SQLite format 3\0".utf8) + Data(count: 52) + Data("FIMG".utf8) + Data(repeating: 0xA5, count: 40)
    for damage in [Data(), header, nil] as [Data?] {
      let image = try makeSavedImage(validators: FeedValidators(etag: "\"a\""))
      try makeStore().save(image, for: imageURL, now: noon)
      let index = folder.file("images/index.sqlite")
      for companion in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: index + companion) }
      if let damage {
        try damage.write(to: URL(filePath: index))
      } else {
        try FileManager.default.removeItem(atPath: index)
      }
      let next = makeStore()
      try next.save(makeSavedImage(2), for: url(2), now: noon)
      #expect(try next.retrieve(for: imageURL, now: noon) == image, "\(String(describing: damage))")
      #expect(try next.usage().count == 2)
      try next.deleteAll()
    }
  }

  @Test(
    arguments: [
      "timestamp = NULL", "bytes = 'abc'", "bytes = 9223372036854775807", "bytes = -9223372036854775808",
      "lifetime = 9e999", "used = 1e300", "etag = x'FF'",
    ])
  func `images are retrieved and saved even if the index has a damaged value`(change: String) throws {
    let (image, index) = (try makeSavedImage(), folder.file("images/index.sqlite"))
    try makeStore().save(image, for: imageURL, now: noon)
    try damage(index, table: "image", "UPDATE image SET \(change)")
    let limit = ImageIndex.ownBytes + 300_000
    #expect(try makeStore(limit: limit).usage().count == 1)
    #expect(try makeStore(limit: limit).retrieve(for: imageURL, now: noon)?.value.data == image.value.data)
    try damage(index, table: "image", "UPDATE image SET \(change)")
    #expect(try makeStore(limit: limit).save(makeSavedImage(2, count: 100_000), for: url(2), now: noon))
    try damage(index, table: "facts", "INSERT INTO facts VALUES ('\(url(2))', 'x', 1, 1, 1)")
    #expect(try makeStore().facts(for: [url(2)]).isEmpty)
  }

  @Test func `a folder with other files is refused, and so is another program's index`() throws {
    let data = folder.file("images/data")
    let theirs = ["holiday.jpg", "ab/letter.txt", "cd/\(String(repeating: "0", count: 38)).bak"]
    for name in theirs {
      let place = URL(filePath: "\(data)/\(name)")
      try FileManager.default.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(name.utf8).write(to: place)
    }
    #expect(throws: FeedStoreError.insertion(.foreign, place: folder.file("images"))) {
      try makeStore().save(makeSavedImage(), for: imageURL, now: noon)
    }
    #expect(throws: FeedStoreError.self) { try makeStore().deleteAll() }
    #expect(!FileManager.default.fileExists(atPath: folder.file("images/index.sqlite")))
    for name in theirs { #expect(FileManager.default.contents(atPath: "\(data)/\(name)") == Data(name.utf8)) }

    let index = folder.file("elsewhere/index.sqlite")
    try FileManager.default.createDirectory(atPath: folder.file("elsewhere"), withIntermediateDirectories: true)
    let other = try DatabaseQueue(path: index)
    try other.inDatabase { try $0.execute(sql: "CREATE TABLE image (name TEXT)") }
    try other.close()
    let bytes = try Data(contentsOf: URL(filePath: index))
    let store = DiskImageStore(folder: folder.file("elsewhere"))
    #expect(throws: FeedStoreError.insertion(.foreign, place: store.folder)) {
      try store.save(makeSavedImage(), for: imageURL, now: noon)
    }
    #expect(try Data(contentsOf: URL(filePath: index)) == bytes)
  }

  @Test func `another program's files among the images are never deleted, even if the index is damaged`() throws {
    try makeStore().save(makeSavedImage(), for: imageURL, now: noon)
    let theirs = ["holiday.jpg", "ab/letter.txt", "cd/\(String(repeating: "0", count: 38)).bak"]
    for name in theirs {
      let place = URL(filePath: folder.file("images/data/\(name)"))
      try FileManager.default.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(name.utf8).write(to: place)
    }
    func expectTheirs() {
      for name in theirs {
        #expect(FileManager.default.contents(atPath: folder.file("images/data/\(name)")) == Data(name.utf8))
      }
    }
    try makeStore().deleteUnkept()
    expectTheirs()
    try makeStore().deleteAll()
    expectTheirs()
    #expect(bytesOnDisk == theirs.reduce(0) { $0 + $1.utf8.count }, "all images are deleted")
    // Without its index, the folder can't be told from another program's.
    let index = folder.file("images/index.sqlite")
    for companion in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: index + companion) }
    let header = Data("SQLite format 3\0".utf8) + Data(count: 52) + Data("FIMG".utf8)
    try (header + Data(repeating: 0xA5, count: 40)).write(to: URL(filePath: index))
    #expect(throws: FeedStoreError.self) { try makeStore().deleteAll() }
    expectTheirs()
  }

  @Test func `only the user can read the images, whatever the umask`() throws {
    try makeStore().save(makeSavedImage(), for: imageURL, now: noon)
    let file = folder.file("images/data/\(ImageFile.name(for: imageURL))")
    #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
  }

  @Test func `retrieving, counting and clearing work even if the index is lost`() throws {
    let image = try makeSavedImage()
    let uses: [(DiskImageStore) throws -> Bool] = [
      { try $0.retrieve(for: imageURL, now: noon) == image }, { try $0.usage().count == 1 },
      {
        try $0.deleteAll()
        return bytesOnDisk == 0
      },
    ]
    for use in uses {
      try makeStore().save(image, for: imageURL, now: noon)
      for companion in ["", "-wal", "-shm"] { unlink(folder.file("images/index.sqlite\(companion)")) }
      #expect(try use(makeStore()))
    }
  }

  @Test func `an image is retrieved while another process has locked the index`() throws {
    let timeout = Duration.seconds(10)
    let store = DiskImageStore(folder: folder.file("images"), busyTimeout: timeout)
    let image = try makeSavedImage()
    try store.save(image, for: imageURL, now: noon)
    // Its file is missing, so its row would be deleted.
    try store.save(makeSavedImage(2), for: url(2), now: noon)
    unlink(folder.file("images/data/\(ImageFile.name(for: url(2)))"))
    let other = try DatabaseQueue(path: folder.file("images/index.sqlite"))
    try other.writeWithoutTransaction { db in
      try db.execute(sql: "BEGIN IMMEDIATE")
      // A closed index could not be opened again.
      try lockingFolder {
        let time = try ContinuousClock().measure { () throws in
          #expect(try store.retrieve(for: imageURL, now: noon + 100) == image)
          #expect(try store.retrieve(for: url(2), now: noon + 100) == nil)
        }
        #expect(time < timeout)
      }
      try db.execute(sql: "ROLLBACK")
    }
    // The next use is recorded.
    let used = { try other.read { try Double.fetchOne($0, sql: "SELECT max(used) FROM image") } }
    #expect(try used() == noon.timeIntervalSinceReferenceDate)
    #expect(try store.retrieve(for: imageURL, now: noon + 100) == image)
    #expect(try used() == (noon + 100).timeIntervalSinceReferenceDate)
  }

  @Test func `an image is retrieved if the index can't be opened`() throws {
    let image = try makeSavedImage()
    try makeStore().save(image, for: imageURL, now: noon)
    // SQLite can't open a folder as its log.
    let log = folder.file("images/index.sqlite-wal")
    unlink(log)
    try FileManager.default.createDirectory(atPath: log, withIntermediateDirectories: true)
    let store = makeStore()
    #expect(throws: FeedStoreError.self) { try store.usage() }
    #expect(try store.retrieve(for: imageURL, now: noon) == image)
    #expect(throws: FeedStoreError.self) { try store.retrieve(for: url(2), now: noon) }
  }

  @Test func `while another process builds the index, only the first of many retrievals waits for it`() throws {
    let image = try makeSavedImage()
    try makeStore().save(image, for: imageURL, now: noon)
    let store = DiskImageStore(folder: folder.file("images"), busyTimeout: .seconds(1))
    try lockingFolder {
      let clock = ContinuousClock()
      let first = try clock.measure { () throws in
        #expect(try store.retrieve(for: imageURL, now: noon) == image)
      }
      let others = try clock.measure { () throws in
        for _ in 1...20 { #expect(try store.retrieve(for: imageURL, now: noon) == image) }
      }
      #expect(others < first * 10)
      #expect(throws: FeedStoreError.self) { try store.retrieve(for: url(2), now: noon) }
    }
    #expect(try store.retrieve(for: url(2), now: noon) == nil)
  }

  /// Runs `body` while nobody can open the index.
  private func lockingFolder(_ body: () throws -> Void) throws {
    try CacheFile(path: folder.file("images/index.sqlite"))
      .withFolderLock(exclusively: true, patience: .seconds(10), body)
  }

  @Test func `an image that another process looks for while it is saved is counted and found`() throws {
    let (index, image, other) = (makeIndex(), try makeSavedImage(), makeStore())
    let bytes = ImageFile(url: imageURL, image: image).bytes
    #expect(try index.reserve(bytes.count, for: imageURL, image, now: noon))
    #expect(try other.retrieve(for: imageURL, now: noon) == nil, "its file isn't there yet")
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try index.settle(imageURL, bytes: bytes.count, image, now: noon) { try bytes.write(to: file) }
    #expect(try other.usage().bytes == bytesOnDisk)
    #expect(try other.retrieve(for: imageURL, now: noon) == image)
    // An image that was saved after another process found no file isn't deleted.
    try index.forgetUnused(imageURL, now: noon + 60) { false }
    #expect(try other.retrieve(for: imageURL, now: noon) == image)
  }

  @Test func `a row without a file stays for a minute, because another process may be saving the image`() throws {
    let (index, other) = (makeIndex(), makeStore())
    #expect(try index.reserve(5_000, for: imageURL, makeSavedImage(), now: noon))
    #expect(try other.retrieve(for: imageURL, now: noon + 59) == nil)
    #expect(try other.usage().bytes == 5_000)
    #expect(try other.retrieve(for: imageURL, now: noon + 60) == nil)
    #expect(try other.usage().count == 0)
  }

  @Test func `the saved image keeps its validators until another one has replaced it`() throws {
    let store = makeStore()
    let old = try makeSavedImage(1, validators: FeedValidators(etag: "\"old\""))
    let new = try makeSavedImage(2, at: noon + 100, validators: FeedValidators(etag: "\"new\""))
    try store.save(old, for: imageURL, now: noon)
    let (index, bytes) = (makeIndex(), ImageFile(url: imageURL, image: new).bytes)
    #expect(try index.reserve(bytes.count, for: imageURL, new, now: noon + 100))
    #expect(try store.retrieve(for: imageURL, now: noon + 100) == old, "as while it is being saved, or after a crash")
    #expect(try store.usage().bytes == bytesOnDisk + bytes.count)
    try index.recount(imageURL) { bytesOnDisk }
    #expect(try store.retrieve(for: imageURL, now: noon + 100) == old, "as after a failed save")
    #expect(try store.usage().bytes == bytesOnDisk)
    #expect(throws: CancellationError.self) {
      try index.settle(imageURL, bytes: bytes.count, new, now: noon + 100) {
        try bytes.write(to: file)
        throw CancellationError()
      }
    }
    #expect(try store.retrieve(for: imageURL, now: noon + 100) == new, "the file has been replaced, but not its row")
  }

  @Test func `an image that was saved while the clock was ahead is renewed`() throws {
    let store = makeStore()
    try store.save(makeSavedImage(at: noon + 1_000_000), for: imageURL, now: noon + 1_000_000)
    try store.save(makeSavedImage(), for: imageURL, now: noon)
    #expect(try makeStore().retrieve(for: imageURL, now: noon)?.timestamp == noon)
  }

  @Test func `an image isn't renewed if another process has replaced it meanwhile`() throws {
    let (store, index) = (makeStore(), makeIndex())
    let old = try makeSavedImage(1, validators: FeedValidators(etag: "\"old\""))
    try store.save(old, for: imageURL, now: noon)
    let row = try #require(try index.row(for: imageURL, creating: false))
    let new = try makeSavedImage(2, count: 200, at: noon + 100, validators: FeedValidators(etag: "\"new\""))
    try store.save(new, for: imageURL, now: noon + 100)
    #expect(try !index.renew(imageURL, row, with: old, now: noon + 100))
    #expect(try store.retrieve(for: imageURL, now: noon + 100) == new)
    try store.delete(for: imageURL)
    #expect(try !index.renew(imageURL, row, with: old, now: noon + 100))
    #expect(try store.usage().count == 0)
  }

  @Test func `a file that can't be read isn't deleted, and a new image replaces it`() throws {
    let (store, image) = (makeStore(), try makeSavedImage())
    try store.save(image, for: imageURL, now: noon)
    let aside = URL(filePath: folder.file("aside"))
    try FileManager.default.moveItem(at: file, to: aside)
    // A link to itself, because the administrator can read any file.
    try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: file.path)
    #expect(throws: FeedStoreError.self) { try store.retrieve(for: imageURL, now: noon + 100) }
    unlink(file.path)
    try FileManager.default.moveItem(at: aside, to: file)
    #expect(try store.retrieve(for: imageURL, now: noon + 100) == image)
    unlink(file.path)
    try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: file.path)
    let next = try makeSavedImage(2, at: noon + 100)
    try store.save(next, for: imageURL, now: noon + 100)
    #expect(try store.retrieve(for: imageURL, now: noon + 100) == next)
  }

  @Test func `a truncated, replaced or missing file counts as not saved`() throws {
    for damage in [{ $0.dropLast() }, { _ in Data("other".utf8) }, { _ in nil }] as [(Data) -> Data?] {
      let store = makeStore()
      try store.save(makeSavedImage(), for: imageURL, now: noon)
      let file = folder.file("images/data/\(ImageFile.name(for: imageURL))")
      let bytes = try #require(FileManager.default.contents(atPath: file))
      if let damaged = damage(bytes) {
        try damaged.write(to: URL(filePath: file))
      } else {
        try FileManager.default.removeItem(atPath: file)
      }
      #expect(try store.retrieve(for: imageURL, now: noon) == nil)
      #expect(try store.retrieve(for: imageURL, now: noon + 60) == nil)
      #expect(try store.usage().count == 0)
      #expect(bytesOnDisk == 0)
    }
  }

  @Test func `files missing in the index are added to it, or deleted if they aren't usable`() throws {
    try makeStore().save(makeSavedImage(), for: imageURL, now: noon)
    let data = folder.file("images/data")
    try FileManager.default.createDirectory(atPath: "\(data)/ab", withIntermediateDirectories: true)
    let junk = "\(data)/ab/\(String(repeating: "c", count: 38))"
    try Data("junk".utf8).write(to: URL(filePath: junk))
    #expect(try makeStore().retrieve(for: imageURL, now: noon) != nil)
    #expect(!FileManager.default.fileExists(atPath: junk))
  }

  @Test func `a newer release's index is refused and left unchanged`() throws {
    let store = makeStore()
    try store.save(makeSavedImage(), for: imageURL, now: noon)
    let index = try DatabaseQueue(path: folder.file("images/index.sqlite"))
    try index.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 9") }
    let refusal = FeedStoreError.retrieval(.newerSchema(9), place: folder.file("images"))
    #expect(throws: refusal) { try makeStore().retrieve(for: imageURL, now: noon) }
    #expect(bytesOnDisk > 0)
  }

  @Test func `an empty index with another program's number is refused`() throws {
    let store = makeStore()
    try FileManager.default.createDirectory(atPath: store.folder, withIntermediateDirectories: true)
    let index = try DatabaseQueue(path: "\(store.folder)/index.sqlite")
    try index.inDatabase { try $0.execute(sql: "PRAGMA application_id = 7") }
    try index.close()
    #expect(throws: FeedStoreError.insertion(.foreign, place: store.folder)) {
      try store.save(makeSavedImage(), for: imageURL, now: noon)
    }
  }
}
