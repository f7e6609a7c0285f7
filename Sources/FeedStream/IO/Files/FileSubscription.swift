/// Delivers a file's chunks, and reads bytes that are in the system's memory directly into a subscriber's memory.
final class FileSubscription: ReadingOffLoop, ReadsCached {
  private let reader: FileReader

  init(_ down: ErasedSubscriber<Chunk, SystemError>, on scheduler: any LoopScheduler, _ reader: FileReader) {
    self.reader = reader
    super.init(down, on: scheduler, isOver: { reader.isOver }, { reader.read() })
  }

  func readCached(into room: UnsafeMutableRawBufferPointer) -> Int? {
    // A thread of the pool uses the reader while a chunk is being read.
    guard !isReading, down != nil else { return nil }
    return reader.readCached(into: room)
  }
}

/// A subscription whose subscriber may read the next bytes itself if they are in memory, without a thread or a chunk.
package protocol ReadsCached: Subscription {
  /// Reads the next bytes, which are then not delivered. Does not block.
  ///
  /// - Returns: the number of bytes; `nil` if you must request a chunk instead: before the first chunk, at the end, and
  ///   when the bytes are not in memory.
  func readCached(into room: UnsafeMutableRawBufferPointer) -> Int?
}
