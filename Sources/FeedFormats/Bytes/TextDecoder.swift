/// Turns the bytes of a document into UTF-8, chunk by chunk.
///
/// The encoding is the first of these that applies: the one that a byte order mark shows; UTF-8 as long as the bytes
/// are valid, unless a 7-bit encoding is declared; the one in the XML declaration; the one in the response's type;
/// windows-1252. NUL bytes are dropped.
///
/// Documents often mix encodings. For this reason, text that may be windows-1252 is read in parts of 64 KiB, starting
/// with the first invalid byte. Each part is read in the encoding of most characters so far. In parts that are UTF-8,
/// each invalid byte is read as windows-1252.
struct TextDecoder {
  private enum State {
    case head
    case utf8
    /// Starting with the first non-ASCII byte, bytes are buffered until one is invalid in UTF-8, or until there are
    /// many of them.
    case undecided(name: String)
    case mixed(isDeclared: Bool)
    case converting(Iconv)
  }

  /// The number of bytes read before the encoding is chosen.
  static let headBytes = 1024
  /// The length at which text in a legacy encoding can no longer be valid UTF-8 by chance.
  private static let undecidedBytes = 64 << 10

  private(set) var encoding = "UTF-8"
  private(set) var repairs: Repairs = []
  private let charset: String?
  private var state = State.head
  private var waiting: [UInt8] = []
  /// The numbers of non-ASCII UTF-8 characters and of bytes that aren't UTF-8 so far.
  private var characters = 0
  private var strays = 0

  /// The number of bytes that aren't decoded yet, because their encoding isn't certain.
  var held: Int {
    // In UTF-8, only the beginning of a character waits.
    if case .utf8 = state { 0 } else { waiting.count }
  }

  init(charset: String?) { self.charset = charset }

  /// Appends the decoded part of `bytes` to `text`.
  mutating func decode(_ bytes: Bytes, isLast: Bool, to text: inout [UInt8]) {
    let start = text.count
    if waiting.isEmpty {
      let taken = take(bytes, isLast: isLast, to: &text)
      if taken < bytes.count { waiting.append(bytes.part(taken, bytes.count)) }
    } else {
      waiting.append(bytes)
      let whole = waiting
      let taken = whole.withBytes { take($0, isLast: isLast, to: &text) }
      if taken > 0 { waiting.removeSubrange(..<taken) }
    }
    dropZeros(of: &text, from: start)
  }

  /// The number of `bytes` that are decoded.
  private mutating func take(_ bytes: Bytes, isLast: Bool, to text: inout [UInt8]) -> Int {
    switch state {
    case .head:
      guard bytes.count >= Self.headBytes || isLast else { return 0 }
      let skipped = begin(bytes)
      return skipped + take(bytes.part(skipped, bytes.count), isLast: isLast, to: &text)
    case .utf8:
      let whole = bytes.part(0, isLast ? bytes.count : bytes.countOfWholeCharacters)
      if whole.isUTF8 {
        characters += whole.countOfFirstBytes
        text.append(whole)
        return whole.count
      }
      let valid = whole.part(0, whole.countOfUTF8)
      characters += valid.countOfFirstBytes
      text.append(valid)
      state = .mixed(isDeclared: false)
      return valid.count + take(bytes.part(valid.count, bytes.count), isLast: isLast, to: &text)
    case .undecided(let name):
      return takeUndecided(bytes, name: name, isLast: isLast, to: &text)
    case .mixed(let isDeclared): return takeMixed(bytes, isDeclared: isDeclared, isLast: isLast, to: &text)
    case .converting(let iconv):
      if !iconv.append(bytes, isLast: isLast, to: &text) { repairs.insert(.badCharacters) }
      return bytes.count
    }
  }

  /// Chooses the encoding, and returns the length of the byte order mark.
  private mutating func begin(_ head: Bytes) -> Int {
    // Use at most this many bytes, so that the size of the chunks doesn't affect the choice.
    switch EncodingChoice(head: head.part(0, min(head.count, Self.headBytes)), charset: charset) {
    case .certain(let name, let iconvName, let skipped):
      encoding = name
      state = iconvName.flatMap(Iconv.init).map(State.converting) ?? .utf8
      return skipped
    case .sevenBit(let name):
      if let iconv = Iconv(name) {
        encoding = name.uppercased()
        state = .converting(iconv)
      } else {
        state = .utf8
      }
    case .utf8Unless(let name): state = .undecided(name: name)
    case .utf8: state = .utf8
    }
    return 0
  }

  private mutating func takeUndecided(_ bytes: Bytes, name: String, isLast: Bool, to text: inout [UInt8]) -> Int {
    let ascii = bytes.firstIndex { $0 >= 0x80 } ?? bytes.count
    text.append(bytes.part(0, ascii))
    let rest = bytes.part(ascii, bytes.count)
    // Judge at most this many bytes, so that the size of the chunks doesn't affect the choice.
    let judged = rest.part(0, min(rest.count, Self.undecidedBytes))
    let whole = isLast && judged.count == rest.count ? judged.count : judged.countOfWholeCharacters
    if !judged.part(0, whole).isUTF8 {
      encoding = name
      state =
        name == EncodingChoice.windows1252
        ? .mixed(isDeclared: true) : Iconv(name).map(State.converting) ?? .mixed(isDeclared: false)
    } else if isLast || judged.count == Self.undecidedBytes {
      if whole > 0 { repairs.insert(.declaredEncoding) }
      state = .utf8
    } else {
      return ascii
    }
    return ascii + take(rest, isLast: isLast, to: &text)
  }

  private mutating func takeMixed(_ bytes: Bytes, isDeclared: Bool, isLast: Bool, to text: inout [UInt8]) -> Int {
    var taken = 0
    while taken < bytes.count {
      let part = bytes.part(taken, min(bytes.count, taken + Self.undecidedBytes))
      guard isLast || part.count == Self.undecidedBytes else { break }
      let whole = isLast && taken + part.count == bytes.count ? part : part.part(0, part.countOfWholeCharacters)
      let (characters, strays) = whole.countsOfCharacters
      self.characters += characters
      self.strays += strays
      // Text in another encoding is rarely valid UTF-8 by chance, as `É»` is in windows-1252.
      let isUTF8 = self.characters > 0 && self.characters >= self.strays * (isDeclared ? 4 : 1)
      if isUTF8 {
        text.appendRepaired(whole)
      } else {
        for byte in whole { text.append(Windows1252.scalar(byte)) }
      }
      encoding = isUTF8 ? "UTF-8" : EncodingChoice.windows1252
      if self.strays > 0, isUTF8 || !isDeclared { repairs.insert(.notUTF8) }
      taken += whole.count
    }
    return taken
  }

  private mutating func dropZeros(of text: inout [UInt8], from start: Int) {
    guard text.withBytes({ $0.firstIndex(of: 0, from: start, to: $0.count) }) != nil else { return }
    repairs.insert(.zeros)
    text[start...].removeAll { $0 == 0 }
  }
}
