/// Writes bytes one after another into memory that is large enough.
struct ByteCursor {
  /// The position of the next byte.
  var at: UnsafeMutablePointer<UInt8>

  mutating func put(_ text: StaticString) {
    at.update(from: text.utf8Start, count: text.utf8CodeUnitCount)
    at += text.utf8CodeUnitCount
  }

  mutating func put(_ bytes: [UInt8]) { bytes.withUnsafeBytes { put($0) } }

  mutating func put(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    at.update(from: base.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    at += bytes.count
  }

  mutating func put(_ number: Int) {
    if number >= 10 { put(number / 10) }
    at.pointee = UInt8(0x30 + number % 10)
    at += 1
  }

  /// Writes a field and the end of its line.
  ///
  /// - Returns: false if it isn't a field.
  mutating func putField(_ name: String, _ value: String) -> Bool {
    guard !name.isEmpty, put(name, ByteClass.token) else { return false }
    put(": ")
    return putValue(value)
  }

  /// Writes a field's value and the end of its line.
  ///
  /// - Returns: false if it has characters that are not allowed in a value.
  mutating func putValue(_ value: String) -> Bool {
    guard put(value, ByteClass.text) else { return false }
    put("\r\n")
    return true
  }

  /// - Returns: false unless all bytes are of this class.
  private mutating func put(_ text: String, _ kind: UInt8) -> Bool {
    let classes = ByteClass.table
    let (place, count) = (at, text.utf8.count)
    var common = kind
    let isContiguous: Void? = text.utf8.withContiguousStorageIfAvailable { bytes in
      for index in 0..<bytes.count {
        place[index] = bytes[index]
        common &= classes[Int(bytes[index])]
      }
    }
    if isContiguous == nil {
      for (index, byte) in text.utf8.enumerated() {
        place[index] = byte
        common &= classes[Int(byte)]
      }
    }
    at += count
    return common != 0
  }
}
