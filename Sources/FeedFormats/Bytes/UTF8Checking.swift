import CSimdJSON

extension UnsafeBufferPointer where Element == UInt8 {
  var isUTF8: Bool { csimdjson_is_utf8(baseAddress, count) }

  var isASCII: Bool {
    let bytes = UnsafeRawBufferPointer(self)
    var (index, high) = (0, UInt64(0))
    while index + 8 <= count, high & 0x8080_8080_8080_8080 == 0 {
      high = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      index += 8
    }
    return high & 0x8080_8080_8080_8080 == 0 && self[index...].allSatisfy { $0 < 0x80 }
  }

  /// The number of bytes, excluding a character at the end that may continue in the next chunk.
  var countOfWholeCharacters: Int {
    for back in 1..<4 where back <= count {
      let byte = self[count - back]
      if byte & 0xC0 == 0x80 { continue }
      let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
      return length > back ? count - back : count
    }
    return count
  }

  /// The number of characters of valid UTF-8 that are not ASCII.
  var countOfFirstBytes: Int {
    var count = 0
    for byte in self { count &+= byte >= 0xC0 ? 1 : 0 }
    return count
  }

  /// The number of bytes before the first one that is not UTF-8.
  var countOfUTF8: Int {
    var index = 0
    while index < count, let length = lengthOfCharacter(at: index) { index += length }
    return index
  }

  /// The numbers of non-ASCII UTF-8 characters and of bytes that aren't UTF-8.
  var countsOfCharacters: (characters: Int, strays: Int) {
    var (index, characters, strays) = (0, 0, 0)
    while index < count {
      if self[index] < 0x80 {
        index += 1
      } else if let length = lengthOfCharacter(at: index) {
        characters += 1
        index += length
      } else {
        strays += 1
        index += 1
      }
    }
    return (characters, strays)
  }

  /// The length of the UTF-8 character at `index`; `nil` if there is none.
  func lengthOfCharacter(at index: Int) -> Int? {
    let first = self[index]
    let (length, lowest, highest): (Int, UInt8, UInt8)
    switch first {
    case ..<0x80: return 1
    case 0xC2...0xDF: (length, lowest, highest) = (2, 0x80, 0xBF)
    case 0xE0: (length, lowest, highest) = (3, 0xA0, 0xBF)
    case 0xED: (length, lowest, highest) = (3, 0x80, 0x9F)
    case 0xE1...0xEF: (length, lowest, highest) = (3, 0x80, 0xBF)
    case 0xF0: (length, lowest, highest) = (4, 0x90, 0xBF)
    case 0xF1...0xF3: (length, lowest, highest) = (4, 0x80, 0xBF)
    case 0xF4: (length, lowest, highest) = (4, 0x80, 0x8F)
    default: return nil
    }
    guard index + length <= count, (lowest...highest).contains(self[index + 1]) else { return nil }
    for place in 2..<4 where place < length {
      guard self[index + place] & 0xC0 == 0x80 else { return nil }
    }
    return length
  }
}

extension [UInt8] {
  /// Appends `bytes`, reading invalid UTF-8 as windows-1252.
  mutating func appendRepaired(_ bytes: Bytes) {
    var index = 0
    while index < bytes.count {
      let valid = bytes.part(index, bytes.count).countOfUTF8
      append(bytes.part(index, index + valid))
      index += valid
      guard index < bytes.count else { break }
      append(Windows1252.scalar(bytes[index]))
      index += 1
    }
  }
}
