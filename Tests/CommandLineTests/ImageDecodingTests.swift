import FeedStream
import Foundation
import ImageFeed
import TestSupport
import Testing

/// The pool of decoders with real processes: `image-decoder`, and programs that behave badly.
@Suite(.settled, .timeLimit(.minutes(5))) struct ImageDecodingTests {
  private let loop = EventLoop()

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
    let path = FileManager.default.temporaryDirectory.appending(path: "decoder-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try ExecutableFile.write(script: script, to: path)
    // An image that fills the pipe: unread bytes must not block anything.
    let large = Chunk(joining: [Chunk(SmallImages.gif), Chunk(repeatElement(0, count: 1 << 20))])
    // For other errors, use a long deadline, for busy machines.
    let deadline: Duration = error == .tookTooLong ? .milliseconds(500) : .seconds(30)
    let results = decode([large, large], by: decoder(path, children: 1, deadline: deadline))
    #expect(results == [.failure(error), .failure(error)])
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
