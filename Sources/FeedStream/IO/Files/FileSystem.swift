/// The file system of a scheduler: the operating system's for an ``EventLoop``, a simulated one for virtual time.
///
/// All calls block unless documented otherwise; call them on the thread pool.
package protocol FileSystem: AnyObject, Sendable {
  func open(_ path: String, _ opening: FileOpening) throws(SystemError) -> any OpenFile

  /// - Returns: `nil` if nothing exists at `path`.
  func status(of path: String) throws(SystemError) -> FileStatus?

  /// The file that a link leads to, or `path` itself if it isn't a link. Fails if the result isn't UTF-8.
  func destination(of path: String) throws(SystemError) -> String

  /// Renames a file, replacing an existing one.
  func rename(_ path: String, to other: String) throws(SystemError)

  /// Returns when the names of the files in the path's folder are on the disk.
  func syncFolder(of path: String) throws(SystemError)

  /// Removes a file, if it exists.
  func remove(_ path: String)

  /// - Parameter root: a folder above the path, or `nil`. Fails with `ENOENT` if a part of the path below `root` is a
  ///   link or a file; other links are followed.
  func openFolder(_ path: String, below root: String?) throws(SystemError) -> any OpenFolder
}

/// An open file. It is used by one thread at a time, and closes when it is released.
package protocol OpenFile: AnyObject {
  /// Fills the beginning of `room`.
  ///
  /// - Parameter offset: the position to read from; `nil` continues after the last read.
  /// - Returns: the number of bytes; 0 at the end.
  func read(into room: UnsafeMutableBufferPointer<UInt8>, at offset: Int64?) throws(SystemError) -> Int

  /// Fills the beginning of `room` with bytes that the system has cached in memory. Does not block.
  ///
  /// - Returns: the number of bytes; `nil` at the end, or if ``read(into:at:)`` is needed to get them.
  func readCached(into room: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int?

  /// Writes all bytes of `chunks`. On failure, returns the error and the number of bytes that were written.
  func write(_ chunks: [Chunk]) -> (written: Int, error: SystemError?)

  /// Returns when all written bytes are on the disk.
  func sync() throws(SystemError)

  func status() throws(SystemError) -> FileStatus
}

extension OpenFile {
  package func readCached(into room: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int? { nil }
}

/// An open folder. It is used by one thread at a time, and closes when it is released.
package protocol OpenFolder: AnyObject {
  /// The next entries, at most `limit`; empty at the end.
  func next(_ limit: Int) throws(SystemError) -> [FolderEntry]
}

/// The mode in which a file is opened.
package enum FileOpening: Sendable {
  case reading
  /// Empties an existing file.
  case replacing(permissions: UInt16)
  case appending(permissions: UInt16)
  /// Fails if the file exists. If the new file will be renamed to replace another one, `destination` is that one.
  case creating(permissions: UInt16, destination: String? = nil)
  /// As `creating`, with exactly these permissions, whatever the process's mask is, and for this owner if possible.
  case creatingExactly(permissions: UInt16, owner: FileOwner?, destination: String)
}

/// The user and the group that own a file.
package struct FileOwner: Hashable, Sendable {
  package var user: UInt32
  package var group: UInt32
}

/// The status of a file, from the file system.
package struct FileStatus: Hashable, Sendable {
  /// The file's identity, independent of its name.
  package var identity: FileIdentity
  package var size: Int64
  /// The time of the last change to the content, in nanoseconds since 1970.
  package var modified: Int64
  package var permissions: UInt16
  /// False for a pipe, a folder, or a device, whose size says nothing about its bytes.
  package var isRegular: Bool
  /// `nil` in a file system without owners.
  package var owner: FileOwner?

  package init(
    identity: FileIdentity, size: Int64, modified: Int64, permissions: UInt16, isRegular: Bool = true,
    owner: FileOwner? = nil
  ) {
    self.identity = identity
    self.size = size
    self.modified = modified
    self.permissions = permissions
    self.isRegular = isRegular
    self.owner = owner
  }
}

package struct FileIdentity: Hashable, Sendable {
  package var device: UInt64
  package var number: UInt64

  package init(device: UInt64, number: UInt64) {
    self.device = device
    self.number = number
  }
}

/// Splits a path into its folder and its last part.
package func split(_ path: String) -> (folder: String, name: String) {
  // Bytes, because a slash and a combining mark after it are one character.
  guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
  let folder = path[..<slash]
  return (folder.isEmpty ? "/" : String(folder), String(path[path.utf8.index(after: slash)...]))
}

/// A scheduler with a file system: the operating system's for an ``EventLoop``, a simulated one for virtual time.
package protocol FileHost: LoopScheduler {
  var fileSystem: any FileSystem { get }
}

extension LoopScheduler {
  /// The file system of this scheduler; the operating system's if it has none of its own.
  package var files: any FileSystem { (self as? any FileHost)?.fileSystem ?? SystemFiles.shared }
}
