import Foundation
import TestSupport
import Testing

/// The process that decodes images, used as programs use it: it receives bytes, and returns pixels or a reason.
@Suite(.settled) struct ImageDecoderTests {
  private static let gif: [UInt8] =
    Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0xFF, 0, 0, 0, 0, 0]
    + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B]

  private struct Answer: Equatable {
    var status: UInt32
    var width: UInt32 = 0
    var height: UInt32 = 0
    var color: UInt32 = 0
    var body: [UInt8]
  }

  private func numbers(_ values: [Int]) -> [UInt8] {
    values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
  }

  private func start(_ arguments: [String]) throws -> ChildProcess {
    try ChildProcess(FeedBinary.path(of: "image-decoder"), arguments, input: .pipe, output: .pipe, errors: .inherited)
  }

  /// The exit status of a process that is made to misbehave.
  private func ending(_ how: String) throws -> ChildProcess.Ending {
    let process = try start(["--misbehave", how])
    close(process.input)
    _ = process.readOutput()
    return process.wait()
  }

  /// The replies of one process to requests for the pixels of images.
  private func answers(to images: [[UInt8]]) throws -> [Answer] {
    let process = try start([])
    let input = FileHandle(fileDescriptor: process.input, closeOnDealloc: true)
    for image in images {
      let request = Array("IMG1".utf8) + numbers([image.count, 0, 0, 0]) + image
      try input.write(contentsOf: Data(request))
    }
    try input.close()
    var rest = [UInt8](process.readOutput())[...]
    #expect(process.wait() == .exited(0))
    var answers: [Answer] = []
    while rest.count >= 36 {
      let head = rest.prefix(36)
      let values = (1..<9).map { field in
        (0..<4).reduce(UInt32(0)) { $0 | UInt32(head[head.startIndex + field * 4 + $1]) << UInt32(8 * $1) }
      }
      rest = rest.dropFirst(36)
      let body = rest.prefix(Int(values[6]))
      rest = rest.dropFirst(Int(values[6]))
      answers.append(
        Answer(status: values[0], width: values[1], height: values[2], color: values[7], body: Array(body)))
    }
    return answers
  }

  @Test func `image-decoder returns each image's pixels or a failure status, one image after another`() throws {
    let answers = try answers(to: [
      Self.gif, [], Array("hello".utf8), Array(Self.gif.dropLast(6)), Array("\u{89}PNG".utf8), Self.gif,
    ])
    let red = Answer(status: 0, width: 1, height: 1, color: 0xFF0000, body: [0xFF, 0, 0, 0xFF])
    #expect(answers.map(\.status) == [0, 1, 2, 3, 2, 0])
    #expect(answers.first == red)
    #expect(answers.last == red)
  }

  @Test(arguments: ["open", "connect", "fork", "run"])
  func `system calls other than decoding end image-decoder`(how: String) throws {
    #expect(try ending(how) == .signaled(SIGSYS))
  }

  @Test func `image-decoder ends after its CPU limit, and can't exhaust memory`() throws {
    #expect(try ending("spin") == .signaled(SIGPROF))
    #expect(try ending("memory") == .exited(0))
  }
}
