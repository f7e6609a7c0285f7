import FeedStream
import Foundation
import TestSupport
import Testing

@testable import feed

@Suite(.settled) struct OutputTests {
  @Test func `a long text is written over several loop turns, and then its completion is called`() throws {
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

  private static let long = [UInt8]((0..<3 << 20).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) })

  @Test func `a long text is written to a file completely, off the loop`() throws {
    let loop = EventLoop()
    let path = NSTemporaryDirectory() + "output-\(UUID().uuidString)"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    defer {
      close(descriptor)
      unlink(path)
    }
    let output = Output(on: loop, descriptor: descriptor) { Issue.record("Writing ended: \($0)") }
    var isWritten = false
    output.write(Self.long) { isWritten = true }
    #expect(!isWritten)
    loop.run()
    #expect(isWritten)
    #expect(try [UInt8](Data(contentsOf: URL(filePath: path))) == Self.long)
    loop.close()
  }

  @Test func `a slow pipe reader gets all of the text, and other processes' pipe stays blocking`() throws {
    let loop = EventLoop()
    let pipe = Pipe()
    let descriptor = pipe.fileHandleForWriting.fileDescriptor
    let output = Output(on: loop, descriptor: descriptor) { Issue.record("Writing ended: \($0)") }
    var (isWritten, read) = (false, 0)
    output.write(Self.long) { isWritten = true }
    while !isWritten {
      var part = [UInt8](repeating: 0, count: 10_000)
      let count = Foundation.read(pipe.fileHandleForReading.fileDescriptor, &part, part.count)
      #expect(part.prefix(count).elementsEqual(Self.long[read..<read + count]))
      read += count
      loop.run(.oneTurn)
    }
    #expect(read + 65_536 >= Self.long.count)
    #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK == 0)
    loop.close()
  }

  @Test func `a write without a loop gives up if nobody reads the pipe`() throws {
    let pipe = Pipe()
    let descriptor = pipe.fileHandleForWriting.fileDescriptor
    #expect(Output.put([0x41], to: descriptor))
    #expect(!Output.put(Self.long, to: descriptor))
    try pipe.fileHandleForReading.close()
  }

  @Test func `a command that ends waits a while for its output's reader, and then drops unread text`() throws {
    let loop = EventLoop()
    let pipe = Pipe()
    let output = Output(on: loop, descriptor: pipe.fileHandleForWriting.fileDescriptor) {
      Issue.record("Writing ended: \($0)")
    }
    var written: [Int] = []
    output.write(Self.long) {
      written.append(1)
      output.write(Self.long) { written.append(2) }
    }
    loop.run(.oneTurn)
    output.stopWaiting(after: .milliseconds(1))
    #expect(written.isEmpty)
    loop.run()
    #expect(written == [1, 2])
    try pipe.fileHandleForReading.close()
    loop.close()
  }

  @Test func `after a part of a text was dropped, no other text is appended to that part`() throws {
    let loop = EventLoop()
    let pipe = Pipe()
    let reader = pipe.fileHandleForReading.fileDescriptor
    let output = Output(on: loop, descriptor: pipe.fileHandleForWriting.fileDescriptor) {
      Issue.record("Writing ended: \($0)")
    }
    var written: [Int] = []
    output.write(Self.long) { written.append(1) }
    loop.run(.oneTurn)
    output.stopWaiting(after: .milliseconds(1))
    loop.run()
    _ = fcntl(reader, F_SETFL, fcntl(reader, F_GETFL) | O_NONBLOCK)
    var part = [UInt8](repeating: 0, count: 1 << 20)
    while Foundation.read(reader, &part, part.count) > 0 {}
    output.write([0x0A]) { written.append(2) }
    #expect(written == [1, 2])
    #expect(Foundation.read(reader, &part, part.count) == -1)
    try pipe.fileHandleForReading.close()
    loop.close()
  }

  @Test(arguments: [false, true])
  func `if a command completes its work, its writes complete after the reader is gone`(isEnding: Bool) throws {
    let loop = EventLoop()
    let pipe = Pipe()
    var (ends, written): ([Output.End], [Int]) = ([], [])
    var output: Output!
    output = Output(on: loop, descriptor: pipe.fileHandleForWriting.fileDescriptor) {
      ends.append($0)
      output.stopWaiting(after: .milliseconds(1))
    }
    output.write(Self.long) {
      written.append(1)
      output.write(Self.long) { written.append(2) }
    }
    loop.run(.oneTurn)
    if isEnding { output.stopWaiting(after: .milliseconds(50)) }
    try pipe.fileHandleForReading.close()
    loop.run()
    #expect(written == [1, 2])
    #expect(ends == [.closed])
    output = nil
    loop.close()
  }

  @Test func `closing the pipe's reader ends a pending write`() throws {
    let loop = EventLoop()
    let pipe = Pipe()
    var ends: [Output.End] = []
    let output = Output(on: loop, descriptor: pipe.fileHandleForWriting.fileDescriptor) { ends.append($0) }
    let watch = output.watchReader()
    output.write(Self.long) { Issue.record("It is written.") }
    loop.run(.oneTurn)
    #expect(ends.isEmpty)
    try pipe.fileHandleForReading.close()
    loop.run()
    #expect(ends == [.closed])
    watch?.cancel()
    loop.close()
  }

  @Test func `if the output fails after a signal, the exit status is that of the failure`() async {
    let ending = await #expect(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
      _ = dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO)
      let session = Session(quiet: true)
      session.stopping = { stopped in session.print([0x20], then: stopped) }
      // Keeps the loop running until the signal arrives.
      session.loop.schedule(after: session.loop.now.advanced(by: .seconds(60))) {}
      _ = kill(getpid(), SIGTERM)
      try session.finish()
    }
    let errors = String(decoding: ending?.standardErrorContent ?? [], as: UTF8.self)
    #expect(errors.contains("cannot write to standard output: No space left"), "\(errors)")
  }

  @Test func `a signal after the reader is gone doesn't cancel the running work`() async {
    let ending = await #expect(processExitsWith: .exitCode(143), observing: [\.standardErrorContent]) {
      let pipe = Pipe()
      _ = dup2(pipe.fileHandleForWriting.fileDescriptor, STDOUT_FILENO)
      try pipe.fileHandleForReading.close()
      let session = Session(quiet: true)
      var isCancelled = false
      var done: (() -> Void)?
      session.keep(AnyCancellable { isCancelled = true })
      session.stopping = {
        done = $0
        _ = kill(getpid(), SIGTERM)
      }
      // Both handlers run in one turn; the work completes in a later one.
      let watch = try session.loop.signal(SIGTERM, keepsLoopAlive: true) {
        session.loop.schedule {
          FileHandle.standardError.write(Data((isCancelled ? "cancelled" : "completed").utf8))
          done?()
        }
      }
      session.print([0x20])
      try session.finish()
      watch.cancel()
    }
    let errors = String(decoding: ending?.standardErrorContent ?? [], as: UTF8.self)
    #expect(errors.contains("completed"), "\(errors)")
  }

  @Test func `after the Ctrl-C key, one signal is enough to end the command without waiting`() async {
    await #expect(processExitsWith: .exitCode(143)) {
      let session = Session(quiet: true)
      session.stopping = { _ in Issue.record("The signal waits for the command's work.") }
      session.fail(with: 130)
      // Keeps the loop running until the signal arrives.
      session.loop.schedule(after: session.loop.now.advanced(by: .seconds(10))) {}
      _ = kill(getpid(), SIGTERM)
      try session.finish()
    }
  }
}
