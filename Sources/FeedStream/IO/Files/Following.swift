extension File {
  /// The bytes in the file and those that are appended to it, without end, like `tail -F`.
  ///
  ///     File("/var/log/app.log").following(on: loop).lines()
  ///       .filter { $0.contains("error") }
  ///       .sink { print($0) } receiveValue: { print($0) }
  ///
  /// The stream follows the name, not the file: when another file takes the name (as when a log is rotated), the old
  /// file is read to its end, and then the new one from its beginning. A file counts as truncated, and is read from its
  /// beginning, if it has become shorter or if the last bytes before the current position have changed. If the file
  /// doesn't exist, the stream waits for it and then reads it from its beginning.
  ///
  /// When reading starts over at the beginning of a file, a line feed is delivered first if the previous bytes did not
  /// end with one.
  ///
  /// Losses: data appended to a file after it was replaced and read to its end; a file that exists under that name only
  /// between two checks; overwritten data; and the truncation of a file that grows past the current position before the
  /// next check, if the 64 bytes before that position are the same as before.
  ///
  /// **Demand:** each requested chunk is one read; without demand, nothing is read or checked. At the end of the file,
  /// the stream waits until the system announces a change in the folder, and also checks the file every `interval`.
  /// **Failure:** the system's error, except for a missing file. **Cancellation:** closes the file. **Policy:** holds
  /// nothing.
  ///
  /// - Parameters:
  ///   - start: the position at which to begin in an existing file; its end by default.
  ///   - interval: the time between two checks; one second by default.
  ///   - chunkSize: the maximum size of a chunk, in bytes; 64 KiB by default.
  ///   - scheduler: an ``EventLoop``, or virtual time in a test.
  /// - Precondition: `interval` and `chunkSize` are more than zero.
  public func following(
    from start: FollowingStart = .end, every interval: StreamInstant.Stride = .seconds(1), chunkSize: Int = 64 * 1024,
    on scheduler: any LoopScheduler
  ) -> Publishers.FollowedFile {
    precondition(
      interval > .zero, "File.following(every: \(interval)): the interval is zero or less; use more than zero")
    precondition(chunkSize > 0, "File.following(chunkSize: \(chunkSize)): a chunk needs at least 1 byte; use 1 or more")
    return Publishers.FollowedFile(
      path: path, start: start, interval: interval, chunkSize: chunkSize, scheduler: scheduler)
  }
}

/// The position at which reading of a followed file begins.
public enum FollowingStart: Hashable, Sendable {
  /// At the beginning of the file.
  case beginning
  /// At the end of the file.
  case end
}

extension Publishers {
  /// See ``File/following(from:every:chunkSize:on:)``.
  public struct FollowedFile: Publisher, _DeliversAtHome {
    public typealias Output = Chunk
    public typealias Failure = SystemError

    let path: String
    let start: FollowingStart
    let interval: StreamInstant.Stride
    let chunkSize: Int
    let scheduler: any LoopScheduler

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Chunk, S.Failure == SystemError {
      subscriber.receive(subscription: FollowingSubscription(self, ErasedSubscriber(subscriber)))
    }
  }
}

private final class FollowingSubscription: ReadingOffLoop {
  private let path: String
  private let interval: StreamInstant.Stride
  /// True if a change was announced since the last read began.
  private var isStale = false
  private var pause: (any Cancellable)?
  private var watch: (any Cancellable)?

  init(_ file: Publishers.FollowedFile, _ down: ErasedSubscriber<Chunk, SystemError>) {
    path = file.path
    interval = file.interval
    let follower = Follower(file.path, of: file.scheduler.files, from: file.start, chunkSize: file.chunkSize)
    super.init(down, on: file.scheduler) { follower.next() }
  }

  override func reads() {
    isStale = false
    pause.take()?.cancel()
  }

  override func isSatisfied() { watch.take()?.cancel() }

