/// The opening tag of an element, while it is being read.
struct XMLTag {
  let bytes: Bytes
  /// The tag's bytes, from `<` to `>`.
  var source = 0..<0
  var name = 0..<0
  var isClosed = false
  var attributes: [XMLAttribute] = []
  /// False in HTML, where a value may contain tags.
  private let isXML: Bool
  /// True when the bytes ended inside the last tag that ``readInHTML(at:attributes:)`` was to read.
  private(set) var isUnfinished = false
  /// The number of bytes that were read in vain by ``readInHTML(at:attributes:)``.
  private var wasted = 0

  init(bytes: Bytes, isXML: Bool = true) {
    self.bytes = bytes
    self.isXML = isXML
  }

  var nameBytes: Bytes { bytes.part(name.lowerBound, name.upperBound) }
  var sourceBytes: Bytes { bytes.part(source.lowerBound, source.upperBound) }

  func name(of attribute: XMLAttribute) -> Bytes {
    bytes.part(Int(attribute.nameStart), Int(attribute.nameEnd))
  }

  /// The raw value, with its entities.
  func rawValue(of attribute: XMLAttribute) -> Bytes {
    bytes.part(Int(attribute.valueStart), Int(attribute.valueEnd))
  }

  /// The raw value of the first attribute of this name; `name` is in lower case.
  func rawValue(_ name: StaticString) -> Bytes? {
    for attribute in attributes where self.name(of: attribute).equalsIgnoringCase(name) {
      return rawValue(of: attribute)
    }
    return nil
  }

  /// The value with its entities resolved, trimmed.
  func value(_ name: StaticString) -> String? {
    guard let raw = rawValue(name)?.trimmed else { return nil }
    guard raw.firstIndex(of: UInt8(ascii: "&"), from: 0, to: raw.count) != nil else { return raw.string }
    var text: [UInt8] = []
    Entities.append(raw, to: &text)
    return String(decoding: text, as: UTF8.self)
  }
}

struct XMLAttribute {
  var nameStart, nameEnd, valueStart, valueEnd: Int32
}

/// The reason why a tag could not be read.
enum TagProblem {
  /// The bytes end inside the tag.
  case unfinished
  /// The tag contains a `<`, or too many attributes of which most are only words, so what seemed to be a tag is text.
  case text
  case tooManyAttributes
  case nameTooLong
}

extension XMLTag {
  /// Reads the tag that begins at `start` with `<` and a letter, as browsers do: it accepts repeated attributes, the
  /// first of which counts, and attributes without quotes or values.
  ///
  /// - Returns: the end of the tag, or the reason why there is none.
  mutating func read(at start: Int, limits: (attributes: Int, name: Int), repairs: inout Repairs) -> (Int, TagProblem?)
  {
    var index = start + 1
    while index < bytes.count, !bytes[index].endsName { index += 1 }
    guard index < bytes.count else { return (index, index - start > limits.name ? .nameTooLong : .unfinished) }
    guard index - start <= limits.name else { return (index, .nameTooLong) }
    name = start + 1..<index
    attributes.removeAll(keepingCapacity: true)
    var hasSlash = false
    while true {
      while index < bytes.count, bytes[index].isSpace { index += 1 }
      guard index < bytes.count else { return (index, .unfinished) }
      switch bytes[index] {
      case UInt8(ascii: ">"):
        (source, isClosed) = (start..<index + 1, false)
        return (index + 1, nil)
      case UInt8(ascii: "<"):
        // After an attribute with a value, this is a tag whose end is missing; otherwise, it is text.
        guard attributes.contains(where: { $0.valueEnd > $0.valueStart }) else { return (index, .text) }
        repairs.insert(.unclosed)
        (source, isClosed) = (start..<index, hasSlash)
        return (index, nil)
      case UInt8(ascii: "/"):
        guard index + 1 < bytes.count else { return (index, .unfinished) }
        index += 1
        hasSlash = true
        guard bytes[index] == UInt8(ascii: ">") else { continue }
        (source, isClosed) = (start..<index + 1, true)
        return (index + 1, nil)
      default:
        guard attributes.count < limits.attributes else { return (index, hasMostlyWords ? .text : .tooManyAttributes) }
        switch readAttribute(at: index, longest: limits.name, repairs: &repairs) {
        case .success(let end): index = end
        case .failure(let problem): return (index, problem)
        }
      }
    }
  }

