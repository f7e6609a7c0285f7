/// A digest of the bytes of a body: the same on every machine and in every release.
///
/// The digest has 64 bits and isn't cryptographic: only the feed's own server could forge one. Two different bodies
/// have the same digest with a probability of 2^-64.
public struct BodyDigest: Hashable, Sendable {
  public let value: UInt64

  /// The value in base 36.
  package var text: String { String(value, radix: 36) }

  public init(value: UInt64) { self.value = value }

  public init(_ bytes: some Sequence<UInt8>) {
    var digest = BodyDigest.Builder()
    if bytes.withContiguousStorageIfAvailable({ digest.append(UnsafeRawBufferPointer($0)) }) == nil {
      Array(bytes).withUnsafeBytes { digest.append($0) }
    }
    self = digest.finish()
  }

  /// Makes a digest of bytes as they arrive, in chunks of any size.
  public struct Builder: Sendable {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    private var word: UInt64 = 0
    private var count: UInt64 = 0

    public init() {}

    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
      var place = 0
      while count & 7 != 0, place < bytes.count {
        append(bytes[place])
        place += 1
      }
      while place + 8 <= bytes.count {
        mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
        count += 8
        place += 8
      }
      while place < bytes.count {
        append(bytes[place])
        place += 1
      }
    }

    private mutating func append(_ byte: UInt8) {
      word |= UInt64(byte) << (8 * (count & 7))
      count += 1
      if count & 7 == 0 {
        mix(word)
        word = 0
      }
    }

    /// Multiplies to 128 bits and folds them, so that each bit of the word affects every bit of the state.
    private mutating func mix(_ word: UInt64) {
      let product = (state ^ word).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
      state = (product.high ^ product.low) &+ 0x9E37_79B9_7F4A_7C15
    }

    public consuming func finish() -> BodyDigest {
      mix(word)
      mix(count)
      return BodyDigest(value: state)
    }
  }
}
