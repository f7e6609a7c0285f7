import Foundation
import ImageFeed
import TestSupport
import Testing

/// The store in separate processes: several at a time, killed, without permission, and without disk space.
@Suite(.settled, .serialized) struct SharedFileTests {
  private let folder = TemporaryFolder()

  @Test func `many processes save and load through one file`() async throws {
    let path = folder.file()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<32 {
        group.addTask {
          await #expect(processExitsWith: .success) { [path = path as String, number = number as Int] in
            let store = SQLiteFeedStore(path: path, busyTimeout: .seconds(60))
            for round in 0..<20 {
              // Each feed's number of images follows from its first URL, so that a mixture of two feeds is detected.
              let feed = makeFeed(number + 1, from: number * 100, at: noon + Double(round))
              let target = round.isMultiple(of: 2) ? address : URL(string: "https://example.com/\(number)")!
              _ = try store.replace(for: target, with: feed, now: noon + 20)
              guard let saved = try store.retrieve(for: address) else { continue }
              let writer = saved.images.count - 1
              precondition(saved.images == makeFeed(writer + 1, from: writer * 100).images, "feeds were mixed")
              if round % 5 == 4 { try store.delete(for: address, if: .unreadable) }
            }
            store.close()
          }
        }
      }
    }
    let store = SQLiteFeedStore(path: path)
    #expect(try store.summaries().count == 33)
    store.close()
    #expect(try folder.contents == ["feeds.sqlite"])
  }

  @Test func `other stores and checks in this process don't release a store's lock on its file`() async throws {
    let path = folder.file()
    let store = SQLiteFeedStore(path: path)
    try store.replace(for: address, with: makeFeed())
    let other = SQLiteFeedStore(path: path)
    #expect(try other.summaries().count == 1)
    other.close()
    #expect(!ForeignFiles.isForeign(path, to: .feeds) && ForeignFiles.isForeign(path, to: .responses))
    // The last process that closes the file removes the log. The store is still open in this process.
    await #expect(processExitsWith: .success) { [path = path as String] in
      let store = SQLiteFeedStore(path: path)
      _ = try store.summaries()
      store.close()
    }
    #expect(FileManager.default.fileExists(atPath: path + "-wal"))
    store.close()
    #expect(try folder.contents == ["feeds.sqlite"])
  }

  @Test func `many processes repair a damaged file once`() async throws {
    let path = folder.file()
    let damaged = SQLiteFeedStore(path: path)
    _ = try damaged.replace(for: URL(string: "https://example.com/damaged")!, with: makeFeed(), now: noon)
    damaged.close()
    // Damage everything except the header, which still identifies the file as a cache of this program.
    let file = try FileHandle(forUpdating: URL(filePath: path))
    let end = try file.seekToEnd()
    try file.seek(toOffset: 100)
    try file.write(contentsOf: Data(repeating: 0xA5, count: Int(end) - 100))
    try file.close()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          await #expect(processExitsWith: .success) { [path = path as String, number = number as Int] in
            let store = SQLiteFeedStore(path: path, busyTimeout: .seconds(60))
            _ = try store.replace(for: URL(string: "https://example.com/\(number)")!, with: makeFeed(), now: noon)
            store.close()
          }
        }
      }
    }
    let store = SQLiteFeedStore(path: path)
    #expect(try store.summaries().count == 8)
    store.close()
    // The damaged file may have its log next to it: two processes that close a file at the same time both leave the
    // log.
    let names = try folder.contents.filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
    #expect(names.count == 2)
    #expect(try folder.contents.filter { !$0.contains(".corrupt-") } == ["feeds.sqlite"])
  }

  @Test(arguments: 0..<20) func `a killed process leaves the old feed or the new one, complete`(round: Int) async throws
  {
    let path = folder.file()
    let delay = UInt32(200 + 997 * round)
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, delay = delay as UInt32] in
      let store = SQLiteFeedStore(path: path)
      _ = try store.replace(for: address, with: makeFeed(500), now: noon)
      Thread.detachNewThread {
        usleep(delay)
        kill(getpid(), SIGKILL)
      }
      for number in 1... {
        _ = try store.replace(for: address, with: makeFeed(500, from: number, at: noon + Double(number)), now: noon)
      }
    }
    let store = SQLiteFeedStore(path: path)
    let saved = try #require(try store.retrieve(for: address))
    let number = Int(saved.timestamp.timeIntervalSince(noon))
    #expect(saved == makeFeed(500, from: number, at: noon + Double(number)))
    #expect(try store.replace(for: address, with: makeFeed(at: noon + 1_000_000)) == .replaced)
  }

  @Test func `a full disk keeps the old feed readable`() async throws {
    let path = folder.file()
    try SQLiteFeedStore(path: path).replace(for: address, with: makeFeed(100))
    // In one run, the file is opened before the disk is full; in the other one, the disk is full from the start.
    await #expect(processExitsWith: .success) { [path = path as String] in
      let store = SQLiteFeedStore(path: path)
      _ = try store.retrieve(for: address)
      limitFileSize(to: 64 * 1024)
      try expectDiskFull(store, path)
    }
    await #expect(processExitsWith: .success) { [path = path as String] in
      limitFileSize(to: 512)
      let store = SQLiteFeedStore(path: path)
      try expectDiskFull(store, path)
    }
    let store = SQLiteFeedStore(path: path)
    #expect(try store.replace(for: address, with: makeFeed(5000, at: noon + 1)) == .replaced)
    #expect(try store.retrieve(for: address) == makeFeed(5000, at: noon + 1))
  }

  @Test(.enabled(if: getuid() == 0, "only root can become somebody without permission"))
  func `without permission to write, a feed can still be read`() async throws {
    let path = folder.file()
    let store = SQLiteFeedStore(path: path)
    try store.replace(for: address, with: makeFeed(100))
    store.close()
    chmod(folder.path, 0o755)
    chmod(path, 0o644)
    await #expect(processExitsWith: .success) { [path = path as String] in
      check(setuid(65534) == 0)
      let store = SQLiteFeedStore(path: path)
      try check(store.retrieve(for: address) == makeFeed(100))
      try check(store.summaries().count == 1)
      try check(fails: .insertion(.notPermitted, place: path)) {
        try store.replace(for: address, with: makeFeed(at: noon + 1))
      }
      try check(fails: .deletion(.notPermitted, place: path)) { try store.delete(for: address) }
      let elsewhere = SQLiteFeedStore(path: "/root/cache/feeds.sqlite")
      try check(fails: .insertion(.notPermitted, place: elsewhere.path)) {
        try elsewhere.replace(for: address, with: makeFeed())
      }
    }
    #expect(try folder.contents == ["feeds.sqlite"])
    chmod(path, 0o600)
    await #expect(processExitsWith: .success) { [path = path as String] in
      check(setuid(65534) == 0)
      let store = SQLiteFeedStore(path: path)
      try check(fails: .retrieval(.notPermitted, place: path)) { try store.retrieve(for: address) }
      try check(fails: .insertion(.notPermitted, place: path)) { try store.replace(for: address, with: makeFeed()) }
    }
    #expect(try store.retrieve(for: address) == makeFeed(100))
  }

  @Test func `a read-only file system isn't reported as a lack of permission`() {
    let errors: [any Error] = [POSIXError(.EROFS), CocoaError(.fileWriteVolumeReadOnly)]
    for error in errors { #expect(FeedDatabaseFailure(error).cause == .readOnly) }
    #expect("\(FeedStoreError.Cause.readOnly)".hasPrefix("the file system is read-only."))
  }

  @Test func `on a read-only file system, images are retrieved without the index, as without permission`() {
    for cause in [FeedStoreError.Cause.readOnly, .notPermitted] {
      #expect(cause.leavesFilesReadable && cause.isWriteProtection)
    }
    #expect(FeedStoreError.Cause.busy.leavesFilesReadable && !FeedStoreError.Cause.busy.isWriteProtection)
    #expect(!FeedStoreError.Cause.foreign.leavesFilesReadable)
  }
}

/// Runs in a child process, where a failed `#expect` would be lost: any result other than this error ends the process.
private func check<R>(fails expected: FeedStoreError, _ body: () throws -> R) throws {
  do {
    _ = try body()
  } catch let error as FeedStoreError where error == expected {
    return
  }
  preconditionFailure("no error was thrown; expected \(expected)")
}

private func check(_ isTrue: Bool) {
  precondition(isTrue, "see the line that called this")
}

private func expectDiskFull(_ store: SQLiteFeedStore, _ path: String) throws {
  for _ in 1...2 {
    try check(fails: .insertion(.diskFull, place: path)) {
      try store.replace(for: address, with: makeFeed(5000, at: noon + 1))
    }
    try check(store.retrieve(for: address) == makeFeed(100))
  }
}

private func limitFileSize(to bytes: rlim_t) {
  signal(SIGXFSZ, SIG_IGN)
  var limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
  check(setrlimit(__rlimit_resource_t(1), &limit) == 0)
}
