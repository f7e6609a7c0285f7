import Foundation
import TestSupport
import Testing

@testable import FeedStream

@Suite(.settled, .timeLimit(.minutes(5))) struct FileWritingTests {
  private let loop = EventLoop()
  private let folder = TemporaryFolder()

  private func write(_ text: [String], _ writing: FileWriting, to name: String = "file") -> Outcome<Never, WriteError> {
    let outcome = Outcome(text.map { Chunk($0) }.publisher.write(to: File(folder(name)), writing, on: loop))
    loop.run()
    return outcome
  }

  @Test func `a write replaces a file, appends to it, or fails if a new file exists already`() {
    #expect(write(["hello, ", "", "world"], .replacing).isFinished)
    #expect(folder.text("file") == "hello, world")
    #expect(write(["short"], .replacing).isFinished)
    #expect(folder.text("file") == "short")
    #expect(write([" and more"], .appending).isFinished)
    #expect(folder.text("file") == "short and more")
    #expect(write(["x"], .creating).error?.cause is SystemError)
    #expect(folder.text("file") == "short and more")
    #expect(write(["new"], .creating, to: "other").isFinished)
    #expect(folder.text("other") == "new")
  }

  @Test func `writing an empty stream creates an empty file`() {
    #expect(write([], .replacing).isFinished)
    #expect(folder.text("file") == "")
  }

  @Test func `many small chunks are written together, in order`() {
    let lines = (0..<20_000).map { "\($0)\n" }
    #expect(write(lines, .replacing).isFinished)
    #expect(folder.text("file") == lines.joined())
  }

  @Test func `an atomic write replaces the file on completion, keeps permissions, and leaves no other file`() throws {
    folder.write("before", to: "file")
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder("file"))
    let chunks = PassthroughSubject<Chunk, Never>()
    let outcome = Outcome(chunks.write(to: File(folder("file")), .atomically, on: loop))
    chunks.send("after")
    loop.run()
    #expect(folder.text("file") == "before")
    #expect(folder.names.count == 2)
    chunks.send(completion: .finished)
    loop.run()
    #expect(outcome.isFinished)
    #expect(folder.text("file") == "after")
    #expect(folder.names == ["file"])
    let attributes = try FileManager.default.attributesOfItem(atPath: folder("file"))
    #expect(attributes[.posixPermissions] as? Int == 0o640)
  }

  @Test func `an atomic write keeps permissions that the mask would remove, and follows a link to a missing file`()
    throws
  {
    folder.write("before", to: "file")
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: folder("file"))
    #expect(write(["after"], .atomically, to: "file").isFinished)
    #expect(try FileManager.default.attributesOfItem(atPath: folder("file"))[.posixPermissions] as? Int == 0o666)
    try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "missing")
    #expect(write(["new"], .atomically, to: "link").isFinished)
    #expect(folder.text("missing") == "new")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder("link")) == "missing")
    let long = String(repeating: "é", count: 125)
    #expect(write(["long"], .atomically, to: long).isFinished)
    #expect(folder.text(long) == "long")
    #expect(folder.names.count == 4)
  }

  @Test func `an atomic write to a symbolic link replaces the link's target`() throws {
    folder.write("before", to: "file")
    try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "file")
    #expect(write(["after"], .atomically, to: "link").isFinished)
    #expect(folder.text("file") == "after")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder("link")) == "file")
  }

  @Test func `an atomic write to a link whose target isn't UTF-8 fails`() {
    let target: [CChar] = [0x7A, -0x17, 0]
    #expect(symlink(target, folder("link")) == 0)
    #expect((write(["text"], .atomically, to: "link").error?.cause as? SystemError)?.name == "EILSEQ")
    #expect(folder.names == ["link"])
  }

  @Test func `an atomic write to a named pipe writes to the pipe`() {
    #expect(mkfifo(folder("pipe"), 0o600) == 0)
    let reader = open(folder("pipe"), O_RDWR | O_NONBLOCK)
    defer { close(reader) }
    #expect(write(["text"], .atomically, to: "pipe").isFinished)
    var bytes = [UInt8](repeating: 0, count: 10)
    #expect(read(reader, &bytes, 10) == 4 && bytes.starts(with: "text".utf8))
    #expect(folder.names == ["pipe"])
  }

  @Test(.enabled(if: geteuid() == 0)) func `an atomic write by an administrator keeps the file's owner`() throws {
    folder.write("before", to: "file")
    #expect(chown(folder("file"), 1_000, 1_001) == 0)
    #expect(write(["after"], .atomically, to: "file").isFinished)
    let attributes = try FileManager.default.attributesOfItem(atPath: folder("file"))
    #expect(attributes[.ownerAccountID] as? Int == 1_000 && attributes[.groupOwnerAccountID] as? Int == 1_001)
  }

  @Test func `a new file that has the right owner keeps all permissions, even if the system refuses to change owners`()
  {
    let owner = FileOwner(user: 1, group: 2)
    func kept(_ permissions: UInt16, _ user: UInt32, _ group: UInt32) -> UInt16 {
      SystemFiles.permissions(permissions, giving: FileOwner(user: user, group: group), to: owner) { _, _ in false }
    }
    #expect([0o640, 0o664, 0o4755, 0o2755].allSatisfy { kept($0, 1, 2) == $0 })
    #expect(kept(0o6660, 3, 2) == 0o660 && kept(0o6664, 1, 3) == 0o644 && kept(0o6640, 3, 3) == 0o600)
  }

  @Test func `a failure or a cancellation during an atomic write leaves the file unchanged`() {
    struct Lost: Error {}
    folder.write("before", to: "file")
    let chunks = PassthroughSubject<Chunk, Lost>()
    let failing = Outcome(chunks.write(to: File(folder("file")), .atomically, on: loop))
    chunks.send("half")
    loop.run()
    chunks.send(completion: .failure(Lost()))
    loop.run()
    #expect(failing.error?.cause is Lost)
    #expect(folder.text("file") == "before")

    let endless = PassthroughSubject<Chunk, Never>()
    let cancelled = Outcome(endless.write(to: File(folder("file")), .atomically, on: loop))
    endless.send("half")
    loop.run()
    cancelled.cancel()
    loop.run()
    #expect(folder.text("file") == "before")
    #expect(folder.names == ["file"])
  }

  @Test func `an upstream that fails before the first chunk leaves the file unchanged`() {
    struct Lost: Error {}
    folder.write("before", to: "file")
    let outcome = Outcome(Fail<Chunk, Lost>(error: Lost()).write(to: File(folder("file")), on: loop))
    loop.run()
    #expect(outcome.error != nil)
    #expect(folder.text("file") == "before")
  }

  @Test func `writing to an invalid path fails with an error that has the path and the bytes`() {
    for (path, reason) in [
      (folder("none/file"), "ENOENT"), (folder.path, "EISDIR"), ("/proc/version", "EACCES"), (folder("a\0b"), "EINVAL"),
      (folder(String(repeating: "n", count: 300)), "ENAMETOOLONG"),
    ] {
      for writing: FileWriting in [.replacing, .appending] {
        let outcome = Outcome(["ab", "c"].map { Chunk($0) }.publisher.write(to: File(path), writing, on: loop))
        loop.run()
        let error = outcome.error?.cause as? SystemError
        #expect(error?.subject == path)
        // An administrator may write any file, and system files fail with other errors.
        #expect(error?.name == reason || path.hasPrefix("/proc"))
        #expect(outcome.error.map { Chunk(joining: $0.unwritten) } == "abc")
      }
    }
  }

  @Test func `a path with a null character is refused, not truncated`() {
    folder.write("before", to: "a")
    for writing: FileWriting in [.replacing, .appending, .creating, .atomically] {
      let outcome = Outcome(Just(Chunk("other")).write(to: File(folder("a\0b")), writing, on: loop))
      loop.run()
      #expect((outcome.error?.cause as? SystemError)?.name == "EINVAL")
    }
    #expect(folder.text("a") == "before")
  }

  @Test func `writing to a full disk fails with exactly the unwritten bytes`() throws {
    // A limit on file size simulates a full disk. It runs in its own process, because the limit can't be removed.
    try #require(FileManager.default.fileExists(atPath: "/dev/full"))
    let outcome = Outcome(["ab", "c"].map { Chunk($0) }.publisher.write(to: File("/dev/full"), .appending, on: loop))
    loop.run()
    #expect((outcome.error?.cause as? SystemError)?.name == "ENOSPC")
    #expect(outcome.error.map { Chunk(joining: $0.unwritten) } == "abc")
    #expect("\(outcome.error!)".hasSuffix("; 3 bytes were not written"))
  }

  @Test func `writing to a file requests chunks only up to its limit`() {
    var asked = 0
    let block = Chunk(repeatElement(1, count: 1_000))
    let outcome = Outcome(
      repeatElement(block, count: 100).publisher.handleEvents(receiveOutput: { _ in asked += 1 })
        .write(to: File(folder("file")), limit: 5_000, on: loop))
    // Before the loop has run, nothing can have been written.
    #expect(asked == 5)
    loop.run()
    #expect(outcome.isFinished)
    #expect(folder.text("file")?.utf8.count == 100_000)
  }

  @Test func `an atomic write that is cancelled while the disk syncs leaves the file unchanged`() {
    folder.write("before", to: "file")
    let files = SlowFiles()
    let sink = {
      let writer = FileWriter(folder("file"), .atomically, of: files, permissions: 0o666, syncs: true)
      return OffloadedSink(on: loop) {
        writer.write($0)
      } finish: {
        writer.finish()
      } revoke: {
        writer.revoke()
      }
    }()
    sink.write(["after"]) { #expect($0 == nil) }
    loop.run()
    sink.endWriting { _ in Issue.record("a closed sink called back") }
    files.syncs.wait()
    sink.close()
    files.mayEnd.signal()
    loop.run()
    #expect(folder.text("file") == "before")
  }

  @Test func `a name may begin with a combining mark`() throws {
    let name = "\u{301}x"
    #expect(write(["a"], .atomically, to: name).isFinished)
    let entries = Outcome(Folder(folder.path).entries(on: loop))
    loop.run()
    #expect(entries.values.map(\.name) == [name])
    try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: folder("\u{301}missing"))
    #expect(write(["b"], .atomically, to: "link").isFinished)
    #expect(folder.text("\u{301}missing") == "b")
  }
}

