import FeedStream
import Foundation
import ImageFeed
import TestSupport
import Testing

/// The pool of decoders with real processes: `image-decoder`, and programs that behave badly.
@Suite(.settled, .timeLimit(.minutes(5))) struct ImageDecodingTests {
  private let loop = EventLoop()
  private let folder = TemporaryFolder()

  private func decode(_ images: [Chunk], by decoder: ImageDecoder) -> [Result<DecodedImage, ImageDecodingError>?] {
    var results = [Result<DecodedImage, ImageDecodingError>?](repeating: nil, count: images.count)
    var left = images.count
    let subscriptions = images.enumerated().map { index, bytes in
      decoder.decode(bytes).map { .success($0) }.catch { Just(.failure($0)) }.sink {
        results[index] = $0
        left -= 1
        if left == 0 { decoder.close() }
      }
    }
    // The loop returns when the processes have ended, because nothing else keeps it running.
    loop.run()
    withExtendedLifetime(subscriptions) {}
    loop.close()
    return results
  }

  private func decoder(_ program: String? = nil, children: Int = 2, deadline: Duration = .seconds(60)) -> ImageDecoder {
    var options = ImageDecoder.Options()
    options.children = children
    options.deadline = deadline
    return ImageDecoder(program: program ?? FeedBinary.path(of: "image-decoder"), options: options, on: loop)
  }

  @Test func `real processes decode real images, and each failure has its own error`() throws {
    let (gif, cut) = (Chunk(SmallImages.gif), Chunk(SmallImages.gif.dropLast(6)))
    let results = decode([gif, "", "hello", cut, "\u{89}PNG", gif], by: decoder())
    let size = DecodedImage.Size(width: 1, height: 1)
    let red = DecodedImage(
      size: size, originalSize: size, kind: .gif, content: .rgba, bytes: [0xFF, 0, 0, 0xFF], color: 0xFF0000)
    #expect(
      results == [
        .success(red), .failure(.empty), .failure(.notAnImage("")), .failure(.truncated), .failure(.notAnImage("")),
        .success(red),
      ])
  }

  @Test func `a hundred images share two decoder processes`() {
    let results = decode(Array(repeating: Chunk(SmallImages.gif), count: 100), by: decoder())
    #expect(results.count { if case .success = $0 { true } else { false } } == 100)
  }

  @Test(
    arguments: [
      ("kill -SEGV $$", .crashed(.signaled(SIGSEGV))), ("kill -PROF $$", .tookTooLong),
      ("exec sleep 1000", .tookTooLong), ("trap '' TERM; while :; do :; done", .tookTooLong),
      ("echo This is not an answer, but long enough to be one.; exec sleep 1000", .crashed(nil)),
      ("exec cat", .crashed(nil)),
      ("exit 71", .unavailable("the system does not let image-decoder drop its privileges (seccomp, rlimits).")),
    ] as [(String, ImageDecodingError)])
  func `a misbehaving decoder process fails only its image, and is killed`(script: String, error: ImageDecodingError)
    throws
  {
    let path = folder.file("decoder")
    try ExecutableFile.write(script: script, to: path)
    // An image that fills the pipe: unread bytes must not block anything.
    let large = Chunk(joining: [Chunk(SmallImages.gif), Chunk(repeatElement(0, count: 1 << 20))])
    // For other errors, use a long deadline, for busy machines.
    let deadline: Duration = error == .tookTooLong ? .milliseconds(500) : .seconds(30)
    let results = decode([large, large], by: decoder(path, children: 1, deadline: deadline))
    #expect(results == [.failure(error), .failure(error)])
  }

  @Test func `a process that replies without reading its image is killed at the deadline`() throws {
    let path = folder.file("decoder")
    // The head of a reply: the image is damaged.
    try ExecutableFile.write(script: #"printf 'IMG1\006\000\000\000'; head -c 28 /dev/zero; exec sleep 1000"#, to: path)
    // An image that fills the pipe, so that it can't be written.
    let large = Chunk(joining: [Chunk(SmallImages.gif), Chunk(repeatElement(0, count: 1 << 20))])
    let results = decode([large, large], by: decoder(path, children: 1, deadline: .milliseconds(500)))
    #expect(results == [.failure(.corrupt("")), .failure(.corrupt(""))])
  }

  @Test func `pixels in shared memory must have a size that was requested`() throws {
    // The head of a reply whose form is 3: 2 × 1 pixels.
    let path = folder.file("decoder")
    try ExecutableFile.write(
      script: #"""
        printf 'IMG1\0\0\0\0\002\0\0\0\001\0\0\0\002\0\0\0\001\0\0\0\003\0\0\0\010\0\0\0\0\0\0\0'
        exec sleep 1000
        """#, to: path)
    func decode(fitting width: Int) -> Result<DecodedImage, ImageDecodingError>? {
      var result: Result<DecodedImage, ImageDecodingError>?
      let decoder = decoder(path, children: 1)
      let decoding = decoder.decode(Chunk(SmallImages.gif), fitting: .init(width: width, height: 0)).map {
        .success($0)
      }
      .catch { Just(.failure($0)) }
      .sink {
        result = $0
        decoder.close()
      }
      loop.run()
      withExtendedLifetime(decoding) {}
      return result
    }
    #expect(try decode(fitting: 2)?.get().bytes.elementsEqual(repeatElement(0, count: 8)) == true)
    #expect(decode(fitting: 1) == .failure(.crashed(nil)))
    loop.close()
  }

  @Test func `the decoder puts pixels into shared memory`() throws {
    var program = Subprocess(FeedBinary.path(of: "image-decoder"))
    program.standardInput = .pipe
    program.sharedBytes = 1 << 20
    let process = try program.start(on: loop)
    let memory = try #require(process.sharedMemory)
    var reply: [UInt8] = []
    let reading = process.output.sink { _ in
    } receiveValue: {
      reply += $0
      if reply.count >= 36 { process.send(SIGKILL) }
    }
    let request = ImageDecodingRequest(bytes: Chunk(SmallImages.gif), width: 0, height: 0, form: .pixels)
    let writing = [request.head, request.bytes].publisher.write(to: process.input).sink { _ in
    } receiveValue: { _ in
    }
    loop.run()
    withExtendedLifetime((reading, writing)) {}
    // The number at 24 is the form.
    #expect(reply.count == 36 && reply[24] == 3)
    #expect(memory.prefix(4).elementsEqual([0xFF, 0, 0, 0xFF]))
    loop.close()
  }

  /// Decodes one image, and then ends the process.
  private func decode(
    _ bytes: [UInt8], fitting size: DecodedImage.Size, as form: DecodedImage.Form = .pixels
  ) -> DecodedImage? {
    let decoder = decoder(children: 1)
    var image: DecodedImage?
    let decoding = decoder.decode(Chunk(bytes), fitting: size, as: form).sink { _ in
      decoder.close()
    } receiveValue: {
      image = $0
    }
    loop.run()
    withExtendedLifetime(decoding) {}
    return image
  }

  @Test(arguments: [(3_200, 2_133, 1_600), (1_600, 2_133, 800), (90, 1_501, 60)])
  func `every source row counts in a smaller image, down to the last row`(width: Int, height: Int, target: Int) throws {
    // Opaque black, so that a row without its full share is transparent.
    let image = try #require(
      decode(MadeImage.zeros(width: width, height: height), fitting: .init(width: target, height: 0)))
    #expect(image.size.height >= height * target / width)
    let bytes = Array(image.bytes)
    #expect(stride(from: 3, to: bytes.count, by: 4).allSatisfy { bytes[$0] == 255 })
    loop.close()
  }

  @Test func `a smaller image keeps a color profile for RGB, unless it is large`() throws {
    func profile(_ space: String, _ count: Int = 500) -> [UInt8] {
      var bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
      bytes.replaceSubrange(16..<20, with: Array(space.utf8))
      bytes.replaceSubrange(36..<40, with: Array("acsp".utf8))
      return bytes
    }
    func kept(_ profile: [UInt8], in bytes: [UInt8]) throws -> Bool {
      let image = try #require(decode(bytes, fitting: .init(width: 4, height: 0), as: .web))
      return Data(image.bytes).firstRange(of: Data(profile)) != nil
    }
    let rows = [(profile("RGB "), true), (profile("CMYK"), false), (profile("RGB ", 20_000), false)]
    for (index, row) in rows.enumerated() {
      #expect(try kept(row.0, in: MadeImage.jpeg(profile: row.0)) == row.1, "JPEG \(index)")
      #expect(try kept(row.0, in: MadeImage.png(width: 9, height: 9, profile: row.0)) == row.1, "PNG \(index)")
    }
    loop.close()
  }

  @Test func `a missing decoder program is an error`() {
    let results = decode([Chunk(SmallImages.gif)], by: decoder("/nowhere/image-decoder"))
    #expect(
      results == [
        .failure(.unavailable("cannot start /nowhere/image-decoder: no such file or directory (ENOENT)"))
      ])
  }
}

enum SmallImages {
  /// One red pixel.
  static let gif: [UInt8] =
    Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0xFF, 0, 0, 0, 0, 0]
    + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B]
}
