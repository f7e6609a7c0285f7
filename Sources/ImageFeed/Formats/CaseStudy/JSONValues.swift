extension UnsafeRawBufferPointer {
  /// Whether the JSON in these bytes may have more values than `limit`: there is one for each comma and opening bracket
  /// outside of strings. Found without a decoder, which takes 50 bytes for each.
  func holdsMoreJSONValues(than limit: Int) -> Bool {
    // In UTF-16 and UTF-32 half a character may look like a quotation mark: there all are counted, in strings as well.
    let isOfBytes = !prefix(4).contains { $0 == 0 || $0 >= 0xFE }
    var (count, index) = (0, 0)
    while index < self.count {
      switch self[index] {
      case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "{"):
        count += 1
        if count > limit { return true }
      case UInt8(ascii: "\"") where isOfBytes: index = endOfString(from: index + 1)
      default: break
      }
      index += 1
    }
    return false
  }

  /// Where the string ends that begins at `index`.
  private func endOfString(from index: Int) -> Int {
    var index = index
    while index < count, self[index] != UInt8(ascii: "\"") { index += self[index] == UInt8(ascii: "\\") ? 2 : 1 }
    return index
  }
}
