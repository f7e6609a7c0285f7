import Foundation

extension FeedImage.ID {
  /// The id in 20 bytes, as caches hold it.
  var stored: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(20)
    append(to: &bytes)
    return bytes
  }

  /// Appends the bytes of the UUID, and then the number as four big-endian bytes.
  func append(to bytes: inout [UInt8]) {
    withUnsafeBytes(of: uuid.uuid) { bytes.append(contentsOf: $0) }
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  /// Reads 20 bytes that ``stored`` wrote.
  init(stored: UnsafeRawBufferPointer) {
    self.init(
      UUID(uuid: stored.loadUnaligned(as: uuid_t.self)),
      number: UInt32(bigEndian: stored.loadUnaligned(fromByteOffset: 16, as: UInt32.self)))
  }
}
