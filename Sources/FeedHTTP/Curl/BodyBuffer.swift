import Foundation

/// The bytes of a body as they arrive, in one block that becomes the response's `Data` without being copied.
struct BodyBuffer: ~Copyable {
  // From `malloc`, owned by this value until `takeData()` passes it on.
  private var base: UnsafeMutableRawPointer?
  private var capacity = 0
  private(set) var count = 0
  /// The maximum number of bytes.
  var limit = 0

  deinit { free(base) }

  enum Refusal { case tooLarge, noMemory }

  /// Adds `bytes`.
  mutating func append(_ bytes: UnsafeRawBufferPointer) -> Refusal? {
    guard bytes.count <= limit - count else { return .tooLarge }
    if let refusal = makeRoom(for: bytes.count) { return refusal }
    guard let source = bytes.baseAddress else { return nil }
    memcpy(base! + count, source, bytes.count)
    count += bytes.count
    return nil
  }

  /// Makes room for at least `extra` more bytes.
  mutating func makeRoom(for extra: Int) -> Refusal? {
    guard extra > capacity - count else { return nil }
    guard extra <= limit - count else { return .tooLarge }
    // Doubles the size, but not beyond the limit or, if a length was announced, beyond that length.
    let wanted = min(limit, max(count + extra, 2 * capacity))
    guard let grown = realloc(base, wanted) else { return .noMemory }
    base = grown
    capacity = wanted
    return nil
  }

  /// The free space; report the bytes written to it with ``didWrite(_:)``.
  var room: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: base.map { $0 + count }, count: capacity - count)
  }

  mutating func didWrite(_ bytes: Int) { count += bytes }

  /// Returns the bytes and empties the buffer.
  mutating func takeData() -> Data {
    guard let base, count > 0 else {
      discard()
      return Data()
    }
    // Gives unused space back if it exceeds a quarter of the content; otherwise, pages that were written to would stay
    // in memory.
    let block = capacity > count + count / 4 ? realloc(base, count) ?? base : base
    let data = Data(bytesNoCopy: block, count: count, deallocator: .free)
    self.base = nil
    capacity = 0
    count = 0
    return data
  }

  mutating func discard() {
    free(base)
    base = nil
    capacity = 0
    count = 0
  }
}
