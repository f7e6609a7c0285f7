import Foundation
import TestSupport
import Testing

/// The process that decodes pictures, asked as its users ask it: bytes in, pixels or a reason out.
@Suite(.settled) struct PictureDecoderTests {
  private static let gif: [UInt8] =
    Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0xFF, 0, 0, 0, 0, 0]
    + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B]

  private struct Answer: Equatable {
    var status: UInt32
    var width: UInt32 = 0
    var height: UInt32 = 0
    var body: [UInt8]
  }

  private func numbers(_ values: [Int]) -> [UInt8] {
    values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
  }

  private func start(_ arguments: [String]) throws -> (process: Process, input: Pipe, output: Pipe) {
    let process = Process()
    process.executableURL = URL(filePath: FeedBinary.path(of: "picture-decoder"))
    process.arguments = arguments
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    return (process, input, output)
  }

  /// The answers of one process to pictures, in the form of pixels.
  private func answers(to pictures: [[UInt8]]) throws -> [Answer] {
    let (process, input, output) = try start([])
    for picture in pictures {
      let request = Array("PIC1".utf8) + numbers([picture.count, 0, 0, 0]) + picture
      try input.fileHandleForWriting.write(contentsOf: Data(request))
    }
    try input.fileHandleForWriting.close()
    var rest = [UInt8](try output.fileHandleForReading.readToEnd() ?? Data())[...]
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    var answers: [Answer] = []
    while rest.count >= 32 {
      let head = rest.prefix(32)
      let values = (1..<8).map { field in
        (0..<4).reduce(UInt32(0)) { $0 | UInt32(head[head.startIndex + field * 4 + $1]) << UInt32(8 * $1) }
      }
      rest = rest.dropFirst(32)
      let body = rest.prefix(Int(values[6]))
      rest = rest.dropFirst(Int(values[6]))
      answers.append(Answer(status: values[0], width: values[1], height: values[2], body: Array(body)))
    }
    return answers
  }

  @Test func `pictures come back as pixels, and each failure as a status, one after another`() throws {
    let answers = try answers(to: [
      Self.gif, [], Array("hello".utf8), Array(Self.gif.dropLast(6)), Array("\u{89}PNG".utf8), Self.gif,
    ])
    let red = Answer(status: 0, width: 1, height: 1, body: [0xFF, 0, 0, 0xFF])
    #expect(answers.map(\.status) == [0, 1, 2, 3, 2, 0])
    #expect(answers.first == red)
    #expect(answers.last == red)
  }

  @Test(arguments: ["open", "connect", "fork", "run"])
  func `what is not decoding ends the process`(how: String) throws {
    let (process, input, _) = try start(["--misbehave", how])
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    #expect(process.terminationReason == .uncaughtSignal)
    #expect(process.terminationStatus == SIGSYS)
  }

  @Test func `a picture that keeps it busy ends it, and it cannot take all memory`() throws {
    let (spinning, _, _) = try start(["--misbehave", "spin"])
    spinning.waitUntilExit()
    #expect(spinning.terminationReason == .uncaughtSignal)
    #expect(spinning.terminationStatus == SIGPROF)
    let (hungry, _, _) = try start(["--misbehave", "memory"])
    hungry.waitUntilExit()
    #expect(hungry.terminationReason == .exit)
    #expect(hungry.terminationStatus == 0)
  }
}
