/// Receives the parts of a document from ``XMLScanner``.
protocol XMLSink {
  /// False if text is not needed and can be skipped.
  var wantsText: Bool { get }
  /// The hash of the name of the element whose text is being read or skipped: its end tag ends an unterminated CDATA
  /// section.
  var textElement: UInt64? { get }
  mutating func open(_ tag: borrowing XMLTag) throws(FeedFormatError)
  mutating func close(_ name: Bytes) throws(FeedFormatError)
  /// Receives a piece of text. `isLiteral` is true in CDATA sections, which have no entities.
  mutating func text(_ bytes: Bytes, isLiteral: Bool) throws(FeedFormatError)
  mutating func doctype(_ name: Bytes) throws(FeedFormatError)
  mutating func repair(_ repair: Repairs)
}

/// Finds the tags and the text in a document, chunk by chunk. The document need not be well-formed XML.
///
/// The only errors are exceeded limits. Document types are skipped, and no entities except HTML's are resolved.
/// Rereading is limited: an incomplete tag is read again only when it has grown by a quarter.
struct XMLScanner {
  enum State {
    case text, comment, instruction
    case cdata
    case doctype
  }

  /// The unread text, in UTF-8: the decoder appends here.
  var pending: [UInt8] = []
  let limits: FeedLimits
  var state = State.text
  /// The number of bytes that must be available before an incomplete part is read again.
  var enough = 0
  /// The position up to which a CDATA section has been searched for its end.
  var searched = 0
  /// The beginning of the last part of that section in which no other section begins.
  var segment = 0
  var doctype = DoctypeSkipper()

  init(limits: FeedLimits) { self.limits = limits }

  /// Passes on the complete parts of ``pending``, or all of it if `isLast` is true.
  mutating func scan<Sink: XMLSink>(isLast: Bool, into sink: inout Sink) throws(FeedFormatError) {
    guard isLast || pending.count >= enough else { return }
    enough = 0
    let whole = pending
    pending = []
    let taken = try whole.withUnsafeBufferPointer { bytes throws(FeedFormatError) in
      try scan(bytes, isLast: isLast, into: &sink)
    }
    if taken < whole.count {
      if isLast { sink.repair(.cutOff) }
      pending = Array(whole[taken...])
      if enough > 0 { enough = pending.count + pending.count / 4 }
    }
  }

  private mutating func scan<Sink: XMLSink>(
    _ bytes: Bytes, isLast: Bool, into sink: inout Sink
  ) throws(FeedFormatError) -> Int {
    var tag = XMLTag(bytes: bytes)
    var index = 0
    while index < bytes.count {
      let next: Int?
      switch state {
      case .text:
        if bytes[index] == UInt8(ascii: "<") {
          next = try markup(bytes, at: index, isLast: isLast, tag: &tag, into: &sink)
        } else {
          next = try text(bytes, from: index, isLast: isLast, into: &sink)
        }
      case .comment: next = skipComment(bytes, from: index, isLast: isLast)
      case .instruction: next = skipInstruction(bytes, from: index, isLast: isLast)
      case .cdata: next = try cdata(bytes, from: index, isLast: isLast, into: &sink)
      case .doctype: next = try skipDoctype(bytes, from: index, into: &sink)
      }
      guard let next else { break }
      index = next
    }
    return index
  }

  private func text<Sink: XMLSink>(
    _ bytes: Bytes, from start: Int, isLast: Bool, into sink: inout Sink
  ) throws(FeedFormatError) -> Int? {
    let tag = bytes.firstIndex(of: UInt8(ascii: "<"), from: start, to: bytes.count)
    var end = tag ?? bytes.count
    guard sink.wantsText else { return end }
    if tag == nil, !isLast { end = Self.wholeText(bytes, from: start) }
    guard end > start else { return nil }
    try sink.text(bytes.part(start, end), isLiteral: false)
    return end
  }

