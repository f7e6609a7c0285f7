import CLibrary

typealias Bytes = UnsafeBufferPointer<UInt8>

extension UnsafeBufferPointer where Element == UInt8 {
  /// The part from `start` up to, but not including, `end`.
  @inline(__always)
  func part(_ start: Int, _ end: Int) -> Bytes {
    Bytes(start: baseAddress.map { $0 + start }, count: end - start)
  }

  /// The first index of `byte` in `start..<end`.
  @inline(__always)
  func firstIndex(of byte: UInt8, from start: Int, to end: Int) -> Int? {
    guard start < end, let base = baseAddress, let found = memchr(base + start, Int32(byte), end - start) else {
      return nil
    }
    return base.distance(to: found.assumingMemoryBound(to: UInt8.self))
  }

  /// The first index of `text` at or after `start`.
  func firstRange(of text: StaticString, from start: Int = 0) -> Int? {
    let last = count - text.utf8CodeUnitCount
    var index = start
    while let found = firstIndex(of: text.utf8Start[0], from: index, to: last + 1) {
      if starts(with: text, at: found) { return found }
      index = found + 1
    }
    return nil
  }

  @inline(__always)
  func starts(with text: StaticString, at index: Int = 0) -> Bool {
    guard count - index >= text.utf8CodeUnitCount, let base = baseAddress else { return false }
    return memcmp(base + index, text.utf8Start, text.utf8CodeUnitCount) == 0
  }

  /// True if the bytes end with `text`, ignoring the case of ASCII letters.
  func endsIgnoringCase(with text: StaticString) -> Bool {
    count >= text.utf8CodeUnitCount && startsIgnoringCase(with: text, at: count - text.utf8CodeUnitCount)
  }

  /// True if the bytes at `index` begin with `text`, ignoring the case of ASCII letters; `text` must be in lower case.
  func startsIgnoringCase(with text: StaticString, at index: Int = 0) -> Bool {
    let length = text.utf8CodeUnitCount
    guard count - index >= length else { return false }
    for place in 0..<length where self[index + place].lowercased != text.utf8Start[place] { return false }
    return true
  }

  /// True if the tag whose name begins at `index` is called `name`, which must be in lower case.
  func beginsTag(_ name: StaticString, at index: Int) -> Bool {
    let end = index + name.utf8CodeUnitCount
    return startsIgnoringCase(with: name, at: index) && end < count
      && (self[end].isSpace || self[end] == UInt8(ascii: "/") || self[end] == UInt8(ascii: ">"))
  }

  @inline(__always)
  func equals(_ text: StaticString) -> Bool { count == text.utf8CodeUnitCount && starts(with: text) }

  func equalsIgnoringCase(_ text: StaticString) -> Bool {
    count == text.utf8CodeUnitCount && startsIgnoringCase(with: text)
  }

  /// The bytes without leading and trailing whitespace and control characters.
  var trimmed: Bytes {
    var (start, end) = (0, count)
    while start < end, self[start] <= 0x20 { start += 1 }
    while end > start, self[end - 1] <= 0x20 { end -= 1 }
    return part(start, end)
  }

  var string: String { String(decoding: self, as: UTF8.self) }

  /// The number at the beginning, without a sign; everything after its digits is ignored (`640px`). `nil` if there is
  /// none, or if it has more than nine digits.
  var integer: Int? {
    let digits = trimmed
    var (value, index) = (0, 0)
    while index < digits.count, digits[index].isDigit {
      guard value < 100_000_000 else { return nil }
      value = value * 10 + Int(digits[index] - UInt8(ascii: "0"))
      index += 1
    }
    return index > 0 ? value : nil
  }

  /// The FNV-1a hash, with letters in lower case; for comparing names.
  @inline(__always)
  var nameHash: UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in self { hash = (hash ^ UInt64(byte.lowercased)) &* 0x100_0000_01b3 }
    return hash
  }
}

extension UInt8 {
  @inline(__always)
  var lowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }

  @inline(__always)
  var isDigit: Bool { self &- 0x30 < 10 }

  @inline(__always)
  var isLetter: Bool { (self | 0x20) &- 0x61 < 26 }

  /// Space, tab, line feed, carriage return, form feed.
  @inline(__always)
  var isSpace: Bool { self == 0x20 || self &- 0x09 < 5 }

  /// True for a byte that may begin the name of an element.
  @inline(__always)
  var beginsName: Bool { isLetter || self == UInt8(ascii: "_") || self == UInt8(ascii: ":") || self >= 0x80 }
}

extension StaticString {
  var nameHash: UInt64 { Bytes(start: utf8Start, count: utf8CodeUnitCount).nameHash }
}

extension String {
  /// Calls `body` with the text's UTF-8.
  @inline(__always)
  func withBytes<Result, Failure: Error>(_ body: (Bytes) throws(Failure) -> Result) throws(Failure) -> Result {
    var text = self
    text.makeContiguousUTF8()
    // `withUTF8` does not forward typed errors.
    var outcome: Swift.Result<Result, Failure>!
    text.withUTF8 { bytes in
      do throws(Failure) { outcome = .success(try body(bytes)) } catch { outcome = .failure(error) }
    }
    return try outcome.get()
  }
}

extension [UInt8] {
  @inline(__always)
  mutating func append(_ bytes: Bytes) { append(contentsOf: bytes) }

  mutating func append(_ scalar: Unicode.Scalar) { append(contentsOf: UTF8.encode(scalar)!) }

  @inline(__always)
  func withBytes<Result>(_ body: (Bytes) throws -> Result) rethrows -> Result {
    try withUnsafeBufferPointer(body)
  }
}
