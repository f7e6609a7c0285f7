import FeedStream

/// Reads a marble diagram, character by character.
struct MarbleParser {
  private let text: String
  private let characters: [Character]
  private let frame: StreamInstant.Stride
  private var index = 0
  /// The time of the next character.
  private var now: StreamInstant.Stride = 0
  /// The time of the previous character; a time literal is relative to it.
  private var last: StreamInstant.Stride?
  private var group: (start: Int, isEmpty: Bool)?
  private var ending: Int?
  private var origin: StreamInstant.Stride?
  private var marbles: [Marbles.Marble] = []

  init(_ text: String, frame: StreamInstant.Stride) {
    precondition(frame.nanoseconds > 0, "Marbles: frame is \(frame); use more than zero")
    self.text = text
    characters = Array(text)
    self.frame = frame
  }

  mutating func parse() throws(MarbleError) -> [Marbles.Marble] {
    while index < characters.count {
      if let length = literalLength {
        try takeLiteral(length)
      } else {
        try refuseNegativeLiteral()
        try take(characters[index])
        index += 1
      }
    }
    if let group { throw error(at: group.start, "this group is not closed; add a )") }
    guard let origin else { return marbles }
    return marbles.map { Marbles.Marble(time: $0.time - origin, symbol: $0.symbol, offset: $0.offset) }
  }

  private func error(at offset: Int, _ reason: String) -> MarbleError {
    MarbleError(text: text, offset: offset, reason: reason)
  }

  private mutating func take(_ character: Character) throws(MarbleError) {
    switch character {
    case _ where character.isWhitespace: break
    case "-":
      if group != nil { throw error(at: index, "no time passes in a group; close it with ) first") }
      step()
    case "(":
      if group != nil { throw error(at: index, "a group within a group; close the first one with ) before this one") }
      group = (index, true)
    case ")":
      guard let group else { throw error(at: index, "there is no group to close; write ( first") }
      if group.isEmpty { throw error(at: index, "an empty group; write what happens between ( and ), or - instead") }
      self.group = nil
      step()
    case "^":
      if origin != nil { throw error(at: index, "the test already begins at the first ^; remove one") }
      if group != nil { throw error(at: index, "the test cannot begin within a group; write ^ before the (") }
      origin = now
      step()
    case "|": try add(.finished, endsStream: true)
    case "#": try add(.failed, endsStream: true)
    default: try add(.value(character), endsStream: false)
    }
  }

  private mutating func add(_ symbol: Marbles.Symbol, endsStream: Bool) throws(MarbleError) {
    if let ending {
      throw error(at: index, "the stream has already completed at character \(ending + 1); remove what follows")
    }
    if endsStream { ending = index }
    marbles.append(Marbles.Marble(time: now, symbol: symbol, offset: index))
    if group == nil { step() } else { group?.isEmpty = false }
  }

  private mutating func step() {
    last = now
    now += frame
  }

  // MARK: Time literals

  private static let units: [(String, Double)] = [
    ("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1), ("m", 60), ("h", 3600), ("d", 86_400),
  ]

  /// The length of the time literal that begins here, if there is one: a number and a unit, between spaces or the ends
  /// of the text.
  private var literalLength: Int? {
    guard characters[index].isASCII, characters[index].isNumber, index == 0 || characters[index - 1].isWhitespace
    else { return nil }
    let word = characters[index...].prefix { !$0.isWhitespace }
    let unit = word.drop { $0.isASCII && ($0.isNumber || $0 == ".") }
    return unit.isEmpty || !unit.allSatisfy(\.isLetter) || word.count < 2 ? nil : word.count
  }

  /// Throws an error for a negative time, which would otherwise be read as a frame, digits and letters.
  private func refuseNegativeLiteral() throws(MarbleError) {
    guard characters[index] == "-", index == 0 || characters[index - 1].isWhitespace else { return }
    let word = characters[(index + 1)...].prefix { !$0.isWhitespace }
    let unit = String(word.drop { $0.isASCII && ($0.isNumber || $0 == ".") })
    guard word.first?.isNumber ?? false, MarbleParser.units.contains(where: { $0.0 == unit }) else { return }
    throw error(at: index, "time cannot go back; remove the -, or put a space after it if you mean a frame")
  }

  private mutating func takeLiteral(_ length: Int) throws(MarbleError) {
    let word = String(characters[index..<index + length])
    let number = word.prefix { $0.isNumber || $0 == "." }
    let unit = String(word.dropFirst(number.count))
    guard let scale = MarbleParser.units.first(where: { $0.0 == unit })?.1 else {
      let units = MarbleParser.units.map(\.0).joined(separator: ", ")
      throw error(at: index + number.count, "\(unit) is not a unit of time; use \(units), or a - between values")
    }
    guard let value = Double(number) else { throw error(at: index, "\(number) is not a number") }
    if group != nil { throw error(at: index, "no time passes in a group; close it with ) first") }
    let start = last ?? 0
    // Virtual time counts nanoseconds in 64 bits.
    guard Double(start.nanoseconds) + value * scale * 1e9 < 9e18 else {
      throw error(at: index, "virtual time does not last that long; use less than 100000d in all")
    }
    now = start + .seconds(value * scale)
    // If another literal follows, the two add up.
    last = now
    index += length
  }
}