/// The system's files, on a disk that syncs only when a test allows it.
// @unchecked: semaphores may be used by several threads.
private final class SlowFiles: FileSystem, @unchecked Sendable {
  let syncs = DispatchSemaphore(value: 0)
  let mayEnd = DispatchSemaphore(value: 0)
  private let files = SystemFiles.shared

  func open(_ path: String, _ opening: FileOpening) throws(SystemError) -> any OpenFile {
    SlowFile(try files.open(path, opening), self)
  }
  func status(of path: String) throws(SystemError) -> FileStatus? { try files.status(of: path) }
  func destination(of path: String) throws(SystemError) -> String { try files.destination(of: path) }
  func rename(_ path: String, to other: String) throws(SystemError) { try files.rename(path, to: other) }
  func syncFolder(of path: String) throws(SystemError) { try files.syncFolder(of: path) }
  func remove(_ path: String) { files.remove(path) }
  func openFolder(_ path: String, below root: String?) throws(SystemError) -> any OpenFolder {
    try files.openFolder(path, below: root)
  }
}

private final class SlowFile: OpenFile {
  private let file: any OpenFile
  private let files: SlowFiles

  init(_ file: any OpenFile, _ files: SlowFiles) {
    self.file = file
    self.files = files
  }

  func read(into room: UnsafeMutableBufferPointer<UInt8>, at offset: Int64?) throws(SystemError) -> Int {
    try file.read(into: room, at: offset)
  }
  func write(_ chunks: [Chunk]) -> (written: Int, error: SystemError?) { file.write(chunks) }
  func sync() throws(SystemError) {
    files.syncs.signal()
    files.mayEnd.wait()
    try file.sync()
  }
  func status() throws(SystemError) -> FileStatus { try file.status() }
}
