import TerminalImages
import TestSupport
import Testing

@Suite(.settled) struct EncodingTests {
  @Test(arguments: [(1, 1), (5, 7), (64, 6), (33, 40)])
  func `sixels decode to the image that was encoded`(_ width: Int, _ height: Int) throws {
    // Use few enough colors for each to be in the palette.
    let bitmap = Bitmap.of(width, height) { x, y in RGB(UInt8(x / 8 * 50 % 256), UInt8(y / 8 * 60 % 256), 40) }
    let decoded = try #require(SixelDecoder(Sixel.encode(bitmap, colors: 256)))
    #expect((decoded.width, decoded.height) == (width, height))
    for y in 0..<height {
      for x in 0..<width {
        let (shown, wanted) = (try #require(decoded.color(x, y)), bitmap.color(x, y))
        // Sixel colors are percentages, so they are less exact than bytes.
        #expect(abs(Int(shown.red) - Int(wanted.red)) <= 2 && abs(Int(shown.green) - Int(wanted.green)) <= 2)
      }
    }
  }

  @Test(arguments: [2, 16, 64, 256])
  func `sixels use at most the terminal's number of colors, and keep the brightness`(_ count: Int) throws {
    let bitmap = Bitmap.slope(96, 60)
    let decoded = try #require(SixelDecoder(Sixel.encode(bitmap, colors: count)))
    #expect(decoded.registers.count == count)
    #expect(decoded.registers.keys.allSatisfy { (0..<count).contains($0) })
    #expect(decoded.pixels.count == 96 * 60)
    var (shown, wanted) = (0, 0)
    for y in 0..<60 {
      for x in 0..<96 {
        shown += decoded.color(x, y)!.brightness
        wanted += bitmap.color(x, y).brightness
      }
    }
    #expect(abs(shown - wanted) / (96 * 60) < (count == 2 ? 40 : 6))
  }

  @Test func `sixels leave transparent pixels unchanged`() throws {
    let bitmap = Bitmap.of(8, 8) { x, y in (x + y) % 2 == 0 ? .fullRed : nil }
    let decoded = try #require(SixelDecoder(Sixel.encode(bitmap, colors: 16)))
    #expect(decoded.isTransparent)
    #expect(decoded.pixels.count == 32)
    #expect(decoded.color(0, 0) == .fullRed)
    #expect(decoded.color(1, 0) == nil)
    let nothing = try #require(SixelDecoder(Sixel.encode(Bitmap.of(3, 3) { _, _ in nil }, colors: 16)))
    #expect(nothing.pixels.isEmpty)
  }

  @Test func `translucent pixels are mixed with the terminal's background, and all are drawn`() throws {
    let quarter: [UInt8] = [255, 0, 0, 64]
    let veil = Bitmap(width: 6, height: 6, rgba: Array(repeating: quarter, count: 36).flatMap { $0 })
    let drawing = Drawing(
      veil, columns: 3, rows: 3, mode: .sixel(colors: 16, on: .white), cell: CellSize(width: 2, height: 2))
    guard case .sixel(let bytes) = drawing.content else { throw Missing() }
    let decoded = try #require(SixelDecoder(bytes))
    #expect(decoded.pixels.count == 36)
    let shown = try #require(decoded.color(3, 3))
    #expect(shown.red == 255 && abs(Int(shown.green) - 191) <= 2 && abs(Int(shown.blue) - 191) <= 2)
    let clear = Bitmap(width: 2, height: 1, rgba: [9, 9, 9, 0, 0, 0, 255, 255]).blended(over: .white)
    #expect(clear.rgba == [9, 9, 9, 0, 0, 0, 255, 255], "what is not seen stays empty")
  }

  private struct Missing: Error {}

  @Test func `repeated sixels are run-length encoded`() {
    let bytes = Sixel.encode(.filled(500, 6, .fullRed), colors: 256)
    #expect(text(bytes) == "\u{1B}P0;1;0q\"1;1;500;6#0;2;100;0;0#0!500~\u{1B}\\")
  }

  /// The pixels that kitty would receive, and the keys.
  private func received(_ bytes: [UInt8]) throws -> (pixels: [UInt8], keys: [Substring]) {
    var (encoded, keys) = ("", [Substring]())
    for command in text(bytes).split(separator: "\u{1B}_G") {
      let body = try #require(command.hasSuffix("\u{1B}\\") ? command.dropLast(2) : nil)
      let parts = body.split(separator: ";", maxSplits: 1)
      #expect(parts[1].count <= 4096)
      #expect(keys.isEmpty || keys.last!.hasSuffix("m=1"))
      keys.append(parts[0])
      encoded += parts[1]
    }
    return (try #require(decodedBase64(encoded)), keys)
  }

  private func decodedBase64(_ text: String) -> [UInt8]? {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var (bytes, bits, count): ([UInt8], Int, Int) = ([], 0, 0)
    guard text.count % 4 == 0 else { return nil }
    for character in text where character != "=" {
      guard let digit = digits.firstIndex(of: character) else { return nil }
      (bits, count) = (bits << 6 | digit, count + 6)
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(bits >> count & 255))
      }
    }
    return bytes
  }

  @Test func `kitty gets the pixels in chunks of at most 4096 bytes`() throws {
    let bitmap = Bitmap.slope(70, 50)
    let (pixels, keys) = try received(Kitty(bitmap).shown(columns: 9, rows: 4))
    let colors: [UInt8] = (0..<70 * 50).flatMap { Array(bitmap.rgba[$0 * 4..<$0 * 4 + 3]) }
    #expect(pixels == colors)
    #expect(keys.first == "a=T,f=24,s=70,v=50,c=9,r=4,C=1,q=2,m=1")
    #expect(keys.dropFirst().dropLast().allSatisfy { $0 == "q=2,m=1" })
    #expect(keys.last == "q=2,m=0")
    #expect(keys.count == (70 * 50 * 4 + 4095) / 4096)
  }

  @Test func `kitty gets the opacity if the image has transparent pixels`() throws {
    let bitmap = Bitmap.of(2, 1) { x, _ in x == 0 ? .fullRed : nil }
    let (pixels, keys) = try received(Kitty(bitmap).kept(as: 77))
    #expect(pixels == [255, 0, 0, 255, 0, 0, 0, 0])
    #expect(keys == ["a=t,i=77,f=32,s=2,v=1,q=2,m=0"])
  }

  @Test func `kitty images are placed, removed and deleted by their numbers`() {
    #expect(text(Kitty.placed(7, at: 3, columns: 4, rows: 2)) == "\u{1B}_Ga=p,i=7,p=3,c=4,r=2,C=1,q=2\u{1B}\\")
    #expect(text(Kitty.removed(7, at: 3)) == "\u{1B}_Ga=d,d=i,i=7,p=3,q=2\u{1B}\\")
    #expect(text(Kitty.forgotten(7)) == "\u{1B}_Ga=d,d=I,i=7,q=2\u{1B}\\")
  }
}
