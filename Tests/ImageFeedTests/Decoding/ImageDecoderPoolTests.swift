import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeedTesting
import TestSupport
import Testing

@testable import ImageFeed

/// The pool of decoders, with scripted ones in virtual time.
@Suite(.settled) struct ImageDecoderPoolTests {
  private let world = DecoderWorld()

  @Test func `an image is decoded to the requested form, with its kind and original size`() {
    world.react { world, request in
      #expect(request.width == 4)
      #expect(request.height == 0)
      #expect(request.form == .web)
      #expect(request.bytes == world.bytes(1))
      return .answer(
        ImageDecodingResponse(
          .decoded, size: DecodedImage.Size(width: 4, height: 3), originalSize: DecodedImage.Size(width: 8, height: 6),
          form: .web, body: "file"))
    }
    let image = world.decode(1, fitting: DecodedImage.Size(width: 4, height: 0), as: .web)
    world.time.run()
    #expect(
      image.result
        == .success(
          DecodedImage(
            size: DecodedImage.Size(width: 4, height: 3), originalSize: DecodedImage.Size(width: 8, height: 6),
            kind: .png,
            content: .jpeg, bytes: "file")))
  }

  @Test(
    arguments: [
      (.empty, "", .empty, "The image is empty."),
      (.notAnImage, "", .notAnImage(""), "This is not an image."),
      (.notAnImage, "A page.", .notAnImage("A page."), "A page."),
      (.truncated, "", .truncated, "The image is incomplete."),
      (
        .tooLarge, "",
        .tooLarge("The image has 9 × 5 pixels; the limits are 40 megapixels, and 16,384 pixels per side."),
        "The image has 9 × 5 pixels; the limits are 40 megapixels, and 16,384 pixels per side."
      ),
      (.unsupported, "No TIFF.", .unsupported("No TIFF."), "No TIFF."),
      (.corrupt, "bad\u{1B}[2J", .corrupt("bad\\u{1B}[2J"), "The image is damaged: bad\\u{1B}[2J"),
      (.outOfMemory, "", .outOfMemory, "Decoding the image needs more memory than the limit allows."),
    ] as [(ImageDecodingResponse.Status, Chunk, ImageDecodingError, String)])
  func `each decoding failure is an error with its reason, for its image only`(
    status: ImageDecodingResponse.Status, reason: Chunk, error: ImageDecodingError, text: String
  ) {
    world.react { _, _ in
      .answer(ImageDecodingResponse(status, originalSize: DecodedImage.Size(width: 9, height: 5), body: reason))
    }
    let image = world.decode(1)
    world.time.advance(by: .seconds(1))
    #expect(image.result == .failure(error))
    #expect(error.description == text)
    #expect(world.decoder.childCount == 1, "the process goes on")
  }

  @Test func `a crash fails only its image, and another process decodes the next`() {
    world.react { world, request in request.bytes == world.bytes(2) ? .end(.signaled(11)) : .answer(world.answer) }
    world.options.children = 1
    let images = (1...3).map { world.decode($0) }
    world.time.advance(by: .seconds(1))
    #expect(images.map(\.error) == [nil, .crashed(.signaled(11)), nil])
    #expect(images[1].error?.description == "The decoder crashed on this image: it was killed by signal 11.")
    #expect(world.started == 2)
  }

  @Test(
    arguments: [
      (.signaled(27), .tookTooLong), (.signaled(24), .tookTooLong), (.signaled(31), .crashed(.signaled(31))),
      (
        .exited(71),
        .unavailable("the system does not let image-decoder drop its privileges (seccomp, rlimits).")
      ),
      (.exited(1), .unavailable("image-decoder exited with status 1 on startup.")),
      (
        .exited(127),
        .unavailable("image-decoder can't be loaded, perhaps because a library is missing (status 127).")
      ),
    ] as [(FeedStream.ExitStatus, ImageDecodingError)])
  func `the exit status of a decoder process determines its image's error`(
    status: FeedStream.ExitStatus, error: ImageDecodingError
  ) {
    world.react { _, _ in .end(status) }
    let image = world.decode(1)
    world.time.run()
    #expect(image.error == error)
  }

  @Test func `a decoder program that can't be run is reported once`() {
    world.react { _, _ in .end(.exited(127)) }
    var reports: [ImageDecodingError] = []
    world.decoder.onUnavailable = { reports.append($0) }
    let images = (1...3).map { world.decode($0) }
    world.time.run()
    #expect(reports.count == 1 && images.allSatisfy { $0.error == reports.first })
  }

  @Test func `an image that isn't decoded in time fails, and its process is killed`() {
    world.react { world, request in request.bytes == world.bytes(1) ? .hang : .answer(world.answer) }
    world.options.children = 1
    let hanging = world.decode(1)
    let next = world.decode(2)
    world.time.advance(by: .nanoseconds(14_999_999_999))
    let program = world.time.programs.running.first
    #expect(hanging.result == nil)
    #expect(next.result == nil)
    world.time.advance(by: .seconds(1))
    #expect(hanging.error == .tookTooLong)
    #expect(program?.signals.first == 9)
    #expect(next.isDecoded)
    world.time.run()
    #expect(world.time.programs.running.isEmpty)
  }

  @Test func `images are decoded in order, at most as many at a time as there are processes`() {
    var most = 0
    world.react { world, _ in
      most = max(most, world.time.programs.running.count)
      return .answer(world.answer, after: .milliseconds(10))
    }
    world.options.children = 3
    var order: [Int] = []
    let images = (1...10).map { number in world.decode(number) { order.append(number) } }
    #expect(world.decoder.childCount == 3)
    world.time.advance(by: .milliseconds(100))
    #expect(images.count { $0.isDecoded } == images.count)
    #expect(order == Array(1...10))
    #expect(most == 3)
    #expect(world.started == 3, "they are used again")
  }

  @Test func `decoding starts when an image is requested`() {
    world.react { world, _ in .answer(world.answer) }
    var subscription: (any Subscription)?
    var images = 0
    world.decoder.decode(world.bytes(1)).subscribe(
      AnySubscriber(
        receiveSubscription: { subscription = $0 },
        receiveValue: { _ in
          images += 1
          return .none
        }))
    world.time.run()
    #expect(world.started == 0)
    subscription?.request(.max(1))
    world.time.run()
    #expect(images == 1)
  }

  @Test func `images beyond the queue's limit fail, and started or cancelled ones make room`() {
    world.react { world, _ in .answer(world.answer, after: .seconds(1)) }
    world.options.children = 1
    world.options.waiting = 2
    let first = (1...3).map { world.decode($0) }
    #expect(world.decode(4).error == .busy)
    first[2].cancel()
    let fifth = world.decode(5)
    #expect(fifth.result == nil)
    #expect(world.decode(6).error == .busy)
    world.time.advance(by: .milliseconds(1_500))
    let seventh = world.decode(7)
    world.time.run()
    #expect([first[0], first[1], fifth, seventh].map(\.isDecoded) == [true, true, true, true])
    #expect(first[2].result == nil)
    #expect(world.decoded.count == 4)
  }

  @Test func `the waiting bytes are limited, but a single image may always wait`() {
    world.react { world, _ in .answer(world.answer, after: .seconds(1)) }
    world.options.children = 1
    world.options.waitingBytes = 100
    let images = [1, 2, 3].map { world.decode($0, count: 80) }
    #expect(images.map(\.error) == [nil, nil, .busy])
    world.time.run()
    let large = world.decode(4, count: 1_000)
    let second = world.decode(5, count: 1_000)
    let third = world.decode(6, count: 1_000)
    world.time.run()
    #expect([large, second].map(\.isDecoded) == [true, true])
    #expect(third.error == .busy)
  }

  @Test func `a cancelled waiting image isn't decoded, and one being decoded is dropped`() {
    world.react { world, _ in .answer(world.answer, after: .seconds(1)) }
    world.options.children = 1
    let images = (1...3).map { world.decode($0) }
    world.time.advance(by: .milliseconds(500))
    images[0].cancel()
    images[1].cancel()
    world.time.run()
    #expect(world.decoded == [world.bytes(1), world.bytes(3)])
    #expect(images.map(\.isDecoded) == [false, false, true])
    #expect(world.started == 1)
  }

  @Test func `an idle process ends, and one that has decoded enough images is replaced`() {
    world.react { world, _ in .answer(world.answer) }
    world.options.children = 1
    world.options.imagesPerChild = 2
    let images = (1...5).map { world.decode($0) }
    world.time.advance(by: .milliseconds(9_999))
    #expect(images.count { $0.isDecoded } == images.count)
    #expect(world.started == 3)
    #expect(world.time.programs.running.count == 1)
    world.time.advance(by: .milliseconds(1))
    #expect(world.time.programs.running.isEmpty)
    #expect(world.decoder.childCount == 0)
  }

  @Test func `a process is replaced before all of its images together reach its limit on processor time`() {
    world.react { world, _ in .answer(world.answer) }
    world.options.children = 1
    world.options.imagesPerChild = 10_000
    for number in 1...1_401 {
      let image = world.decode(number)
      world.time.advance(by: .milliseconds(10))
      #expect(image.isDecoded)
      if number == 1_400 { #expect(world.started == 1) }
    }
    #expect(world.started == 2)
    world.time.run()
  }

  @Test func `a reply that doesn't match the request ends its process, even with huge numbers`() {
    let size = DecodedImage.Size(width: 2, height: 1)
    let huge = DecodedImage.Size(width: 0xFFFF_FFFF, height: 0xFFFF_FFFF)
    let answers: [ScriptedDecoding] = [
      .raw("an answer that is none, and long enough"),
      .answer(ImageDecodingResponse(.decoded, size: size, body: "1234567")),
      .answer(ImageDecodingResponse(.decoded, size: huge, body: "12345678")),
      .answer(ImageDecodingResponse(.decoded, size: DecodedImage.Size(width: 0, height: 1))),
      .answer(ImageDecodingResponse(.decoded, size: DecodedImage.Size(width: 5, height: 1), body: Chunk(0..<20))),
      .answer(ImageDecodingResponse(.decoded, size: size, form: .web, body: "a file")),
      .answer(ImageDecodingResponse(.corrupt, body: Chunk(repeatElement(65, count: 4097)))),
      .raw(Chunk(joining: [world.answer.head, world.answer.body, "and more than was asked for, 36 bytes and one"])),
    ]
    for (index, answer) in answers.enumerated() {
      world.react { _, _ in answer }
      let image = world.decode(index, fitting: DecodedImage.Size(width: 4, height: 4))
      world.time.advance(by: .seconds(1))
      if index + 1 < answers.count { #expect(image.error == .crashed(nil), "\(index)") }
      #expect(world.decoder.childCount == 0, "\(index)")
    }
    world.react { world, _ in .answer(world.answer) }
    let last = world.decode(99)
    world.time.run()
    #expect(last.isDecoded)
  }

  @Test func `closing the pool ends its processes and fails unfinished images`() {
    world.react { _, _ in .hang }
    world.options.children = 1
    let images = [1, 2].map { world.decode($0) }
    world.time.advance(by: .seconds(1))
    world.decoder.close()
    #expect(images.map(\.error) == [.closed, .closed])
    #expect(world.decode(3).error == .closed)
    world.time.run()
    #expect(world.time.programs.running.isEmpty)
  }

  @Test func `releasing the pool ends its processes`() {
    world.react { world, _ in .answer(world.answer) }
    _ = world.decode(1)
    world.time.advance(by: .seconds(1))
    #expect(world.time.programs.running.count == 1)
    world.release()
    world.time.advance(by: .seconds(1))
    #expect(world.time.programs.running.isEmpty)
  }

  @Test func `if the decoder program is missing or can't start, every image fails with that reason`() {
    let missing = world.decode(1)
    #expect(
      missing.error == .unavailable("cannot start image-decoder: no such file or directory (ENOENT)"))
    #expect(missing.error?.isTemporary == true)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `every image completes once, whatever fails, and no process remains`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    world.options.children = Int.random(in: 1...4, using: &random)
    world.options.waiting = 20
    world.options.imagesPerChild = 5
    world.react { world, _ in
      switch Int.random(in: 0..<10, using: &random) {
      case 0: .end(.signaled(11))
      case 1: .end(.exited(1))
      case 2: .hang
      case 3: .raw("nonsense that is long enough to be a head")
      case 4:
        .answer(
          ImageDecodingResponse(.corrupt, body: "why"), after: .milliseconds(Int.random(in: 0...30, using: &random)))
      default: .answer(world.answer, after: .milliseconds(Int.random(in: 0...30, using: &random)))
      }
    }
    var images: [Decoded] = []
    var cancelled: Set<Int> = []
    for number in 0..<200 {
      images.append(world.decode(number, count: Int.random(in: 10...100_000, using: &random)))
      if Int.random(in: 0..<4, using: &random) == 0 {
        let victim = Int.random(in: 0...number, using: &random)
        if images[victim].result == nil { cancelled.insert(victim) }
        images[victim].cancel()
      }
      world.time.advance(by: .milliseconds(Int.random(in: 0...200, using: &random)))
      #expect(world.time.programs.running.count <= world.options.children * 2, "those that end are not counted yet")
      #expect(world.decoder.childCount <= world.options.children)
    }
    world.time.run()
    for (number, image) in images.enumerated() {
      #expect(image.endings == (cancelled.contains(number) ? 0 : 1), "\(number)")
    }
    #expect(world.time.programs.running.isEmpty)
    #expect(world.decoder.childCount == 0)
  }

  @Test func `replies are read however their bytes are split`() throws {
    let answers = [world.answer, ImageDecodingResponse(.corrupt, body: "why"), ImageDecodingResponse(.empty)]
    let bytes = Chunk(joining: answers.flatMap { [$0.head, $0.body] })
    for length in [1, 2, 3, 31, 32, 33, bytes.count] {
      var decoder = ImageDecodingResponses()
      var read: [ImageDecodingResponse] = []
      for start in stride(from: 0, to: bytes.count, by: length) {
        decoder.feed(bytes[start..<min(start + length, bytes.count)])
        while let answer = try decoder.next() { read.append(answer) }
      }
      #expect(read.map(\.body) == answers.map(\.body), "\(length)")
      #expect(read.map(\.status) == answers.map(\.status), "\(length)")
    }
  }

  @Test func `the decoder program is searched for next to the running program and in libexec`() throws {
    let folder = TemporaryFolder()
    let program = URL(filePath: folder.path).appending(path: "bin/feed")
    #expect(ImageDecoder.findProgram(for: program) == nil)
    for place in ["libexec/feed", "libexec", "bin"] {
      let url = URL(filePath: folder.path).appending(path: place)
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      let path = url.appending(path: "image-decoder").path
      try Data().write(to: URL(filePath: path))
      #expect(ImageDecoder.findProgram(for: program) != path, "it cannot be run")
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
      #expect(ImageDecoder.findProgram(for: program) == path)
    }
  }
}

