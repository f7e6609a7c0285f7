import FeedStream
import Foundation
import TestSupport
import Testing

@testable import feed

@Suite(.settled) struct OutputTests {
  @Test func `a long text is written in turns, and then it is said to be written`() throws {
    let loop = EventLoop()
    let descriptor = open("/dev/null", O_WRONLY)
    defer { close(descriptor) }
    let output = Output(on: loop, descriptor: descriptor) { Issue.record("Writing ended: \($0)") }
    var isWritten = false
    output.write([UInt8](repeating: 0x20, count: 4 << 20)) { isWritten = true }
    #expect(!isWritten)
    var turns = 0
    while !isWritten, turns < 1_000 {
      loop.run(.oneTurn)
      turns += 1
    }
    #expect(isWritten && turns >= 7, "\(turns) turns")
    loop.close()
  }
}
