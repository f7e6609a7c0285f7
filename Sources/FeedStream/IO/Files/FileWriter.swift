/// A mode of writing a file.
public enum FileWriting: Hashable, Sendable {
  /// Writes from the beginning, and discards the old content. A missing file is created.
  case replacing
  /// Appends to the content. A missing file is created.
  case appending
  /// Creates a new file; fails if the file exists.
  case creating
  /// Replaces the content atomically: readers find either the old content or all of the new content, even after a
  /// power failure. The bytes are written to a temporary file in the same folder; that file is renamed once they are on
  /// the disk. The new file keeps the permissions of the replaced file, and its owner if the process may choose it;
  /// links are followed. A pipe or a device is written directly.
  case atomically
}

extension Publisher where Output == Chunk {
  /// Writes the bytes to a file, and finishes when the system has accepted all of them.
  ///
  ///     Just(Chunk("[]")).write(to: File("feed.json"), .atomically, on: loop)
  ///       .sink { print($0) } receiveValue: { _ in }
  ///
  ///     upstream                --ab--cd--|
  ///     write(to: file, on: loop)
  ///     the file                ----ab--cd
  ///     downstream              -----------|
  ///
  /// System calls run on the thread pool, one at a time; waiting chunks are gathered into one call. The file is opened
  /// when the first bytes arrive, or when upstream finishes without any. If upstream fails before that, the file is
  /// unchanged.
  ///
  /// **Demand:** begins on subscription, and requests one chunk at a time from upstream, only while fewer than
  /// `limit` bytes wait. **Failure:** ``WriteError``, which contains exactly the bytes that were not written: the bytes
  /// before them are in the file. Upstream's failure is delivered after the bytes that arrived before it have been
  /// written. **Cancellation:** cancels upstream and drops waiting bytes. Bytes that are being written may still arrive
  /// in the file, even when another stream has begun to write it. A file that is written atomically is
  /// unchanged after a failure, except a failure to sync its folder, which comes after the replacement. After a
  /// cancellation, the file is unchanged or completely replaced, and stays so. **Policy:** holds `limit` bytes and one
  /// chunk.
  ///
  /// - Parameters:
  ///   - file: the file to write.
  ///   - writing: how to treat an existing file.
  ///   - permissions: the permissions of a new file, reduced by the process's umask; 0666 by default.
  ///   - syncs: true to finish only when the bytes are on the disk, as ``FileWriting/atomically`` always does.
  ///   - limit: the maximum number of bytes that wait; 1 MiB by default.
  ///   - scheduler: an ``EventLoop``, or virtual time in a test.
  public func write(
    to file: File, _ writing: FileWriting = .replacing, permissions: UInt16 = 0o666, syncs: Bool = false,
    limit: Int = 1 << 20, on scheduler: any LoopScheduler
  ) -> Publishers.Write<Self> {
    Publishers.Write(upstream: self, limit: limit) {
      let writer = FileWriter(
        file.path, writing, of: scheduler.files, permissions: permissions, syncs: syncs || writing == .atomically)
      let sink = OffloadedSink(on: scheduler) {
        writer.write($0)
      } finish: {
        writer.finish()
      } revoke: {
        writer.revoke()
      }
      return WriteTarget(sink, endsWriting: true)
    }
  }
}

/// Writes a file for one publisher.
// @unchecked: except for `isRevoked`, which has a lock, used by one piece of work at a time; the next starts after the
// previous one has ended.
final class FileWriter: @unchecked Sendable {
  private let path: String
  private let writing: FileWriting
  private let files: any FileSystem
  private let permissions: UInt16
  private let syncs: Bool
  private var file: (any OpenFile)?
  /// The path of the new file, and the path of the file that it will replace, with links resolved.
  private var replacement: (path: String, destination: String)?
  /// True if the file must not be replaced anymore.
  private let isRevoked = Locked(false)

  init(_ path: String, _ writing: FileWriting, of files: any FileSystem, permissions: UInt16, syncs: Bool) {
    self.path = path
    self.writing = writing
    self.files = files
    self.permissions = permissions
    self.syncs = syncs
  }

  deinit {
    file = nil
    if let replacement { files.remove(replacement.path) }
  }

  /// Writes all of `chunks`, or reports how many of their bytes are in the file. Blocks.
  func write(_ chunks: [Chunk]) -> (written: Int, error: SystemError?) {
    do throws(SystemError) {
      return try open().write(chunks)
    } catch {
      return (0, error)
    }
  }

  /// Completes the file. Blocks.
  func finish() -> SystemError? {
    do throws(SystemError) {
      let file = try open()
      if syncs { try file.sync() }
      self.file = nil
      guard let destination = replacement?.destination, try replace() else { return nil }
      // The file's new name is an entry of the folder, which must be on the disk too.
      try files.syncFolder(of: destination)
      return nil
    } catch {
      return error
    }
  }

  /// Replaces the file, unless `revoke()` was called before; returns true if it has.
  private func replace() throws(SystemError) -> Bool {
    try isRevoked.withLock { isRevoked in
      Result { () throws(SystemError) in
        guard let replacement, !isRevoked else { return false }
        try files.rename(replacement.path, to: replacement.destination)
        self.replacement = nil
        return true
      }
    }
    .get()
  }

  /// Keeps the file from being replaced from now on. If it is being replaced, waits for that, but not for the disk.
  func revoke() { isRevoked.withLock { $0 = true } }

  private func open() throws(SystemError) -> any OpenFile {
    if let file { return file }
    let file: any OpenFile
    switch writing {
    case .replacing: file = try files.open(path, .replacing(permissions: permissions))
    case .appending: file = try files.open(path, .appending(permissions: permissions))
    case .creating: file = try files.open(path, .creating(permissions: permissions))
    case .atomically: file = try openReplacement()
    }
    self.file = file
    return file
  }

  private func openReplacement() throws(SystemError) -> any OpenFile {
    let known = try files.status(of: path)
    // A pipe or a device has no content to replace: its readers expect the bytes there.
    guard known?.isRegular ?? true else { return try files.open(path, .replacing(permissions: permissions)) }
    let destination = try files.destination(of: path)
    let opening: FileOpening =
      if let known {
        .creatingExactly(permissions: known.permissions, owner: known.owner, destination: destination)
      } else {
        .creating(permissions: permissions, destination: destination)
      }
    let (folder, name) = split(destination)
    // A name has at most 255 bytes.
    let beginning = String(decoding: name.utf8.prefix(200), as: UTF8.self)
    let temporary = "\(folder)/.\(beginning).\(String(UInt64.random(in: 0...UInt64.max), radix: 36)).tmp"
    let file: any OpenFile
    do throws(SystemError) {
      file = try files.open(temporary, opening)
    } catch {
      // Name the requested path in the error, not that of the temporary file.
      throw SystemError("open", path, code: error.code)
    }
    replacement = (temporary, destination)
    return file
  }
}