  /// The end of the text that can be passed on now: before an entity, or a line break of two characters, that may
  /// continue in the next chunk.
  private static func wholeText(_ bytes: Bytes, from start: Int) -> Int {
    var index = bytes.count
    if bytes[index - 1] == UInt8(ascii: "\r") { index -= 1 }
    let whole = index
    let first = max(start, index - Entities.longest)
    while index > first {
      index -= 1
      if bytes[index] == UInt8(ascii: ";") { return whole }
      if bytes[index] == UInt8(ascii: "&") { return index }
    }
    return whole
  }

  private mutating func markup<Sink: XMLSink>(
    _ bytes: Bytes, at index: Int, isLast: Bool, tag: inout XMLTag, into sink: inout Sink
  ) throws(FeedFormatError) -> Int? {
    guard index + 1 < bytes.count else { return nil }
    let second = bytes[index + 1]
    if second.beginsName { return try openingTag(bytes, at: index, tag: &tag, into: &sink) }
    switch second {
    case UInt8(ascii: "/"): return try endTag(bytes, at: index, isLast: isLast, into: &sink)
    case UInt8(ascii: "?"):
      state = .instruction
      return index + 2
    case UInt8(ascii: "!"):
      if bytes.starts(with: "<!--", at: index) {
        state = .comment
        return index + 4
      }
      if bytes.starts(with: "<![CDATA[", at: index) {
        (state, searched, segment) = (.cdata, 0, 0)
        return index + 9
      }
      guard bytes.count - index >= 9 else { return nil }
      if bytes.startsIgnoringCase(with: "<!doctype", at: index) {
        (state, doctype) = (.doctype, DoctypeSkipper())
        sink.repair(.doctype)
        return index + 9
      }
      return try lessThan(bytes, at: index, into: &sink)
    default: return try lessThan(bytes, at: index, into: &sink)
    }
  }

  /// Handles a `<` that doesn't begin markup.
  private func lessThan<Sink: XMLSink>(
    _ bytes: Bytes, at index: Int, into sink: inout Sink
  ) throws(FeedFormatError) -> Int {
    if sink.wantsText {
      sink.repair(.lessThan)
      try sink.text(bytes.part(index, index + 1), isLiteral: true)
    }
    return index + 1
  }

  private mutating func openingTag<Sink: XMLSink>(
    _ bytes: Bytes, at index: Int, tag: inout XMLTag, into sink: inout Sink
  ) throws(FeedFormatError) -> Int? {
    var repairs: Repairs = []
    let (end, problem) = tag.read(at: index, limits: (limits.attributes, limits.nameBytes), repairs: &repairs)
    guard end - index <= limits.tagBytes else { throw .tagTooLong(limit: limits.tagBytes) }
    switch problem {
    case nil:
      if !repairs.isEmpty { sink.repair(repairs) }
      try sink.open(tag)
      return end
    case .text: return try lessThan(bytes, at: index, into: &sink)
    case .nameTooLong: throw .nameTooLong(limit: limits.nameBytes)
    case .tooManyAttributes: throw .tooManyAttributes(limit: limits.attributes)
    case .unfinished:
      guard bytes.count - index <= limits.tagBytes else { throw .tagTooLong(limit: limits.tagBytes) }
      enough = 1
      return nil
    }
  }

  private mutating func endTag<Sink: XMLSink>(
    _ bytes: Bytes, at index: Int, isLast: Bool, into sink: inout Sink
  ) throws(FeedFormatError) -> Int? {
    var end = index + 2
    while end < bytes.count, bytes[end] != UInt8(ascii: ">"), bytes[end] != UInt8(ascii: "<") { end += 1 }
    guard end - index <= limits.nameBytes else { throw .nameTooLong(limit: limits.nameBytes) }
    guard end < bytes.count || isLast else { return nil }
    try sink.close(bytes.part(index + 2, end).trimmed)
    return end < bytes.count && bytes[end] == UInt8(ascii: ">") ? end + 1 : end
  }
}