/// One requested image, and its result.
private final class Decoded {
  fileprivate(set) var result: Result<DecodedImage, ImageDecodingError>?
  fileprivate(set) var endings = 0
  fileprivate var subscription: AnyCancellable?

  var error: ImageDecodingError? { if case .failure(let error) = result { error } else { nil } }
  var isDecoded: Bool { if case .success = result { true } else { false } }
  func cancel() { subscription?.cancel() }
}

/// Virtual time with a scripted decoder.
private final class DecoderWorld {
  let time = VirtualTimeScheduler()
  var options = ImageDecoder.Options()
  private(set) var started = 0
  /// The images that processes have received.
  private(set) var decoded: [Chunk] = []
  private var pool: ImageDecoder?
  let answer = ImageDecodingResponse(.decoded, size: DecodedImage.Size(width: 1, height: 1), body: "RGBA")

  init() { options.children = 2 }

  var decoder: ImageDecoder {
    if let pool { return pool }
    let pool = ImageDecoder(program: "image-decoder", options: options, on: time)
    self.pool = pool
    return pool
  }

  func release() { pool = nil }

  /// - Parameter body: receives this world, which it must not retain.
  func react(_ body: @escaping (DecoderWorld, ImageDecodingRequest) -> ScriptedDecoding) {
    time.programs.decodeImages(on: time) { [unowned self] request in
      decoded.append(request.bytes)
      return body(self, request)
    }
    let script = time.programs["image-decoder"]
    time.programs["image-decoder"] = { [unowned self] in
      started += 1
      script?($0)
    }
  }

  /// Bytes that begin like a PNG.
  func bytes(_ number: Int, count: Int = 10) -> Chunk {
    Chunk(Array(makePNG(UInt8(truncatingIfNeeded: number), count: count)))
  }

  func decode(
    _ number: Int, count: Int = 10, fitting size: DecodedImage.Size? = nil, as form: DecodedImage.Form = .pixels,
    then: @escaping () -> Void = {}
  ) -> Decoded {
    let decoded = Decoded()
    decoded.subscription = decoder.decode(bytes(number, count: count), fitting: size, as: form).asResult().sink {
      decoded.result = $0
      decoded.endings += 1
      then()
    }
    return decoded
  }
}
