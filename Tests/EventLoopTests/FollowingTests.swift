import FeedStream
import Foundation
import TestSupport
import Testing

@Suite(.settled, .timeLimit(.minutes(5))) struct FollowingTests {
  private let loop = EventLoop()
  private let folder = TemporaryFolder()

  private func follow(
    _ name: String = "log", from start: FollowingStart = .end, every interval: StreamInstant.Stride = .milliseconds(20)
  ) -> Outcome<Chunk, SystemError> {
    Outcome(File(folder(name)).following(from: start, every: interval, on: loop))
  }

  @Test func `following a file delivers appended bytes, and existing ones only if requested`() {
    folder.write("old\n", to: "log")
    let (end, beginning) = (follow(), follow(from: .beginning))
    loop.run { beginning.text == "old\n" && loop.offloadedCount == 0 }
    folder.append("new\n", to: "log")
    loop.run { end.text == "new\n" && beginning.text == "old\nnew\n" }
    #expect(end.text == "new\n")
    #expect(beginning.text == "old\nnew\n")
    for outcome in [end, beginning] { outcome.cancel() }
    loop.run()
  }

  @Test func `following a file reacts to system notifications, long before the next poll`() {
    folder.write("", to: "log")
    let outcome = follow(every: .seconds(600))
    // The end of the file is determined by the first read.
    loop.run { loop.offloadedCount == 0 }
    folder.append("now", to: "log")
    loop.run { outcome.text == "now" }
    #expect(outcome.text == "now")
    outcome.cancel()
    loop.run()
  }

  @Test func `a rotated log is read to its end, then the new one from its start, on a new line`() throws {
    folder.write("1", to: "log")
    let outcome = follow(from: .beginning)
    loop.run { outcome.text == "1" }
    folder.append("2", to: "log")
    try FileManager.default.moveItem(atPath: folder("log"), toPath: folder("log.1"))
    folder.append("3", to: "log.1")
    folder.write("4", to: "log")
    loop.run { outcome.text == "123\n4" }
    #expect(outcome.text == "123\n4")
    outcome.cancel()
    loop.run()
  }

  @Test func `a file that is truncated and longer again before the next check is read from its start`() throws {
    let old = (0..<20).map { "old line \($0)\n" }.joined()
    folder.write(old, to: "log")
    let outcome = follow(from: .beginning)
    loop.run { outcome.text == old }
    let new = (0..<40).map { "line \($0) of another file\n" }.joined()
    // Do both within one turn of the loop, so that the stream never sees a shorter file.
    let file = try #require(FileHandle(forWritingAtPath: folder("log")))
    try file.truncate(atOffset: 0)
    file.write(Data(new.utf8))
    try file.close()
    loop.run { outcome.text.hasSuffix("line 39 of another file\n") }
    #expect(outcome.text == old + new)
    outcome.cancel()
    loop.run()
  }

  @Test func `a truncated file is read from its start, on a new line`() throws {
    folder.write("a long line", to: "log")
    let outcome = follow(from: .beginning)
    loop.run { outcome.text == "a long line" }
    let file = try #require(FileHandle(forWritingAtPath: folder("log")))
    try file.truncate(atOffset: 0)
    file.write(Data("new".utf8))
    try file.close()
    loop.run { outcome.text == "a long line\nnew" }
    #expect(outcome.text == "a long line\nnew")
    outcome.cancel()
    loop.run()
  }

  @Test func `when a file is replaced by another, following continues with its name`() throws {
    folder.write("one", to: "log")
    let outcome = follow(from: .beginning)
    loop.run { outcome.text == "one" }
    folder.write("two", to: "new")
    #expect(rename(folder("new"), folder("log")) == 0)
    loop.run { outcome.text == "one\ntwo" }
    folder.append("three", to: "log")
    loop.run { outcome.text == "one\ntwothree" }
    #expect(outcome.text == "one\ntwothree")
    outcome.cancel()
    loop.run()
  }

  @Test func `following a missing file waits for it, and reads it from its start`() {
    let outcome = follow()
    loop.run { loop.offloadedCount == 0 }
    #expect(outcome.completion == nil)
    folder.write("first", to: "log")
    loop.run { outcome.text == "first" }
    #expect(outcome.text == "first")
    outcome.cancel()
    loop.run()
  }

  @Test func `following a file reads nothing without demand`() {
    folder.write("12345678", to: "log")
    let puller = Puller(File(folder("log")).following(from: .beginning, chunkSize: 2, on: loop))
    loop.run()
    #expect(puller.values == [])
    puller.request(2)
    loop.run()
    #expect(puller.values == ["12", "34"])
    puller.cancel()
  }

  @Test func `following an unreadable file fails with an error that names it`() {
    let outcome = Outcome(File(folder.path).following(from: .beginning, on: loop))
    loop.run()
    #expect(outcome.error?.subject == folder.path)
    #expect(outcome.error?.name == "EISDIR")
  }
}
