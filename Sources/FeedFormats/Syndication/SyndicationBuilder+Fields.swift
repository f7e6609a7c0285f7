extension SyndicationBuilder {
  /// Begins human-readable text, in the notation that its `type` and `mode` declare.
  mutating func text(_ field: FeedField, _ tag: borrowing XMLTag, _ element: Element, _ hash: UInt64) -> Frame {
    kind = Self.textKind(tag, element)
    text.removeAll(keepingCapacity: true)
    return Frame(name: hash, context: .field, field: field)
  }

  private static func textKind(_ tag: borrowing XMLTag, _ element: Element) -> TextKind {
    switch element.namespace {
    case .media: return tag.rawValue("type")?.trimmed.equalsIgnoringCase("html") == true ? .html : .plain
    case .atom, .atom03: break
    default: return .html
    }
    let (type, mode) = (tag.rawValue("type")?.trimmed, tag.rawValue("mode")?.trimmed)
    if mode?.equalsIgnoringCase("base64") == true { return .base64 }
    guard let type else {
      // Without a type, text is plain, unless Atom 0.3's mode says that it is escaped HTML.
      return mode?.equalsIgnoringCase("escaped") == true ? .html : .plain
    }
    if type.equalsIgnoringCase("xhtml") || type.equalsIgnoringCase("application/xhtml+xml") {
      return mode?.equalsIgnoringCase("escaped") == true ? .html : .xhtml
    }
    if type.equalsIgnoringCase("html") || type.equalsIgnoringCase("text/html") {
      return mode?.equalsIgnoringCase("xml") == true ? .xhtml : .html
    }
    if type.equalsIgnoringCase("text") || type.equalsIgnoringCase("text/plain") { return .plain }
    if type.startsIgnoringCase(with: "text/") { return .plain }
    if type.endsIgnoringCase(with: "/xml") || type.endsIgnoringCase(with: "+xml") { return .xhtml }
    // Content that is neither text nor XML is in base 64 (RFC 4287, 4.1.3.3).
    return type.contains(UInt8(ascii: "/")) && element.namespace == .atom ? .base64 : .html
  }

  /// Stores the text of a field that ends here.
  mutating func finish(_ field: FeedField) {
    defer {
      text.removeAll(keepingCapacity: true)
      kind = .html
    }
    switch field {
    case .title where !isInItem: if document.title == nil { document.title = textForPeople }
    case .link where !isInItem: noteSite(address, isBest: true)
    case .ttl: document.polling.minutesToLive = number
    case .updateFrequency: updateFrequency = number ?? 1
    case .updatePeriod: updatePeriod = text.withBytes { Self.seconds(of: $0.trimmed) }
    case .skippedHour: noteSkippedHour()
    case .skippedDay: noteSkippedDay()
    default: if isInItem { finishInItem(field) }
    }
  }

  // These lists are saved at each poll, so each hour and day is noted once, and text longer than a day's name is left
  // out.

  private mutating func noteSkippedHour() {
    guard let number, number <= 24, !document.polling.skippedHours.contains(number % 24) else { return }
    document.polling.skippedHours.append(number % 24)
  }

  private mutating func noteSkippedDay() {
    guard let line, line.utf8.count <= 16, document.polling.skippedDays.count < 16,
      !document.polling.skippedDays.contains(line)
    else { return }
    document.polling.skippedDays.append(line)
  }

  private mutating func finishInItem(_ field: FeedField) {
    switch field {
    case .title: item.title = item.title ?? textForPeople
    case .otherTitle: item.otherTitle = item.otherTitle ?? textForPeople
    case .mediaTitle: item.mediaTitle = item.mediaTitle ?? textForPeople
    case .mediaDescription:
      guard let text = textForPeople else { break }
      item.item.mediaDescription = item.item.mediaDescription ?? text
      if let image = stack.last?.image, image > 0 { item.imageDescriptions.append((image - 1, text)) }
    case .summary where item.summary == nil: (item.summary, item.summaryBase) = (textForPeople, bases.last)
    case .otherSummary where item.otherSummary == nil:
      item.otherSummary = textForPeople
      if item.summary == nil { item.summaryBase = bases.last }
    case .content where item.content == nil: (item.content, item.contentBase) = (textForPeople, bases.last)
    case .body where item.body == nil:
      item.body = textForPeople
      if item.content == nil { item.contentBase = bases.last }
    case .link:
      if !item.linkIsAlternate, let address {
        item.link = address
        item.linkIsAlternate = true
      }
    case .guid: if item.guid == nil, !isCutOff { item.guid = line }
    case .imageAddress:
      guard !isCutOff else { break }
      text.withBytes { address in
        guard imageSource != .enclosure || isImage(type: nil, medium: nil, address: address) else { return }
        note(address, from: imageSource)
      }
    case .published: item.published = item.published ?? date
    case .issued: item.issued = item.issued ?? date
    case .updated: item.item.updated = item.item.updated ?? date
    case .point: if item.item.location?.point == nil, let point { setPoint(point) }
    case .latitude: (item.latitude, item.longitude) = (line, item.longitude)
    case .longitude: item.longitude = line
    case .featureName: if let line { item.item.location = FeedPlace(name: line, point: item.item.location?.point) }
    default: break
    }
  }

  mutating func setPoint(_ point: String) {
    item.item.location = FeedPlace(name: item.item.location?.name, point: point)
  }

  // MARK: The text, read in several ways

  /// The human-readable text; `nil` if it is empty, because a different element may contain the text.
  private var textForPeople: FeedText? {
    var text = text.contains(UInt8(ascii: "\r")) ? withLineFeeds : text
    if kind == .base64, let decoded = text.withBytes(base64) { text = Array(decoded.utf8) }
    let value = text.withBytes { $0.trimmed.string }
    return value.isEmpty ? nil : FeedText(value, isMarkup: kind != .plain)
  }

  private var withLineFeeds: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    for (index, byte) in text.enumerated() {
      if byte != UInt8(ascii: "\r") {
        result.append(byte)
      } else if index + 1 == text.count || text[index + 1] != UInt8(ascii: "\n") {
        result.append(UInt8(ascii: "\n"))
      }
    }
    return result
  }

  /// The text of a machine-readable line; `nil` if it is empty or cut off.
  private var line: String? {
    guard !isCutOff else { return nil }
    let line = text.withBytes { $0.trimmed.string }
    return line.isEmpty ? nil : line
  }

  private var address: String? {
    isCutOff ? nil : text.withBytes { absoluteAddress($0, base: base) }
  }

  private var number: Int? { isCutOff ? nil : text.withBytes { $0.integer } }

  private var date: FeedDate? { isCutOff ? nil : text.withBytes { FeedDate(parsing: $0) } }

  /// Two numbers in degrees, separated by one space.
  private var point: String? { text.withBytes { coordinates($0) } }

  private static func seconds(of period: Bytes) -> Int? {
    if period.equalsIgnoringCase("hourly") { return 3600 }
    if period.equalsIgnoringCase("daily") { return 86_400 }
    if period.equalsIgnoringCase("weekly") { return 7 * 86_400 }
    if period.equalsIgnoringCase("monthly") { return 30 * 86_400 }
    return period.equalsIgnoringCase("yearly") ? 365 * 86_400 : nil
  }
}

