import FeedStream
import Foundation

/// Identifies, renames and removes the file of a cache and the two files that SQLite keeps next to it.
struct CacheFile: Sendable {
  /// An absolute path, so that it survives a change of directory and SQLite never reads it as a `file:` URI.
  let path: String

  init(path: String) {
    self.path = URL(fileURLWithPath: path, isDirectory: false).standardizedFileURL.path
  }

  /// The write-ahead log and its shared index.
  static let companions = ["-shm", "-wal"]

  /// Distinguishes a file from a different file that takes its path later.
  struct Identity: Hashable {
    let device: UInt64
    let inode: UInt64
    /// The time at which the file was created, because the system gives a removed file's inode to another file.
    let created: Int64
    let size: Int64
    let changed: Date
    /// True for a regular file; false for a folder, a pipe or a device, because opening one of those may block, or seem
    /// to work.
    let isRegular: Bool

    /// True when both identify the same file, even if the file has changed since one of them was created.
    func isSameFile(as other: Identity?) -> Bool {
      device == other?.device && inode == other?.inode && created == other?.created
    }
  }

  /// The identity of the file that is currently at the path; `nil` if there is none.
  var identity: Identity? { Self.identity(of: path) }

  /// True when there is a nonempty write-ahead log next to the file.
  var hasLog: Bool { (Self.identity(of: resolved + "-wal")?.size ?? 0) > 0 }

  /// Creates the file's parent folders, accessible only to the current user, as the XDG base directory specification
  /// requires.
  func createFolder() throws {
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  /// Creates an empty file that only the current user can access, because the URLs in it may contain secrets. SQLite
  /// creates the companion files with the same mode.
  func create() throws {
    // Another thread may have created and opened the file.
    _ = try OpenFile.unlessOpen(self) {
      let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
      close(descriptor)
    }
  }

  /// Runs `body` while no other process renames the file or, if `exclusively` is true, opens it.
  ///
  /// Renaming a database while another process opens it would give that process the old file and the new one's log. The
  /// lock is on the folder itself (`flock(2)`), so it leaves nothing behind and ends with its process. If folders can't
  /// be opened or locked (on some network file systems), `body` runs without the lock.
  ///
  /// - Parameter patience: the time to wait for the lock before failing as busy; the process that holds the lock may be
  ///   suspended.
  func withFolderLock<R>(exclusively: Bool, patience: Duration, _ body: () throws -> R) throws -> R {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      // Running out of descriptors doesn't mean that the folder can't be locked: another process may hold the lock.
      if errno == EMFILE || errno == ENFILE { throw POSIXError(.init(rawValue: errno) ?? .EMFILE) }
      return try body()
    }
    // Closing releases the lock.
    defer { close(descriptor) }
    let pause = Duration.milliseconds(2)
    var waited = Duration.zero
    while flock(descriptor, (exclusively ? LOCK_EX : LOCK_SH) | LOCK_NB) == -1 {
      guard errno == EWOULDBLOCK || errno == EINTR else { break }
      guard waited < patience else { throw FeedDatabaseFailure(.busy) }
      usleep(2000)
      waited += pause
    }
    return try body()
  }

  /// Renames the file and its companions to `<path>.corrupt-<when it last changed>…`, unless `identity` is no longer at
  /// the path, in which case another process has already renamed it.
  ///
  /// - Returns: the new path, or `nil` if there was nothing to do.
  func setAside(_ identity: Identity, patience: Duration) throws -> String? {
    try withFolderLock(exclusively: true, patience: patience) {
      guard let present = self.identity, present.isSameFile(as: identity) else { return nil }
      let (source, target) = (resolved, freeName(stamp: present.changed))
      // Rename the companions first: if the log stayed at its path, SQLite could apply it to the next file.
      for companion in Self.companions { _ = rename(source + companion, target + companion) }
      guard rename(source, target) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
      return target
    }
  }

  /// Removes the file and its companions, unless `identity` is no longer at the path, in which case another process has
  /// already done so.
  func remove(_ identity: Identity, patience: Duration) throws {
    try withFolderLock(exclusively: true, patience: patience) {
      guard let present = self.identity, present.isSameFile(as: identity) else { return }
      let path = resolved
      // Remove the companions first, as in `setAside`.
      for companion in Self.companions { unlink(path + companion) }
      guard unlink(path) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    }
  }

  /// Removes companion files whose main file is gone, because a shared index that another process still holds for the
  /// old file would otherwise be used for the new one. Call this only if there is no file, and while holding the
  /// exclusive folder lock.
  func removeStrayCompanions() {
    for companion in Self.companions { unlink(resolved + companion) }
  }

  /// The path with symbolic links resolved, next to which SQLite puts the companions. The last link may lead to a file
  /// that doesn't exist yet.
  var resolved: String { (try? SystemFiles.shared.destination(of: path)) ?? path }

  private var folder: String { (resolved as NSString).deletingLastPathComponent }

  private func freeName(stamp: Date) -> String {
    let stamp = stamp.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
    let name = "\(resolved).corrupt-\(stamp)"
    guard Self.identity(of: name) != nil else { return name }
    var number = 2
    while Self.identity(of: "\(name)-\(number)") != nil { number += 1 }
    return "\(name)-\(number)"
  }

  static func identity(of path: String) -> Identity? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Identity(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino),
      created: SystemFiles.shared.created(path), size: Int64(status.st_size),
      changed: Date(
        timeIntervalSince1970: Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) * 1e-9),
      isRegular: status.st_mode & S_IFMT == S_IFREG)
  }
}
