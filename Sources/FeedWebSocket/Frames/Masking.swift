/// Masks and unmasks bytes, which is the same operation (RFC 6455, 5.3).
enum Masking {
  /// Writes the bytes of `source` to `target`, masked.
  ///
  /// - Parameters:
  ///   - target: memory for at least as many bytes; may be `source` itself.
  ///   - mask: four bytes, in memory order.
  ///   - offset: the position of the first byte in the frame's payload.
  static func apply(
    _ mask: UInt32, at offset: Int, from source: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer
  ) {
    guard let from = source.baseAddress, source.count > 0 else { return }
    // Rotates the mask, so that it begins with the byte for the first byte of `source`.
    let turn = UInt32(truncatingIfNeeded: (offset & 3) * 8)
    let mask = UInt32(littleEndian: mask)
    let turned = (turn == 0 ? mask : mask >> turn | mask << (32 - turn)).littleEndian
    let wide = SIMD8<UInt32>(repeating: turned)
    var at = 0
    while at &+ 32 <= source.count {
      let word = from.loadUnaligned(fromByteOffset: at, as: SIMD8<UInt32>.self)
      target.storeBytes(of: word ^ wide, toByteOffset: at, as: SIMD8<UInt32>.self)
      at &+= 32
    }
    while at &+ 4 <= source.count {
      let word = from.loadUnaligned(fromByteOffset: at, as: UInt32.self)
      target.storeBytes(of: word ^ turned, toByteOffset: at, as: UInt32.self)
      at &+= 4
    }
    var rest = UInt32(littleEndian: turned)
    while at < source.count {
      let byte = from.load(fromByteOffset: at, as: UInt8.self) ^ UInt8(truncatingIfNeeded: rest)
      target.storeBytes(of: byte, toByteOffset: at, as: UInt8.self)
      rest >>= 8
      at &+= 1
    }
  }
}
