import FeedStream

/// A request to `picture-decoder`; its `main.c` describes the bytes.
package struct PictureRequest: Sendable {
  package var bytes: Chunk
  /// The maximum size; 0 for any.
  package var width: Int
  package var height: Int
  package var form: Picture.Form

  /// The maximum number of bytes of an original image.
  package static let mostBytes = 32 << 20
  static let headLength = 20

  var head: Chunk { Chunk(PictureWire.numbers(bytes.count, width, height, Int(form.rawValue))) }
}

/// A reply of `picture-decoder`.
package struct PictureAnswer: Sendable {
  package enum Status: UInt32, Sendable {
    case decoded, empty, notAPicture, truncated, tooLarge, unsupported, corrupt, outOfMemory
  }

  package var status: Status
  package var size: Picture.Size
  package var originalSize: Picture.Size
  package var form: Picture.Form
  /// The image, or the reason in words.
  package var body: Chunk
  /// See ``Picture/color``.
  package var color: UInt32

  package static let headLength = 36
  /// The maximum number of pixels in an image.
  static let mostPixels = 40_000_000
  /// The maximum number of pixels per side.
  static let longestSide = 16_384

  package init(
    _ status: Status, size: Picture.Size = Picture.Size(width: 0, height: 0), originalSize: Picture.Size? = nil,
    form: Picture.Form = .pixels, body: Chunk = Chunk(), color: UInt32 = 0x80_8080
  ) {
    self.status = status
    self.size = size
    self.originalSize = originalSize ?? size
    self.form = form
    self.body = body
    self.color = color
  }

  package var head: Chunk {
    Chunk(
      PictureWire.numbers(
        Int(status.rawValue), size.width, size.height, originalSize.width, originalSize.height, Int(form.rawValue),
        body.count, Int(color)))
  }
}

/// The error for a child that violates the protocol.
package struct PictureNonsense: Error {}

enum PictureWire {
  private static let magic = Array("PIC1".utf8)

  static func numbers(_ values: Int...) -> [UInt8] {
    magic + values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
  }

  /// The numbers in a head.
  static func read(_ head: Chunk) throws(PictureNonsense) -> [Int] {
    guard head.starts(with: magic) else { throw PictureNonsense() }
    return stride(from: 4, to: head.count, by: 4).map { start in
      (0..<4).reduce(0) { $0 | Int(head[start + $1]) << (8 * $1) }
    }
  }
}

/// Splits bytes into heads of a fixed length and the bodies that they announce.
struct PictureMessages {
  let headLength: Int
  /// The length of the body that a head announces.
  let bodyLength: ([Int]) throws -> Int
  private var chunks: [Chunk] = []
  private var count = 0
  private var head: (numbers: [Int], bodyLength: Int)?

  init(headLength: Int, bodyLength: @escaping ([Int]) throws -> Int) {
    self.headLength = headLength
    self.bodyLength = bodyLength
  }

  mutating func feed(_ chunk: Chunk) {
    chunks.append(chunk)
    count += chunk.count
  }

  mutating func next() throws -> (numbers: [Int], body: Chunk)? {
    if head == nil {
      guard count >= headLength else { return nil }
      let numbers = try PictureWire.read(take(headLength))
      head = (numbers, try bodyLength(numbers))
    }
    guard let (numbers, length) = head, count >= length else { return nil }
    head = nil
    return (numbers, take(length))
  }

  private mutating func take(_ length: Int) -> Chunk {
    // Join the chunks only once, when the last one has arrived: an image is large, and its chunks are small.
    let all = Chunk(joining: chunks)
    chunks = all.count > length ? [all.dropFirst(length)] : []
    count = all.count - length
    return all.prefix(length)
  }
}

/// Parses a child's replies. A hostile image may control the child, so nothing is trusted.
struct PictureAnswers: ChunkDecoder {
  private var messages = PictureMessages(headLength: PictureAnswer.headLength) { numbers in
    let isPicture = numbers[0] == PictureAnswer.Status.decoded.rawValue
    let most = isPicture ? PictureAnswer.mostPixels * 4 : 4096
    guard numbers[6] <= most else { throw PictureNonsense() }
    if isPicture {
      guard (1...PictureAnswer.longestSide).contains(numbers[1]), (1...PictureAnswer.longestSide).contains(numbers[2])
      else { throw PictureNonsense() }
      let count = numbers[1] * numbers[2] * 4
      guard numbers[5] != Picture.Form.pixels.rawValue || numbers[6] == count else { throw PictureNonsense() }
    }
    return numbers[6]
  }

  mutating func feed(_ chunk: Chunk) { messages.feed(chunk) }

  mutating func next() throws -> PictureAnswer? {
    guard let (numbers, body) = try messages.next() else { return nil }
    guard let status = PictureAnswer.Status(rawValue: UInt32(numbers[0])),
      let form = Picture.Form(rawValue: UInt32(numbers[5]))
    else { throw PictureNonsense() }
    return PictureAnswer(
      status, size: Picture.Size(width: numbers[1], height: numbers[2]),
      originalSize: Picture.Size(width: numbers[3], height: numbers[4]), form: form, body: body,
      color: UInt32(numbers[7]) & 0xFFFFFF)
  }

  mutating func finish() throws -> PictureAnswer? { nil }
}

/// Parses the requests to a decoder, for decoders in tests.
package struct PictureRequests: ChunkDecoder {
  private var messages = PictureMessages(headLength: PictureRequest.headLength) { $0[0] }

  package init() {}

  package mutating func feed(_ chunk: Chunk) { messages.feed(chunk) }

  package mutating func next() throws -> PictureRequest? {
    guard let (numbers, body) = try messages.next() else { return nil }
    guard let form = Picture.Form(rawValue: UInt32(numbers[3])) else { throw PictureNonsense() }
    return PictureRequest(bytes: body, width: numbers[1], height: numbers[2], form: form)
  }

  package mutating func finish() throws -> PictureRequest? { nil }
}
