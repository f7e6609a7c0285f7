/// Characters written as `&name;`, `&#233;` or `&#xE9;`.
///
/// Only HTML's names are supported. Declarations in a document type are never read, so entities can't make text grow.
enum Entities {
  /// The maximum length of a name or a number that is read, including `&` and `;`.
  static let longest = 40

  /// The entity that begins at `start` with an ampersand, and its end; `nil` if the ampersand doesn't begin an entity.
  ///
  /// The semicolon is required, because `?a=1&copy=2` is a URL.
  static func resolve(_ bytes: Bytes, at start: Int) -> (text: Resolved, end: Int)? {
    guard let end = bytes.firstIndex(of: UInt8(ascii: ";"), from: start + 1, to: min(bytes.count, start + longest)),
      end > start + 1
    else { return nil }
    let name = bytes.part(start + 1, end)
    if name[0] == UInt8(ascii: "#") {
      guard let scalar = number(name.part(1, name.count)) else { return nil }
      return (Resolved(first: scalar), end + 1)
    }
    guard let known = named(name) else { return nil }
    return (known, end + 1)
  }

  struct Resolved {
    var first: Unicode.Scalar
    var second: Unicode.Scalar?
  }

  /// Appends `bytes` with their entities resolved; an ampersand that doesn't begin an entity is kept.
  ///
  /// - Returns: false if such an ampersand was kept.
  @discardableResult
  static func append(_ bytes: Bytes, to text: inout [UInt8]) -> Bool {
    var index = 0
    var isClean = true
    while let ampersand = bytes.firstIndex(of: UInt8(ascii: "&"), from: index, to: bytes.count) {
      text.append(bytes.part(index, ampersand))
      if let (resolved, end) = resolve(bytes, at: ampersand) {
        text.append(resolved.first)
        if let second = resolved.second { text.append(second) }
        index = end
      } else {
        text.append(UInt8(ascii: "&"))
        index = ampersand + 1
        isClean = false
      }
    }
    text.append(bytes.part(index, bytes.count))
    return isClean
  }

  /// The character with the given number; U+FFFD if there is none. Numbers in windows-1252 are mapped as in HTML.
  private static func number(_ digits: Bytes) -> Unicode.Scalar? {
    let isHexadecimal = digits.count > 1 && digits[0] | 0x20 == UInt8(ascii: "x")
    var value: UInt32 = 0
    guard digits.count > 0 else { return nil }
    for digit in isHexadecimal ? digits.part(1, digits.count) : digits {
      let base: UInt32 = isHexadecimal ? 16 : 10
      guard let place = digit.hexadecimalValue, UInt32(place) < base else { return nil }
      value = min(value &* base &+ UInt32(place), 0x200000)
    }
    if value >= 0x80, value < 0xA0 { return Windows1252.scalar(UInt8(value)) }
    if value < 0x20, value != 0x09, value != 0x0A, value != 0x0D { return "\u{FFFD}" }
    return Unicode.Scalar(value) ?? "\u{FFFD}"
  }

  private static func named(_ name: Bytes) -> Resolved? {
    switch name.count {
    case 2 where name.equals("lt"): return Resolved(first: "<")
    case 2 where name.equals("gt"): return Resolved(first: ">")
    case 3 where name.equals("amp"): return Resolved(first: "&")
    case 4 where name.equals("quot"): return Resolved(first: "\"")
    case 4 where name.equals("apos"): return Resolved(first: "'")
    default: return table[name.string]
    }
  }

  private static let table: [String: Resolved] = {
    var table: [String: Resolved] = [:]
    table.reserveCapacity(2200)
    for half in [entityNamesA, entityNamesB] {
      let text = Bytes(start: half.utf8Start, count: half.utf8CodeUnitCount)
      for entry in text.split(separator: UInt8(ascii: " ")) {
        let sides = entry.split(separator: UInt8(ascii: "="))
        let codes = sides[1].split(separator: UInt8(ascii: ".")).map { digits in
          Unicode.Scalar(digits.reduce(0) { $0 << 4 | UInt32($1.hexadecimalValue!) })!
        }
        table[String(decoding: sides[0], as: UTF8.self)] =
          Resolved(first: codes[0], second: codes.count > 1 ? codes[1] : nil)
      }
    }
    return table
  }()
}

extension UInt8 {
  var hexadecimalValue: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