  /// True when most attributes have no `=`, as if they were the words of a text.
  private var hasMostlyWords: Bool {
    let valued = attributes.count(where: {
      bytes.firstIndex(of: UInt8(ascii: "="), from: Int($0.nameEnd), to: Int($0.valueStart)) != nil
    })
    return 2 * valued < attributes.count
  }

  /// Reads the tag that begins at `start` in a page or in a text, where a `<` that begins no tag is text.
  ///
  /// Tags may be nested in values, and each is tried. After many failures, everything else is text; otherwise, values
  /// that seem to be tags could be read again and again.
  ///
  /// - Returns: the end of the tag; `nil` if there is none.
  mutating func readInHTML(at start: Int, attributes: Int) -> Int? {
    isUnfinished = false
    guard wasted <= 8 * bytes.count else { return nil }
    var repairs: Repairs = []
    let (end, problem) = read(at: start, limits: (attributes, 1024), repairs: &repairs)
    guard let problem else { return end }
    if case .unfinished = problem { isUnfinished = true }
    wasted += (isUnfinished ? bytes.count : end) - start
    return nil
  }

  private mutating func readAttribute(
    at start: Int, longest: Int, repairs: inout Repairs
  ) -> Result<Int, TagProblem> {
    var index = start + 1
    while index < bytes.count, !bytes[index].endsName { index += 1 }
    guard index - start <= longest else { return .failure(.nameTooLong) }
    let name = (Int32(start), Int32(index))
    while index < bytes.count, bytes[index].isSpace { index += 1 }
    guard index < bytes.count else { return .failure(.unfinished) }
    guard bytes[index] == UInt8(ascii: "=") else {
      repairs.insert(.attribute)
      attributes.append(
        XMLAttribute(nameStart: name.0, nameEnd: name.1, valueStart: Int32(index), valueEnd: Int32(index)))
      return .success(index)
    }
    index += 1
    while index < bytes.count, bytes[index].isSpace { index += 1 }
    guard index < bytes.count else { return .failure(.unfinished) }
    let quote = bytes[index]
    let value: Range<Int>
    if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
      let end = bytes.firstIndex(of: quote, from: index + 1, to: bytes.count)
      if isXML, let lost = endOfUnclosedValue(from: index + 1, to: end ?? bytes.count) {
        repairs.insert(.attribute)
        (value, index) = (index + 1..<lost, lost)
      } else if let end {
        (value, index) = (index + 1..<end, end + 1)
      } else {
        return .failure(.unfinished)
      }
    } else {
      repairs.insert(.attribute)
      let begin = index
      while index < bytes.count, !bytes[index].isSpace, bytes[index] != UInt8(ascii: ">"),
        bytes[index] != UInt8(ascii: "<")
      {
        index += 1
      }
      guard index < bytes.count else { return .failure(.unfinished) }
      // In `url=http://a.b/c/>`, the slash belongs to the tag.
      if bytes[index] == UInt8(ascii: ">"), index > begin, bytes[index - 1] == UInt8(ascii: "/") { index -= 1 }
      value = begin..<index
    }
    attributes.append(
      XMLAttribute(
        nameStart: name.0, nameEnd: name.1, valueStart: Int32(value.lowerBound), valueEnd: Int32(value.upperBound)))
    return .success(index)
  }
}

extension XMLTag {
  /// The end of a value whose closing quotation mark is missing: in XML, a value never contains a `>` that is followed
  /// by a tag.
  private func endOfUnclosedValue(from start: Int, to end: Int) -> Int? {
    guard var index = bytes.firstIndex(of: UInt8(ascii: "<"), from: start, to: end) else { return nil }
    while index > start, bytes[index - 1].isSpace { index -= 1 }
    guard index > start, bytes[index - 1] == UInt8(ascii: ">") else { return nil }
    index -= 1
    return index > start && bytes[index - 1] == UInt8(ascii: "/") ? index - 1 : index
  }
}

extension TagProblem: Error {}

extension UInt8 {
  /// True for a byte that ends the name of an element or of an attribute.
  @inline(__always)
  fileprivate var endsName: Bool {
    isSpace || self == UInt8(ascii: ">") || self == UInt8(ascii: "/") || self == UInt8(ascii: "=")
      || self == UInt8(ascii: "<")
  }
}
