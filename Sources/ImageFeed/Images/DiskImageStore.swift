public import Foundation
import GRDB
import Synchronization

/// Keeps images in a folder, one file each, with an index in SQLite. Several processes may share the folder.
///
/// Creating the store doesn't touch the disk; the first save creates the folder. The files and the index together never
/// take up more than `limit` bytes. If an image doesn't fit, others are deleted, the least recently used ones first,
/// and files of more than a thousandth of the limit before smaller ones, until at most 70% of the limit is in use. An
/// index that is lost or damaged is rebuilt from the files. A file that is lost, cut off or damaged counts as an image
/// that was never saved. A file that can't be read makes the retrieval fail, and stays. Images can still be retrieved
/// while the disk is full or another process has locked the index.
///
/// Images that the store's owner keeps, such as those of starred items, are never deleted to make room, and don't count
/// toward the limit.
public final class DiskImageStore: ImageStore {
  /// The absolute path of the folder.
  public let folder: String
  /// The maximum number of bytes on disk.
  public let limit: Int
  private let busyTimeout: Duration
  private let index: Mutex<ImageIndex>
  /// The end of the time during which retrievals don't wait for the index again.
  private let busyUntil = Mutex<ContinuousClock.Instant?>(nil)
  private let kept: KeptImages
  private let latestKept = Mutex<(urls: Set<URL>, read: ContinuousClock.Instant)?>(nil)

  /// Creates a store in a folder, which need not exist yet.
  ///
  /// - Parameters:
  ///   - folder: absolute, or relative to the current directory at the time of this call. Only the store may use the
  ///     folder.
  ///   - limit: the maximum number of bytes on disk. 150 MB by default.
  ///   - busyTimeout: the time that a call waits for other processes before it fails as busy.
  ///   - kept: the URLs of images that stay beyond the limit, such as ``HistoryStore/starredImages()``; none by
  ///     default. Called within calls to the store, on their thread, when the limit is reached or a smaller copy
  ///     may replace an image; it may block. While
  ///     this call fails, nothing is deleted, and no image that needs room is saved.
  public init(
    folder: String, limit: Int = 150_000_000, busyTimeout: Duration = .seconds(10),
    keeping kept: @escaping KeptImages = { [] }
  ) {
    self.folder = URL(filePath: folder, directoryHint: .isDirectory).standardizedFileURL.path
    self.limit = limit
    self.busyTimeout = busyTimeout
    self.kept = kept
    index = Mutex(ImageIndex(folder: self.folder, limit: limit, kept: kept, busyTimeout: busyTimeout))
  }

  /// Returns the URLs of the images to keep.
  public typealias KeptImages = @Sendable () throws(FeedStoreError) -> Set<URL>

  public func retrieve(for url: URL, now: Date) throws(FeedStoreError) -> Saved<FetchedImage>? {
    // Another process may take long to build the index. Otherwise, each image of a page would wait for it.
    if let end = busyUntil.withLock({ $0 }), ContinuousClock.now < end, let file = try? file(of: url) {
      return file.image
    }
    let found: Result<Saved<FetchedImage>?, any Error>
    do throws(FeedStoreError) {
      found = try read(url, now: now)
    } catch {
      // Without the index, only a later renewal is unknown.
      guard error.cause.leavesFilesReadable, let file = try? file(of: url) else { throw error }
      return file.image
    }
    do { return try found.get() } catch {
      throw FeedStoreError(.retrieval, FeedDatabaseFailure(error).cause, place: folder)
    }
  }

  /// - Returns: a failure if the image's file can't be read.
  private func read(_ url: URL, now: Date) throws(FeedStoreError) -> Result<Saved<FetchedImage>?, any Error> {
    try perform(.retrieval) { index in
      guard let row = try index.row(for: url, creating: false) else { return .success(nil) }
      let file: ImageFile?
      do { file = try self.file(of: url) } catch {
        // An error thrown here closes the index, and, if there was no descriptor, repeats the retrieval.
        if FeedDatabaseFailure(error).isExhaustion { throw error }
        return .failure(error)
      }
      guard let file else {
        // Another process may be saving the image.
        try attempt {
          try index.forgetUnused(url, now: now) {
            do { return try self.file(of: url) == nil } catch { return false }
          }
        }
        return .success(nil)
      }
      try attempt { try index.touch(url, row, now: now) }
      // The row describes an older file if a process ended, or another one saved the image, between the two.
      if file.image.timestamp > row.timestamp { return .success(file.image) }
      // Otherwise the row is as new as the file, or newer: renewing an unchanged image updates only its row.
      var image = file.image.value
      image.lifetime = row.lifetime
      return .success(Saved(image, timestamp: row.timestamp, validators: row.validators))
    }
  }

  /// Makes a change of the index that a retrieval doesn't depend on. Throwing would close the index, and on a full disk
  /// it could not be opened again.
  private func attempt(_ change: () throws -> Void) throws {
    do { try change() } catch {
      guard [.diskFull, .busy].contains(FeedDatabaseFailure(error).cause) else { throw error }
    }
  }

