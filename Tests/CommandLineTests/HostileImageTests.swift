import FeedStream
import Foundation
import ImageFeed
import TestSupport
import Testing

/// Malformed or unusual images, decoded by real processes: each is shown or has a readable error, and stays within a
/// process's limits. Prints a table with a line for each row.
@Suite(.settled, .serialized, .timeLimit(.minutes(5))) struct HostileImageTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let make: @Sendable () -> [UInt8]
    let expected: Expectation
    /// The maximum side of the result, in pixels; 0 for any.
    var side = 400

    var testDescription: String { name }
  }

  enum Expectation: Sendable {
    /// The image is shown in the first size; the second one is the original's.
    case shown(DecodedImage.Size, of: DecodedImage.Size)
    /// The image is not shown, and this is the message.
    case refused(String)
  }

  private static func shown(_ width: Int, _ height: Int, of original: DecodedImage.Size? = nil) -> Expectation {
    let size = DecodedImage.Size(width: width, height: height)
    return .shown(size, of: original ?? size)
  }

  private static let tooLarge = "the limits are 40 megapixels, and 16,384 pixels per side."
  private static let cutOff = Expectation.refused("The image is incomplete.")

  static let rows: [Row] = [
    Row(name: "zero bytes", make: { [] }, expected: .refused("The image is empty.")),
    Row(name: "no magic number", make: { Array("hello".utf8) }, expected: .refused("This is not an image.")),
    Row(
      name: "a web page", make: { Array(" <!doctype html><p>no".utf8) },
      expected: .refused("The server sent a web page.")),
    Row(
      name: "an SVG with a script", make: { Array("<svg onload='alert(1)'/>".utf8) },
      expected: .refused("SVG images are not supported.")),
    Row(
      name: "HEIC", make: { [0, 0, 0, 0x18] + Array("ftypheic".utf8) + [0, 0, 0, 0] + Array("mif1heic".utf8) },
      expected: .refused("HEIC images are not supported.")),
    Row(
      name: "JPEG XL", make: { [0xFF, 0x0A, 0, 0] },
      expected: .refused("JPEG XL images are not supported.")),
    Row(name: "an AVIF", make: { MadeImage.avif }, expected: shown(64, 48)),
    Row(
      name: "an AVIF, scaled down", make: { MadeImage.clearAVIF },
      expected: shown(32, 24, of: .init(width: 64, height: 48)), side: 32),
    Row(name: "a rotated AVIF", make: { MadeImage.turnedAVIF }, expected: shown(48, 64)),
    Row(name: "an AVIF of several frames", make: { MadeImage.animatedAVIF }, expected: shown(64, 48)),
    Row(
      name: "an AVIF whose first brand is another",
      make: {
        var bytes = MadeImage.avif
        bytes.replaceSubrange(8..<12, with: Array("mif1".utf8))
        return bytes
      }, expected: shown(64, 48)),
    Row(
      name: "an AVIF whose first brand is that of sequences",
      make: {
        var bytes = MadeImage.avif
        bytes.replaceSubrange(8..<12, with: Array("msf1".utf8))
        return bytes
      }, expected: shown(64, 48)),
    Row(name: "AVIF's magic number alone", make: { Array(MadeImage.avif.prefix(12)) }, expected: cutOff),
    Row(name: "half an AVIF", make: { Array(MadeImage.avif.prefix(160)) }, expected: cutOff),
    Row(name: "an AVIF without its last byte", make: { Array(MadeImage.avif.dropLast()) }, expected: cutOff),
    Row(
      name: "huge dimensions in a tiny AVIF",
      make: { MadeImage.avif(MadeImage.avif, "ispe", 0x7FFF_FFFF, 0x7FFF_FFFF) },
      expected: .refused("The image has too many pixels; \(tooLarge)")),
    Row(
      name: "64 megapixels in a tiny AVIF", make: { MadeImage.avif(MadeImage.avif, "ispe", 8_000, 8_000) },
      expected: .refused("The image has too many pixels; \(tooLarge)")),
    Row(
      name: "an AVIF without pixels", make: { MadeImage.avif(MadeImage.avif, "ispe", 0, 0) },
      expected: .refused("The image is damaged: The AVIF data is damaged.")),
    Row(
      name: "four billion frames in an AVIF",
      make: { MadeImage.avif(MadeImage.animatedAVIF, "stsz", after: 8, .max) },
      expected: .refused("The image is damaged: The AVIF data is damaged.")),
    Row(
      name: "two billion frames of the same duration in an AVIF",
      make: { MadeImage.avif(MadeImage.animatedAVIF, "stts", after: 8, 0x7FFF_FFFF) },
      expected: shown(64, 48)),
    Row(
      name: "JPEG's magic number before a PNG", make: { [0xFF, 0xD8, 0xFF] + MadeImage.png(width: 9, height: 9) },
      expected: .refused("The image is damaged: Unsupported marker type 0x89")),
    Row(name: "JPEG's magic number alone", make: { [0xFF, 0xD8, 0xFF] }, expected: cutOff),
    Row(
      name: "PNG's magic number alone", make: { Array(MadeImage.png(width: 9, height: 9).prefix(8)) }, expected: cutOff),
    Row(name: "half a JPEG", make: { Array(MadeImage.jpeg.prefix(270)) }, expected: cutOff),
    Row(
      name: "a JPEG without its end marker", make: { Array(MadeImage.jpeg.dropLast(2)) }, expected: shown(16, 8)),
    Row(name: "a JPEG with half its end marker", make: { Array(MadeImage.jpeg.dropLast()) }, expected: shown(16, 8)),
    Row(name: "a JPEG without its last pixels", make: { Array(MadeImage.jpeg.dropLast(3)) }, expected: cutOff),
    Row(
      name: "half a PNG", make: { Array(MadeImage.png(width: 99, height: 99).prefix(9_000)) }, expected: cutOff),
    Row(name: "half a GIF", make: { Array(MadeImage.gif().dropLast(6)) }, expected: cutOff),
    Row(name: "half a WebP", make: { Array(MadeImage.animatedWebP.prefix(60)) }, expected: cutOff),
    Row(
      name: "a PNG with a wrong checksum",
      make: {
        var bytes = MadeImage.png(width: 9, height: 9)
        bytes[60] ^= 1
        return bytes
      }, expected: .refused("The image is damaged: ")),
    Row(
      name: "no pixels", make: { MadeImage.png(width: 0, height: 9, data: []) },
      expected: .refused("The image is damaged: ")),
    Row(
      name: "huge dimensions in a tiny PNG", make: { MadeImage.png(width: 60_000, height: 60_000, data: [0x78]) },
      expected: .refused("The image has 60000 × 60000 pixels; \(tooLarge)")),
    Row(
      name: "huge dimensions in a tiny JPEG", make: { MadeImage.scans(1, width: 65_500, height: 65_500) },
      expected: .refused("The image has 65500 × 65500 pixels; \(tooLarge)")),
    Row(
      name: "huge dimensions in a tiny GIF", make: { MadeImage.gif(width: 65_535, height: 65_535) },
      expected: .refused("The image has 65535 × 65535 pixels; \(tooLarge)")),
    Row(
      name: "huge dimensions in a tiny WebP", make: { MadeImage.hugeWebP },
      expected: .refused("The image has 16383 × 16383 pixels; \(tooLarge)")),
    Row(
      name: "one pixel too many", make: { MadeImage.zeros(width: 8_000, height: 5_001, .gray) },
      expected: .refused("The image has 8000 × 5001 pixels; \(tooLarge)")),
    Row(
      name: "40 megapixels in 1 MB", make: { MadeImage.zeros(width: 8_000, height: 5_000) },
      expected: shown(400, 250, of: DecodedImage.Size(width: 8_000, height: 5_000))),
    Row(
      name: "40 megapixels, whole", make: { MadeImage.zeros(width: 8_000, height: 5_000) },
      expected: shown(8_000, 5_000), side: 0),
    Row(
      name: "40 megapixels, interlaced",
      make: { MadeImage.zeros(width: 8_000, height: 5_000, .gray, interlaced: true) },
      expected: shown(400, 250, of: DecodedImage.Size(width: 8_000, height: 5_000))),
    Row(
      name: "40 megapixels, interlaced, rotated, whole",
      make: {
        let exif = MadeImage.chunk("eXIf", MadeImage.exif(orientation: 6))
        return MadeImage.zeros(width: 8_000, height: 5_000, .gray, interlaced: true, extra: exif)
      }, expected: .refused("Decoding the image needs more memory than the limit allows."), side: 0),
    Row(
      name: "10,000 scans", make: { MadeImage.scans(10_000, width: 5_000, height: 5_000) },
      expected: .refused("The image has more than 100 scans.")),
    Row(
      name: "text that grows to 300 MB",
      make: {
        MadeImage.png(width: 9, height: 9, extra: MadeImage.textBomb(300_000_000), data: [])
      }, expected: .refused("The image has more data besides its pixels than the limit allows.")),
    Row(
      name: "20 MB of comments", make: { MadeImage.jpeg(comments: 20_000_000) },
      expected: shown(16, 8)),
    Row(name: "CMYK", make: { MadeImage.inkedJPEG }, expected: shown(8, 8)),
    Row(name: "16 bits per channel", make: { MadeImage.png(width: 9, height: 7, depth: 16) }, expected: shown(9, 7)),
    Row(name: "an animated GIF", make: { MadeImage.gif(frames: 1_000) }, expected: shown(1, 1)),
    Row(name: "an animated WebP", make: { MadeImage.animatedWebP }, expected: shown(8, 4)),
    Row(name: "rotated by EXIF", make: { MadeImage.jpeg(orientation: 6) }, expected: shown(8, 16)),
    Row(name: "an unknown EXIF orientation", make: { MadeImage.jpeg(orientation: 77) }, expected: shown(16, 8)),
    Row(
      name: "more bytes than the limit", make: { MadeImage.jpeg + [UInt8](repeating: 0, count: 33 << 20) },
      expected: .refused("the limit of 32 MiB.")),
  ]

  /// The outcome for an image, and the memory and time that its process took.
  private struct Cost {
    var result: Result<DecodedImage, ImageDecodingError>?
    var seconds = 0.0
    /// The maximum address space and memory of the process, in MiB; 0 when it has ended.
    var (space, memory) = (0.0, 0.0)
  }

  private func decode(_ bytes: [UInt8], side: Int) -> Cost {
    let loop = EventLoop()
    defer { loop.close() }
    var options = ImageDecoder.Options()
    options.children = 1
    options.deadline = .seconds(60)
    let decoder = ImageDecoder(program: FeedBinary.path(of: "image-decoder"), options: options, on: loop)
    var cost = Cost()
    let start = ContinuousClock.now
    let subscription = decoder.decode(Chunk(bytes), fitting: DecodedImage.Size(width: side, height: side))
      .map { Result<DecodedImage, ImageDecodingError>.success($0) }
      .catch { Just(.failure($0)) }
      .sink {
        cost.result = $0
        cost.seconds = (.now - start) / .seconds(1)
        if let number = decoder.childNumbers.first {
          cost.space = ProcessMemory.mebibytes("VmPeak", of: number)
          cost.memory = ProcessMemory.mebibytes("VmHWM", of: number)
        }
        decoder.close()
      }
    loop.run()
    withExtendedLifetime(subscription) {}
    return cost
  }

  @Test(arguments: rows) func `a damaged image fails with a reason, within the limits of its process`(_ row: Row) {
    let cost = decode(row.make(), side: row.side)
    var said = ""
    switch (row.expected, cost.result) {
    case (.shown(let size, let original), .success(let image)):
      said = "shown, \(size)"
      #expect(image.size == size)
      #expect(image.originalSize == original)
    case (.refused(let reason), .failure(let error)):
      said = "\(error)"
      #expect(said.hasSuffix(reason) || said.hasPrefix(reason), "\(said)")
    default: Issue.record("\(String(describing: cost.result))")
    }
    // The limit of CPU time, with a margin for a busy machine.
    #expect(cost.seconds < 20)
    #expect(cost.space <= 320 + 16)
    print(
      "hostile image | \(row.name) | \(said) | \(String(format: "%.2f s | %.0f MiB |", cost.seconds, cost.memory))")
  }

  @Test func `every EXIF orientation is turned upright`() {
    // The position of the red part for each orientation.
    let red: [(Int, x: Int, y: Int)] = [
      (1, 0, 0), (2, 15, 0), (3, 15, 7), (4, 0, 7), (5, 0, 0), (6, 0, 0), (7, 0, 15), (8, 0, 15),
    ]
    for (orientation, x, y) in red {
      guard case .success(let image) = decode(MadeImage.jpeg(orientation: orientation), side: 0).result else {
        Issue.record("\(orientation) is decoded")
        continue
      }
      #expect(image.size.width == (orientation < 5 ? 16 : 8))
      let pixel = Array(image.bytes.dropFirst((y * image.size.width + x) * 4).prefix(4))
      #expect(pixel[0] > 200 && pixel[2] < 60 && pixel[3] == 255, "\(orientation): \(pixel)")
    }
  }

  @Test func `CMYK, 16-bit and animated images keep their colors`() {
    let red: [[UInt8]] = [MadeImage.inkedJPEG, MadeImage.gif(frames: 3), MadeImage.animatedWebP]
    for bytes in red {
      guard case .success(let image) = decode(bytes, side: 0).result else {
        Issue.record("it is decoded")
        continue
      }
      let pixel = Array(image.bytes.prefix(4))
      #expect(pixel[0] > 220 && pixel[1] < 40 && pixel[2] < 40 && pixel[3] == 255, "\(pixel)")
    }
    guard case .success(let deep) = decode(MadeImage.png(width: 16, height: 16, depth: 16), side: 0).result,
      case .success(let flat) = decode(MadeImage.png(width: 16, height: 16), side: 0).result
    else {
      Issue.record("both are decoded")
      return
    }
    for (a, b) in zip(deep.bytes, flat.bytes) { #expect(abs(Int(a) - Int(b)) <= 1) }
  }
}