  /// Waits for more bytes.
  override func cameToEnd() {
    // Start the watch before the read that finds no more bytes, so that every later change is announced.
    if watch == nil {
      let (folder, name) = split(path)
      let host = scheduler as? any IOHost
      // Where the system can't announce changes, checking periodically is enough.
      watch = try? host?.watch(folder) { [weak self] hint in
        if hint.name == nil || hint.name == name { self?.lookAgain() }
      }
      if watch != nil { return read() }
    }
    if isStale { return read() }
    pause = scheduler.once(after: interval) { [weak self] in self?.read() }
  }

  private func lookAgain() {
    isStale = true
    read()
  }

  deinit { releases() }

  override func releases() {
    pause.take()?.cancel()
    watch.take()?.cancel()
  }
}

/// Reads the bytes that are appended to the file with a given name.
// @unchecked: used by one piece of work at a time; the next starts after the previous one has ended.
private final class Follower: @unchecked Sendable {
  private let path: String
  private let files: any FileSystem
  private var start: FollowingStart
  private let pool: ChunkPool
  private var file: (opened: any OpenFile, identity: FileIdentity)?
  private var offset: Int64 = 0
  /// The last bytes before `offset`. They show whether the file was truncated and has grown again.
  private var before: [UInt8] = []
  private static let mostBefore = 64
  /// True at the beginning of a line: the last delivered byte was a line feed, or there was none.
  private var isAtLine = true

  init(_ path: String, of files: any FileSystem, from start: FollowingStart, chunkSize: Int) {
    self.path = path
    self.files = files
    self.start = start
    pool = ChunkPool(blockSize: chunkSize, keeping: 1)
  }

  /// The next bytes; empty if there are none yet. Blocks.
  func next() -> Result<Chunk, SystemError> {
    Result { () throws(SystemError) in
      while true {
        if self.file == nil { try open() }
        guard let (file, identity) = self.file else { return Chunk() }
        if offset == 0, !isAtLine {
          isAtLine = true
          return "\n"
        }
        let memory = pool.take()
        let room = UnsafeMutableBufferPointer(start: memory.base, count: pool.blockSize)
        let count = try file.read(into: room, at: offset)
        if count > 0 {
          guard try continues(file, past: offset + Int64(count)) else {
            beginAnew()
            continue
          }
          offset += Int64(count)
          before = (before + room[..<count].suffix(Self.mostBefore)).suffix(Self.mostBefore)
          isAtLine = room[count - 1] == 10
          return Chunk(memory, from: UnsafePointer(memory.base), count: count)
        }
        // Keep the old file while there is no new one, because it may still grow.
        guard let status = try files.status(of: path) else { return Chunk() }
        if status.identity != identity {
          self.file = nil
        } else if status.size < offset {
          beginAnew()
        } else {
          return Chunk()
        }
      }
    }
  }

  private func beginAnew() { (offset, before) = (0, []) }

  /// True if the bytes before the current position are still those that were delivered.
  private func continues(_ file: any OpenFile, past end: Int64) throws(SystemError) -> Bool {
    // A pipe has neither a size nor earlier bytes. A file that has just become shorter is checked on the next read.
    guard !before.isEmpty, try file.status().size >= end else { return true }
    return try bytes(of: file, before: offset, before.count) == before
  }

  private func bytes(of file: any OpenFile, before offset: Int64, _ count: Int) throws(SystemError) -> [UInt8] {
    guard count > 0 else { return [] }
    let room = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: count)
    defer { room.deallocate() }
    let read = try file.read(into: room, at: offset - Int64(count))
    return Array(room[..<read])
  }

  /// Opens the file with this name, if there is one.
  private func open() throws(SystemError) {
    defer { start = .beginning }
    do throws(SystemError) {
      let file = try files.open(path, .reading)
      let status = try file.status()
      offset = start == .end ? status.size : 0
      before = try bytes(of: file, before: offset, min(Int(offset), Self.mostBefore))
      self.file = (file, status.identity)
    } catch {
      guard error.code == Errno.missing else { throw error }
    }
  }
}