  @discardableResult
  public func save(_ image: Saved<FetchedImage>, for url: URL, now: Date) throws(FeedStoreError) -> Bool {
    let bytes = ImageFile(url: url, image: image).bytes
    return try perform(.insertion) { index in
      // A file that can't be read is replaced, and so is one that was saved while the clock was ahead.
      if let row = try index.row(for: url, creating: true), let file = try? file(of: url),
        file.image.value.data == image.value.data, file.image.value.reducedWidth == image.value.reducedWidth,
        file.image.timestamp <= image.timestamp,
        try index.renew(url, row, with: image, now: now)
      {
        return true
      }
      guard try index.reserve(bytes.count, for: url, image, now: now) else { return false }
      do {
        try replaceFile(of: url, with: bytes) { place in
          try index.settle(url, bytes: bytes.count, image, now: now, placing: place)
        }
      } catch {
        // Count the bytes of the file that is at the path now, if any. Until this succeeds, too many are counted. Don't
        // wait for other processes a second time.
        if FeedDatabaseFailure(error).cause != .busy {
          try? index.recount(url) { FileManager.default.size(atPath: path(of: url)) }
        }
        throw error
      }
      return true
    }
  }

  /// Opens the file with these bytes of an image, so that they need not stay in memory while they are sent.
  ///
  /// Blocks. The open file doesn't change, even when the image is replaced or deleted.
  ///
  /// - Returns: a descriptor, which the caller closes, and the range of the bytes in the file; `nil` if they are not
  ///   stored.
  public func openFile(of image: ImageData, at url: URL) -> (descriptor: Int32, range: Range<Int64>)? {
    let descriptor = open(path(of: url), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    if let range = ImageFile.range(of: image.bytes, in: descriptor) { return (descriptor, range) }
    close(descriptor)
    return nil
  }

  /// The owner's images are read at most once a second.
  public func isKept(_ url: URL) throws(FeedStoreError) -> Bool {
    if let latest = latestKept.withLock({ $0 }), latest.read.duration(to: .now) < .seconds(1) {
      return latest.urls.contains(url)
    }
    let urls = try kept()
    latestKept.withLock { $0 = (urls, .now) }
    return urls.contains(url)
  }

  public func delete(for url: URL) throws(FeedStoreError) {
    try perform(.deletion) { index in
      if try index.row(for: url, creating: false) != nil { try index.forget(url) }
    }
  }

  public func deleteAll() throws(FeedStoreError) { try deleteAll(but: []) }

  /// Deletes all images except those that the store's owner keeps.
  public func deleteUnkept() throws(FeedStoreError) {
    try deleteAll(but: kept())
  }

  private func deleteAll(but kept: Set<URL>) throws(FeedStoreError) {
    do throws(FeedStoreError) {
      try perform(.deletion) { try $0.forgetAll(but: kept) }
    } catch {
      // On a full disk, the index can't be changed before files are deleted. Rows without files do no harm.
      guard error.cause.mayBeFullDisk else { throw error }
      try perform(.deletion) { index in
        index.removeFiles(but: kept)
        try index.forgetAll(but: kept)
      }
    }
  }

  public func usage() throws(FeedStoreError) -> ImageStoreUsage {
    try perform(.retrieval) { try $0.usage() }
  }

  public func facts(for urls: [URL]) throws(FeedStoreError) -> [URL: ImageFacts] {
    try perform(.retrieval) { try $0.facts(for: urls) }
  }

  public func note(_ facts: ImageFacts, for url: URL) throws(FeedStoreError) {
    try perform(.insertion) { try $0.note(facts, for: url) }
  }

  /// The number and the total bytes of the stored images that the owner keeps. The result's `limit` is `nil`.
  public func keptUsage() throws(FeedStoreError) -> ImageStoreUsage {
    let kept = try kept()
    return try perform(.retrieval) { try $0.usage(of: kept) }
  }

  private func path(of url: URL) -> String { "\(folder)/data/\(ImageFile.name(for: url))" }

  /// The image's file; `nil` if it is missing, cut off or damaged. Throws if it can't be read.
  private func file(of url: URL) throws -> ImageFile? {
    let file = try ImageFile.read(path(of: url))
    return file?.url == url ? file : nil
  }

  /// Writes the file under a different name first, so that readers see either the old file or the new one.
  ///
  /// - Parameter settle: calls back to put the file in its place.
  private func replaceFile(of url: URL, with bytes: Data, settle: (() throws -> Void) throws -> Void) throws {
    let path = path(of: url)
    let temporary = "\(path).\(UUID().uuidString).new"
    let parent = URL(filePath: path).deletingLastPathComponent().path
    try FileManager.default.createDirectory(
      atPath: parent, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    do {
      // The file is for this user only, as are the others in the folder.
      let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
      let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      try file.write(contentsOf: bytes)
      try file.close()
      try settle {
        guard rename(temporary, path) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
      }
    } catch {
      unlink(temporary)
      throw error
    }
  }

  private func perform<R: Sendable>(
    _ step: FeedStoreError.Step, _ body: (ImageIndex) throws -> R
  ) throws(FeedStoreError) -> R {
    try index.withLock { index throws(FeedStoreError) in
      do throws(FeedDatabaseFailure) {
        let result = try index.recovering { try body(index) }
        busyUntil.withLock { $0 = nil }
        return result
      } catch {
        // For as long as this call has waited.
        if error.cause == .busy { busyUntil.withLock { $0 = ContinuousClock.now + busyTimeout } }
        throw FeedStoreError(step, error.cause, place: folder)
      }
    }
  }
}

extension FileManager {
  /// The length of a file; 0 if there is none.
  func size(atPath path: String) -> Int {
    ((try? attributesOfItem(atPath: path))?[.size] as? NSNumber)?.intValue ?? 0
  }
}
