internal import CLibUV

/// Cryptographically secure random bytes from the system.
public enum RandomBytes {
  /// Delivers chunks of random bytes, without end.
  ///
  ///     RandomBytes.chunks(of: 16, on: loop).prefix(1)
  ///       .sink { print($0) } receiveValue: { print(Array($0)) }
  ///
  /// **Demand:** each requested chunk is one system call on the thread pool. **Failure:** the system's reason.
  /// **Cancellation:** the result of a running call is dropped. **Policy:** holds nothing.
  ///
  /// - Parameters:
  ///   - count: the size of a chunk, in bytes.
  ///   - scheduler: an ``EventLoop``, or virtual time in a test, where they are the same each time.
  /// - Precondition: `count` is more than zero.
  public static func chunks(of count: Int, on scheduler: any LoopScheduler) -> Publishers.RandomChunks {
    precondition(count > 0, "RandomBytes.chunks(of: \(count)): a chunk of no bytes; use 1 or more")
    return Publishers.RandomChunks(count: count, scheduler: scheduler)
  }
}

extension Publishers {
  /// See ``RandomBytes/chunks(of:on:)``.
  public struct RandomChunks: Publisher {
    public typealias Output = Chunk
    public typealias Failure = SystemError

    let count: Int
    let scheduler: any LoopScheduler

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Chunk, S.Failure == SystemError {
      let source = Publishers.FileBytes.Source.made(by: scheduler.world("RandomBytes").randomBytes)
      Publishers.FileBytes(source: source, offset: nil, chunkSize: count, scheduler: scheduler)
        .receive(subscriber: subscriber)
    }
  }
}

/// Fills memory, or returns the reason why it could not. Blocks.
package typealias ByteMaker = @Sendable (UnsafeMutableBufferPointer<UInt8>) -> SystemError?

extension EventLoop {
  package var randomBytes: ByteMaker {
    { room in
      let code = uv_random(nil, nil, room.baseAddress, room.count, 0, nil)
      return code == 0 ? nil : SystemError("read", "random bytes", code: code)
    }
  }
}

/// A file of bytes that are made.
final class MadeFile: OpenFile {
  private let make: ByteMaker

  init(_ make: @escaping ByteMaker) { self.make = make }

  func read(into room: UnsafeMutableBufferPointer<UInt8>, at offset: Int64?) throws(SystemError) -> Int {
    if let error = make(room) { throw error }
    return room.count
  }

  func write(_ chunks: [Chunk]) -> (written: Int, error: SystemError?) {
    (0, SystemError("write to", "bytes that are made", code: Errno.closed))
  }

  func sync() throws(SystemError) {}
  func status() throws(SystemError) -> FileStatus {
    throw SystemError("look at", "bytes that are made", code: Errno.closed)
  }
}
