extension XMLScanner {
  mutating func skipComment(_ bytes: Bytes, from start: Int, isLast: Bool) -> Int? {
    let rest = bytes.part(start, bytes.count)
    if let end = rest.firstRange(of: "-->") {
      state = .text
      return start + end + 3
    }
    if isLast { return bytes.count }
    return rest.count > 2 ? bytes.count - 2 : nil
  }

  /// The distance after the first `>` of a processing instruction within which to search for its real end.
  private static var instructionBytes: Int { 1024 }

  /// Skips a processing instruction: up to `?>`, or up to the first `>` when there is no `?>` before the next tag.
  mutating func skipInstruction(_ bytes: Bytes, from start: Int, isLast: Bool) -> Int? {
    guard let first = bytes.firstIndex(of: UInt8(ascii: ">"), from: start, to: bytes.count) else {
      if isLast { return bytes.count }
      // Don't keep skipped bytes, except a `?` that may be the first half of `?>`.
      let kept = bytes[bytes.count - 1] == UInt8(ascii: "?") ? 1 : 0
      return bytes.count - kept > start ? bytes.count - kept : nil
    }
    if first > start, bytes[first - 1] == UInt8(ascii: "?") {
      state = .text
      return first + 1
    }
    let last = min(bytes.count, first + Self.instructionBytes)
    let tag = bytes.firstIndex(of: UInt8(ascii: "<"), from: first, to: last)
    let end = bytes.part(first, tag ?? last).firstRange(of: "?>")
    // Wait for more bytes, so that the size of the chunks doesn't affect the result.
    guard isLast || end != nil || tag != nil || last == first + Self.instructionBytes else {
      return first > start + 1 ? first - 1 : nil
    }
    state = .text
    return end.map { first + $0 + 2 } ?? first + 1
  }

  mutating func skipDoctype<Sink: XMLSink>(
    _ bytes: Bytes, from start: Int, into sink: inout Sink
  ) throws(FeedFormatError) -> Int? {
    let (end, isOver) = doctype.skip(bytes, from: start)
    guard doctype.length <= limits.doctypeBytes else { throw .doctypeTooLong(limit: limits.doctypeBytes) }
    if isOver {
      state = .text
      try doctype.name.withUnsafeBufferPointer { name throws(FeedFormatError) in try sink.doctype(name) }
    }
    return end
  }

  /// Passes on a CDATA section as a whole. A section without an end ends with its parent element.
  mutating func cdata<Sink: XMLSink>(
    _ bytes: Bytes, from start: Int, isLast: Bool, into sink: inout Sink
  ) throws(FeedFormatError) -> Int? {
    let rest = bytes.part(start, bytes.count)
    while let mark = Self.nextMark(rest, from: searched) {
      if mark.isEnd {
        state = .text
        if sink.wantsText, mark.index > 0 { try sink.text(rest.part(0, mark.index), isLiteral: true) }
        return start + mark.index + 3
      }
      // Another section begins. If the element ended before it, this section was not closed.
      if let end = try endOfUnclosed(rest.part(0, mark.index), into: &sink) { return start + end }
      (searched, segment) = (mark.index + 9, mark.index)
    }
    guard isLast else {
      guard rest.count <= limits.textBytes else { throw .textTooLong(limit: limits.textBytes) }
      (searched, enough) = (max(searched, rest.count - 8), 1)
      return nil
    }
    if let end = try endOfUnclosed(rest, into: &sink) { return start + end }
    state = .text
    sink.repair([.cdata, .cutOff])
    if sink.wantsText, rest.count > 0 { try sink.text(rest, isLiteral: true) }
    return bytes.count
  }

  /// Ends a section at the end tag of its element, if it contains that tag, and returns the position.
  private mutating func endOfUnclosed<Sink: XMLSink>(
    _ section: Bytes, into sink: inout Sink
  ) throws(FeedFormatError) -> Int? {
    guard let element = sink.textElement,
      let end = Self.endTag(of: element, in: section.part(segment, section.count)).map({ $0 + segment })
    else { return nil }
    state = .text
    sink.repair(.cdata)
    if sink.wantsText { try sink.text(section.part(0, end), isLiteral: true) }
    return end
  }

  /// The next `]]>` or `<![CDATA[`. The text is searched in parts of doubling size, because one of the two markers may
  /// be far away and is searched for again each time.
  private static func nextMark(_ bytes: Bytes, from start: Int) -> (index: Int, isEnd: Bool)? {
    var (start, length) = (start, 256)
    while start < bytes.count {
      let part = bytes.part(start, min(bytes.count, start + length))
      let (end, begin) = (part.firstRange(of: "]]>"), part.firstRange(of: "<![CDATA["))
      if let end, end < begin ?? .max { return (start + end, true) }
      if let begin { return (start + begin, false) }
      if start + part.count == bytes.count { return nil }
      (start, length) = (start + part.count - 8, length * 2)
    }
    return nil
  }

  /// The position of the first `</name` whose name has this hash.
  private static func endTag(of element: UInt64, in bytes: Bytes) -> Int? {
    var index = 0
    while let tag = bytes.part(index, bytes.count).firstRange(of: "</").map({ $0 + index }) {
      let name = bytes.part(tag + 2, min(bytes.count, tag + 66)).prefix { $0 != UInt8(ascii: ">") && !$0.isSpace }
      if Bytes(rebasing: name).nameHash == element { return tag }
      index = tag + 2
    }
    return nil
  }
}

/// Skips a document type declaration: its declarations in brackets, quoted strings and comments.
struct DoctypeSkipper {
  private enum Place {
    case outside, brackets
    case quoted(UInt8, isInBrackets: Bool)
    case comment(dashes: Int)
  }

  private(set) var length = 0
  /// The name of the document's element.
  private(set) var name: [UInt8] = []
  private var isNamed = false
  private var place = Place.outside
  /// The number of characters of `<!--` that have just been read.
  private var opening = 0

  /// The end of the declaration, or of its part so far.
  mutating func skip(_ bytes: Bytes, from start: Int) -> (end: Int, isOver: Bool) {
    for index in start..<bytes.count {
      length += 1
      if take(bytes[index]) { return (index + 1, true) }
    }
    return (bytes.count, false)
  }

  /// Reads one byte; true at the end of the declaration.
  private mutating func take(_ byte: UInt8) -> Bool {
    switch place {
    case .outside:
      switch byte {
      case UInt8(ascii: ">"): return true
      case UInt8(ascii: "["): place = .brackets
      case UInt8(ascii: "\""), UInt8(ascii: "'"): place = .quoted(byte, isInBrackets: false)
      default: takeName(byte)
      }
    case .brackets:
      let expected: [UInt8] = [0x3C, 0x21, 0x2D, 0x2D]
      opening = byte == expected[opening] ? opening + 1 : byte == expected[0] ? 1 : 0
      if opening == 4 {
        (place, opening) = (.comment(dashes: 0), 0)
      } else if byte == UInt8(ascii: "]") {
        place = .outside
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        place = .quoted(byte, isInBrackets: true)
      }
    case .quoted(let quote, let isInBrackets):
      if byte == quote { place = isInBrackets ? .brackets : .outside }
    case .comment(let dashes):
      if byte == UInt8(ascii: ">"), dashes >= 2 {
        place = .brackets
      } else {
        place = .comment(dashes: byte == UInt8(ascii: "-") ? dashes + 1 : 0)
      }
    }
    return false
  }

  private mutating func takeName(_ byte: UInt8) {
    if isNamed || name.count >= 32 { return }
    if byte.isSpace { isNamed = !name.isEmpty } else { name.append(byte) }
  }
}
