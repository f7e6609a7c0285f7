internal import CLibUV
import CLibrary

/// The operating system's files.
package final class SystemFiles: FileSystem {
  package static let shared = SystemFiles()

  package func open(_ path: String, _ opening: FileOpening) throws(SystemError) -> any OpenFile {
    // The system would end the path at a null byte, and open another file.
    guard !path.utf8.contains(0) else { throw SystemError("open", path, code: EINVAL) }
    let (flags, permissions): (Int32, UInt16) =
      switch opening {
      case .reading: (O_RDONLY, 0)
      case .replacing(let permissions): (O_WRONLY | O_CREAT | O_TRUNC, permissions)
      case .appending(let permissions): (O_WRONLY | O_CREAT | O_APPEND, permissions)
      case .creating(let permissions, _), .creatingExactly(let permissions, _, _):
        (O_WRONLY | O_CREAT | O_EXCL, permissions)
      }
    let descriptor = System.open(path, flags, permissions: permissions)
    guard descriptor >= 0 else { throw SystemError("open", path, code: errno) }
    // A file system without permissions or owners refuses this, and keeps none anyway.
    if case .creatingExactly(_, let owner, _) = opening {
      // The owner comes first, because changing it resets permissions.
      var kept = permissions
      if let owner {
        let made = System.status(descriptor).map { FileOwner(user: $0.st_uid, group: $0.st_gid) }
        kept = Self.permissions(permissions, giving: made, to: owner) { fchown(descriptor, $0, $1) == 0 }
      }
      _ = fchmod(descriptor, mode_t(kept))
    }
    return SystemFile(descriptor, name: path)
  }

  /// The permissions that a new file may have after it is given to an owner, as far as the system permits that: only a
  /// privileged process may choose the user, and a sandboxed one may change nothing.
  ///
  /// - Parameters:
  ///   - made: the new file's present owner; `nil` if it is unknown.
  ///   - change: changes the user, unless it is the maximum, and the group; returns false if the system refuses.
  static func permissions(
    _ permissions: UInt16, giving made: FileOwner?, to owner: FileOwner, change: (UInt32, UInt32) -> Bool
  ) -> UInt16 {
    guard made != owner, !change(owner.user, owner.group) else { return permissions }
    var kept = permissions
    let hasGroup = made?.group == owner.group || change(.max, owner.group)
    // Another user's or group's program must not become one of this process's user or group.
    if made?.user != owner.user || !hasGroup { kept &= 0o1777 }
    if !hasGroup {
      // The permissions of a group aren't for another group. Both groups' members get what everyone has in both.
      let common = kept & kept >> 3 & 0o7
      kept = kept & 0o1700 | common << 3 | common
    }
    return kept
  }

  package func status(of path: String) throws(SystemError) -> FileStatus? {
    guard !path.utf8.contains(0) else { throw SystemError("read the status of", path, code: EINVAL) }
    var status = stat()
    if stat(path, &status) == 0 { return FileStatus(status) }
    guard errno == ENOENT || errno == ENOTDIR else { throw SystemError("read the status of", path, code: errno) }
    return nil
  }

  /// The time at which a file was created, in nanoseconds since 1970; 0 if there is no file, or the system doesn't say.
  package func created(_ path: String) -> Int64 {
    #if os(Linux)
      clibuv_created(path)
    #else
      0
    #endif
  }

  package func destination(of link: String) throws(SystemError) -> String {
    guard !link.utf8.contains(0) else { return link }
    // Repairing a path that isn't UTF-8 would name another file.
    func valid(_ path: UnsafePointer<CChar>) throws(SystemError) -> String {
      guard let text = String(validatingCString: path) else { throw SystemError("follow", link, code: EILSEQ) }
      return text
    }
    var path = link
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return path }
    // A link may lead to a file that doesn't exist yet. The system follows at most 40 links.
    for _ in 0..<40 {
      if let real = realpath(path, nil) {
        defer { free(real) }
        return try valid(real)
      }
      var room = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = readlink(path, &room, room.count - 1)
      guard count > 0 else { return path }
      let target = try valid(room)
      // Bytes, because a slash and a combining mark after it are one character.
      let slash = UInt8(ascii: "/")
      let folder = path.utf8.lastIndex(of: slash).map { String(path[..<$0]) + "/" } ?? ""
      path = target.utf8.first == slash ? target : folder + target
    }
    return path
  }

  package func rename(_ path: String, to other: String) throws(SystemError) {
    guard systemRename(path, other) == 0 else { throw SystemError("replace", other, code: errno) }
  }

  package func syncFolder(of path: String) throws(SystemError) {
    let folder = System.open(split(path).folder, O_RDONLY | O_DIRECTORY)
    guard folder >= 0 else { return }
    defer { System.close(folder) }
    // Some file systems don't support syncing a folder, and don't need it.
    guard fsync(folder) == 0 || errno == EINVAL else { throw SystemError("sync the folder of", path, code: errno) }
  }

  package func remove(_ path: String) { unlink(path) }

  package func openFolder(_ path: String, below root: String?) throws(SystemError) -> any OpenFolder {
    try SystemFolder(path, below: root)
  }
}

private let systemRename: @Sendable (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32 = { rename($0, $1) }

extension FileStatus {
  init(_ status: stat) {
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    self.init(
      identity: FileIdentity(
        device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino)),
      size: Int64(status.st_size), modified: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec),
      permissions: UInt16(truncatingIfNeeded: status.st_mode & 0o7777), isRegular: status.st_mode & S_IFMT == S_IFREG,
      owner: FileOwner(user: status.st_uid, group: status.st_gid))
  }
}

/// A file of the operating system, or a descriptor that other code owns.
final class SystemFile: OpenFile, Sendable {
  private let descriptor: Int32
  private let name: String
  private let isOwned: Bool

  init(_ descriptor: Int32, name: String, isOwned: Bool = true) {
    self.descriptor = descriptor
    self.name = name
    self.isOwned = isOwned
  }

  deinit { if isOwned { System.close(descriptor) } }

  func read(into room: UnsafeMutableBufferPointer<UInt8>, at offset: Int64?) throws(SystemError) -> Int {
    var count = System.read(descriptor, into: room, at: offset)
    // A named pipe has no positions: read its next bytes.
    if count < 0, errno == ESPIPE, offset != nil { count = System.read(descriptor, into: room, at: nil) }
    guard count >= 0 else { throw SystemError("read", name, code: errno) }
    return count
  }

  func readCached(into room: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int? {
    #if os(Linux)
      let count = clibuv_read_cached(descriptor, room.baseAddress, room.count, offset)
      return count > 0 ? count : nil
    #else
      return nil
    #endif
  }

  func write(_ chunks: [Chunk]) -> (written: Int, error: SystemError?) {
    let (written, code) = System.write(descriptor, chunks)
    return (written, code.map { SystemError("write to", name, code: $0) })
  }

  func sync() throws(SystemError) {
    // A file that isn't on a disk, such as a pipe, can't be synced and needn't be.
    guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else {
      throw SystemError("sync", name, code: errno)
    }
  }

  func status() throws(SystemError) -> FileStatus {
    guard let status = System.status(descriptor) else { throw SystemError("read the status of", name, code: errno) }
    return FileStatus(status)
  }
}
