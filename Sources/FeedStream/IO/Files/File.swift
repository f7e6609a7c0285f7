/// A file, read and written as a stream of chunks.
///
///     File("access.log").bytes(on: loop).lines()
///       .filter { $0.contains("404") }
///       .sink { print($0) } receiveValue: { print($0) }
///
/// System calls run on the thread pool, so the loop never waits for the disk.
///
/// A named pipe keeps a thread of the pool until another program has opened its other end, even after a cancellation;
/// with four such pipes, other files have to wait. Open a pipe yourself with `O_NONBLOCK`, and watch it with a
/// ``PollHandle``, instead.
public struct File: Hashable, Sendable {
  /// The path, unchanged.
  public let path: String

  public init(_ path: String) { self.path = path }

  /// The bytes from `offset` to the end of the file, including bytes that are appended while it is read.
  ///
  /// **Demand:** each requested chunk is one read; without demand, nothing is read. If more than one chunk is
  /// requested, the next is read while one is being delivered. The file is opened with the first request. **Failure:**
  /// the system's error. **Cancellation:** closes the file; the result of a running read is dropped. **Policy:** holds
  /// nothing.
  ///
  /// - Parameters:
  ///   - offset: the position at which to begin, in bytes.
  ///   - chunkSize: the maximum size of a chunk, in bytes; 256 KiB by default.
  ///   - scheduler: an ``EventLoop``, or virtual time in a test.
  public func bytes(
    from offset: Int64 = 0, chunkSize: Int = 256 * 1024, on scheduler: any LoopScheduler
  ) -> Publishers.FileBytes {
    precondition(offset >= 0, "File.bytes(from: \(offset)): an offset cannot be negative; use 0 or more")
    precondition(chunkSize > 0, "File.bytes(chunkSize: \(chunkSize)): a chunk needs at least 1 byte; use 1 or more")
    return Publishers.FileBytes(source: .path(path), offset: offset, chunkSize: chunkSize, scheduler: scheduler)
  }
}

extension Publishers {
  /// See ``File/bytes(from:chunkSize:on:)``.
  public struct FileBytes: Publisher, _DeliversAtHome {
    public typealias Output = Chunk
    public typealias Failure = SystemError

    enum Source {
      case path(String)
      case descriptor(Int32, name: String, owner: (any AnyObject & Sendable)? = nil)
      case made(by: ByteMaker)
    }

    let source: Source
    let offset: Int64?
    /// The number of bytes to read; `nil` to read to the end.
    var count: Int64?
    let chunkSize: Int
    let scheduler: any LoopScheduler

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Chunk, S.Failure == SystemError {
      let reader = FileReader(source, of: scheduler.files, from: offset, count, chunkSize: chunkSize)
      subscriber.receive(
        subscription: FileSubscription(ErasedSubscriber(subscriber), on: scheduler, reader))
    }
  }
}

extension Publishers.FileBytes {
  /// The bytes in `range` of an open file. Fails with `EIO` if the file has become shorter.
  ///
  /// - Parameter owner: the object that closes the descriptor when released; it is retained by the publisher.
  package init(
    _ range: Range<Int64>, of descriptor: Int32, named name: String, keeping owner: any AnyObject & Sendable,
    chunkSize: Int, on scheduler: any LoopScheduler
  ) {
    source = .descriptor(descriptor, name: name, owner: owner)
    (offset, count) = (range.lowerBound, Int64(range.count))
    self.chunkSize = chunkSize
    self.scheduler = scheduler
  }
}
