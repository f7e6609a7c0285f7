/// Delivers a file's chunks, and reads into a subscriber's memory what needs no disk.
final class FileSubscription: ReadingOffLoop, ReadsCached {
  private let reader: FileReader

  init(_ down: ErasedSubscriber<Chunk, SystemError>, on scheduler: any LoopScheduler, _ reader: FileReader) {
    self.reader = reader
    super.init(down, on: scheduler, isOver: { reader.isOver }, { reader.read() })
  }

  func readCached(into room: UnsafeMutableRawBufferPointer) -> Int? {
    // The pool's threads have it while a chunk is being read.
    guard !isReading, down != nil else { return nil }
    return reader.readCached(into: room)
  }
}

/// A subscription whose subscriber may take the next bytes itself when they are in memory: without a thread, and without a chunk.
package protocol ReadsCached: Subscription {
  /// Reads the next bytes, which are not delivered. Does not block.
  ///
  /// - Returns: the number of bytes; `nil` when a chunk has to be requested: before the first, at the end, and whenever
  ///   the bytes are on a disk.
  func readCached(into room: UnsafeMutableRawBufferPointer) -> Int?
}
