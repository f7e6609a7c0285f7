import FeedStream

/// A request to `image-decoder`; its `main.c` describes the bytes.
package struct ImageDecodingRequest: Sendable {
  package var bytes: Chunk
  /// The maximum size; 0 for any.
  package var width: Int
  package var height: Int
  package var form: DecodedImage.Form

  /// The maximum number of bytes of an original image.
  package static let mostBytes = 32 << 20
  static let headLength = 20

  package init(bytes: Chunk, width: Int, height: Int, form: DecodedImage.Form) {
    (self.bytes, self.width, self.height, self.form) = (bytes, width, height, form)
  }

  package var head: Chunk { Chunk(ImageDecoderProtocol.numbers(bytes.count, width, height, Int(form.rawValue))) }
}

/// A reply from `image-decoder`.
package struct ImageDecodingResponse: Sendable {
  package enum Status: UInt32, Sendable {
    case decoded, empty, notAnImage, truncated, tooLarge, unsupported, corrupt, outOfMemory
  }

  package var status: Status
  package var size: DecodedImage.Size
  package var originalSize: DecodedImage.Size
  package var form: DecodedImage.Form
  /// The image, or the reason why there is none, as text.
  package var body: Chunk
  /// True if the image is in the shared memory instead.
  var isShared = false
  /// See ``DecodedImage/color``.
  package var color: UInt32

  package static let headLength = 36
  /// The maximum number of pixels in an image.
  static let mostPixels = 40_000_000
  /// The form of an image in the shared memory, which has no body.
  static let sharedForm = 3
  /// The maximum number of pixels per side.
  static let longestSide = 16_384

  package init(
    _ status: Status, size: DecodedImage.Size = DecodedImage.Size(width: 0, height: 0),
    originalSize: DecodedImage.Size? = nil,
    form: DecodedImage.Form = .pixels, body: Chunk = Chunk(), color: UInt32 = 0x80_8080
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
      ImageDecoderProtocol.numbers(
        Int(status.rawValue), size.width, size.height, originalSize.width, originalSize.height, Int(form.rawValue),
        body.count, Int(color)))
  }
}

/// The error for a child that violates the protocol.
package struct InvalidDecoderMessage: Error {}

enum ImageDecoderProtocol {
  private static let magic = Array("IMG1".utf8)

  static func numbers(_ values: Int...) -> [UInt8] {
    magic + values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
  }

  /// The numbers in a header.
  static func read(_ head: Chunk) throws(InvalidDecoderMessage) -> [Int] {
    guard head.starts(with: magic) else { throw InvalidDecoderMessage() }
    return stride(from: 4, to: head.count, by: 4).map { start in
      (0..<4).reduce(0) { $0 | Int(head[start + $1]) << (8 * $1) }
    }
  }
}

/// Splits bytes into headers of a fixed length, each followed by a body.
struct ImageDecoderMessages {
  let headLength: Int
  /// The length of the body, from the numbers in its header.
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
      let numbers = try ImageDecoderProtocol.read(take(headLength))
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
struct ImageDecodingResponses: ChunkDecoder {
  private var messages = ImageDecoderMessages(headLength: ImageDecodingResponse.headLength) { numbers in
    let isDecoded = numbers[0] == ImageDecodingResponse.Status.decoded.rawValue
    let most = isDecoded ? ImageDecodingResponse.mostPixels * 4 : 4096
    guard numbers[6] <= most else { throw InvalidDecoderMessage() }
    if isDecoded {
      guard (1...ImageDecodingResponse.longestSide).contains(numbers[1]),
        (1...ImageDecodingResponse.longestSide).contains(numbers[2])
      else { throw InvalidDecoderMessage() }
      let count = numbers[1] * numbers[2] * 4
      let isShared = numbers[5] == ImageDecodingResponse.sharedForm
      guard numbers[5] != DecodedImage.Form.pixels.rawValue && !isShared || numbers[6] == count else {
        throw InvalidDecoderMessage()
      }
      if isShared { return 0 }
    }
    return numbers[6]
  }

  mutating func feed(_ chunk: Chunk) { messages.feed(chunk) }

  mutating func next() throws -> ImageDecodingResponse? {
    guard let (numbers, body) = try messages.next() else { return nil }
    let isShared = numbers[0] == 0 && numbers[5] == ImageDecodingResponse.sharedForm
    guard let status = ImageDecodingResponse.Status(rawValue: UInt32(numbers[0])),
      let form = isShared ? .pixels : DecodedImage.Form(rawValue: UInt32(numbers[5]))
    else { throw InvalidDecoderMessage() }
    var response = ImageDecodingResponse(
      status, size: DecodedImage.Size(width: numbers[1], height: numbers[2]),
      originalSize: DecodedImage.Size(width: numbers[3], height: numbers[4]), form: form, body: body,
      color: UInt32(numbers[7]) & 0xFFFFFF)
    response.isShared = isShared
    return response
  }

  mutating func finish() throws -> ImageDecodingResponse? { nil }
}

/// Parses the requests to a decoder, for decoders in tests.
package struct ImageDecodingRequests: ChunkDecoder {
  private var messages = ImageDecoderMessages(headLength: ImageDecodingRequest.headLength) { $0[0] }

  package init() {}

  package mutating func feed(_ chunk: Chunk) { messages.feed(chunk) }

  package mutating func next() throws -> ImageDecodingRequest? {
    guard let (numbers, body) = try messages.next() else { return nil }
    guard let form = DecodedImage.Form(rawValue: UInt32(numbers[3])) else { throw InvalidDecoderMessage() }
    return ImageDecodingRequest(bytes: body, width: numbers[1], height: numbers[2], form: form)
  }

  package mutating func finish() throws -> ImageDecodingRequest? { nil }
}