/// Latitude and longitude as written, with one space between them. Only the first two numbers count; if the text
/// describes a line, they are its first point. `nil` if the text contains anything except numbers.
func coordinates(_ bytes: Bytes) -> String? {
  // Split only the beginning: a line may have thousands of numbers.
  let numbers = bytes.split(maxSplits: 3) { $0.isSpace || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }
  guard numbers.count >= 2 else { return nil }
  let isNumeric = numbers.prefix(3).allSatisfy { number in
    number.count < 32
      && number.allSatisfy {
        $0.isDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+")
      }
  }
  guard isNumeric else { return nil }
  return numbers.prefix(2).map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
}

/// The text that `bytes` encode in base 64, ignoring whitespace; `nil` if they aren't base 64.
func base64(_ bytes: Bytes) -> String? {
  var result: [UInt8] = []
  var (bits, count) = (UInt32(0), 0)
  for byte in bytes where !byte.isSpace && byte != UInt8(ascii: "=") {
    let value: UInt8
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): value = byte - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): value = 62
    case UInt8(ascii: "/"): value = 63
    default: return nil
    }
    (bits, count) = (bits << 6 | UInt32(value), count + 6)
    if count >= 8 {
      count -= 8
      result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
    }
  }
  return String(validating: result, as: UTF8.self)
}
