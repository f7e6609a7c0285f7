import TerminalImages

/// Draws sixels as a terminal does, in a slow and simple way.
struct SixelDecoder {
  private(set) var width = 0
  private(set) var height = 0
  private(set) var registers: [Int: RGB] = [:]
  private(set) var pixels: [Int: RGB] = [:]
  /// True when pixels that aren't drawn stay unchanged.
  private(set) var isTransparent = false

  init?(_ bytes: [UInt8]) {
    var rest = bytes[...]
    guard rest.starts(with: "\u{1B}P".utf8) else { return nil }
    rest = rest.dropFirst(2)
    let introducer = rest.prefix { $0 != UInt8(ascii: "q") }
    isTransparent = text(Array(introducer)).split(separator: ";", omittingEmptySubsequences: false)[1] == "1"
    rest = rest.dropFirst(introducer.count + 1)
    var (x, band, color) = (0, 0, 0)
    func numbers() -> [Int] {
      let digits = rest.prefix { $0 == UInt8(ascii: ";") || (0x30...0x39).contains($0) }
      rest = rest.dropFirst(digits.count)
      return text(Array(digits)).split(separator: ";").map { Int($0)! }
    }
    func draw(_ sixel: UInt8, _ count: Int) -> Bool {
      for place in x..<x + count {
        for bit in 0..<6 where sixel & 1 << UInt8(bit) != 0 {
          guard place < width, band * 6 + bit < height, let shade = registers[color] else { return false }
          pixels[(band * 6 + bit) * width + place] = shade
        }
      }
      x += count
      return true
    }
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""):
        let sizes = numbers()
        guard sizes.count == 4, sizes[0] == 1, sizes[1] == 1 else { return nil }
        (width, height) = (sizes[2], sizes[3])
      case UInt8(ascii: "#"):
        let parts = numbers()
        color = parts[0]
        if parts.count == 5 {
          guard parts[1] == 2, parts[2...].allSatisfy({ $0 <= 100 }) else { return nil }
          func part(_ share: Int) -> UInt8 { UInt8((share * 255 + 50) / 100) }
          registers[color] = RGB(part(parts[2]), part(parts[3]), part(parts[4]))
        }
      case UInt8(ascii: "!"):
        let count = numbers()[0]
        guard let sixel = rest.popFirst(), draw(sixel - 63, count) else { return nil }
      case UInt8(ascii: "$"): x = 0
      case UInt8(ascii: "-"): (x, band) = (0, band + 1)
      case 63...126: guard draw(byte - 63, 1) else { return nil }
      case 0x1B:
        guard rest == [UInt8(ascii: "\\")] else { return nil }
        return
      default: return nil
      }
    }
    return nil
  }

  func color(_ x: Int, _ y: Int) -> RGB? { pixels[y * width + x] }
}
