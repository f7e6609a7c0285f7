import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@Suite(.settled) struct WorldFilesTests {
  private func write(
    _ chunks: [Chunk], to path: String = "f", _ writing: FileWriting, _ time: VirtualTimeScheduler
  ) -> (isDone: Bool, name: String?, unwritten: Chunk?) {
    var result: (Bool, String?, Chunk?) = (false, nil, nil)
    let all = chunks.publisher.write(to: File(path), writing, on: time).sink {
      switch $0 {
      case .finished: result.0 = true
      case .failure(let error): result = (false, (error.cause as? SystemError)?.name, Chunk(joining: error.unwritten))
      }
    } receiveValue: { _ in
    }
    time.run()
    all.cancel()
    return result
  }

  @Test func `a full disk leaves exactly the remaining bytes unwritten`() {
    for capacity in 0...6 {
      withVirtualTime { time in
        time.files.capacity = capacity
        let result = write(["ab", "cd", "ef"], .replacing, time)
        #expect(result.isDone == (capacity == 6))
        if capacity < 6 {
          #expect(result.name == "ENOSPC")
          #expect(Chunk(joining: [time.files["f"]!, result.unwritten!]) == "abcdef")
        }
      }
    }
  }

  @Test(arguments: [VirtualFiles.Operation.open, .write, .sync, .rename])
  func `an atomic write that fails leaves the file unchanged`(_ operation: VirtualFiles.Operation) {
    withVirtualTime { time in
      time.files["f"] = "before"
      switch operation {
      case .rename: time.files.fail(.rename, of: "f", code: EIO)
      default: time.files.failNext(operation, code: EIO)
      }
      #expect(write(["after"], .atomically, time).name == "EIO")
      #expect(time.files["f"] == "before")
      #expect(time.files.paths == ["f"])
      #expect(write(["after"], .atomically, time).isDone)
      #expect(time.files["f"] == "after")
    }
  }

  @Test(arguments: [VirtualFiles.Operation.open, .write, .sync])
  func `a fault of a file's path also affects its atomic replacement`(_ operation: VirtualFiles.Operation) {
    withVirtualTime { time in
      time.files["f"] = "before"
      time.files.fail(operation, of: "f", code: EIO, after: operation == .write ? 2 : 0)
      let result = write(["after"], .atomically, time)
      #expect(result.name == "EIO")
      if operation == .write { #expect(result.unwritten == "ter") }
      #expect(time.files["f"] == "before")
    }
  }

  @Test func `a fault that hasn't occurred fails the test on its line`() {
    let failures = failures {
      withVirtualTime { time in
        time.files.fail(.sync, of: "f", code: EIO)
        #expect(write(["after"], .replacing, time).isDone)
      }
    }
    #expect(failures.map(\.line) == [#line - 4])
    #expect(failures.map(\.message) == ["The failure set here has not occurred: nothing tried to sync f."])
  }

  @Test func `the message about a fault says if too few bytes were written or read`() {
    let failures = failures {
      withVirtualTime { time in
        time.files.fail(.write, of: "f", code: EIO, after: 100)
        #expect(write(["after"], .replacing, time).isDone)
        time.files.fail(.read, of: "f", code: EIO, after: 100)
        let bytes = File("f").bytes(chunkSize: 10, on: time).record(on: time)
        time.run()
        #expect(bytes.values == ["after"])
      }
    }
    #expect(
      failures.map(\.message) == [
        "The failure set here has not occurred: too few bytes of f were written.",
        "The failure set here has not occurred: too few bytes of f were read.",
      ])
  }

  @Test(arguments: [FileWriting.atomically, .replacing]) func `a folder can't be replaced by a file`(
    _ writing: FileWriting
  ) {
    withVirtualTime { time in
      time.files["f/a"] = "x"
      time.files["b"] = "y"
      #expect(write(["after"], writing, time).name == "EISDIR")
      time.files.move("b", to: "f")
      #expect(time.files.paths == ["b", "f/a"])
    }
  }

  @Test func `a test can't make a folder a file`() async {
    let writing = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      withVirtualTime { time in
        time.files["f/a"] = "x"
        time.files["f"] = "y"
      }
    }
    let appending = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      withVirtualTime { time in
        time.files["f/a"] = "x"
        time.files.append("y", to: "f")
      }
    }
    for result in [writing, appending] {
      let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(output.contains("VirtualFiles: f is a folder; use another path, or remove it first"))
    }
  }

  @Test func `a failing read fails after the bytes before it`() {
    withVirtualTime { time in
      time.files["f"] = "abcdef"
      time.files.fail(.read, of: "f", code: EIO, after: 3)
      var events: [String] = []
      let all = File("f").bytes(chunkSize: 2, on: time).sink {
        if case .failure(let error) = $0 { events.append(error.name) }
      } receiveValue: {
        events.append($0.text)
      }
      time.run()
      #expect(events == ["ab", "c", "EIO"])
      all.cancel()
    }
  }

  @Test func `a writer that doesn't append continues at its own position`() {
    for writing in [FileWriting.replacing, .appending] {
      withVirtualTime { time in
        let subject = PassthroughSubject<Chunk, Never>()
        let all = subject.write(to: File("f"), writing, on: time).sink { _ in
        } receiveValue: { _ in
        }
        subject.send("abc")
        time.advance()
        time.files.truncate("f")
        subject.send("d")
        time.advance()
        let expected: Chunk = writing == .appending ? "d" : "\0\0\0d"
        #expect(time.files["f"] == expected)
        all.cancel()
      }
    }
  }

  @Test func `a file or a folder that is moved into a folder is in that folder`() {
    withVirtualTime { time in
      time.files["a"] = "x"
      time.files["old/b/c"] = "y"
      time.files.move("a", to: "logs/a")
      time.files.move("old", to: "logs/old")
      #expect(time.files.paths == ["logs/a", "logs/old/b/c"])
      var paths: [String] = []
      let reading = Folder("logs").entries(recursively: true, on: time).sink { _ in
      } receiveValue: {
        paths.append($0.path)
      }
      time.run()
      #expect(paths.sorted() == ["logs/a", "logs/old", "logs/old/b", "logs/old/b/c"])
      reading.cancel()
    }
  }

  @Test func `a test can't move or truncate a file that doesn't exist`() async {
    let moving = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      withVirtualTime { $0.files.move("f", to: "g") }
    }
    let truncating = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      withVirtualTime { $0.files.truncate("f") }
    }
    for result in [moving, truncating] {
      let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(output.contains("VirtualFiles: there is nothing at f; use the path of a file that exists"))
    }
  }

  @Test func `a virtual loop has the files of its virtual time`() {
    withVirtualTime { time in
      time.files["f"] = "a"
      var text = ""
      let reading = File("f").bytes(on: VirtualLoop(on: time)).sink { _ in
      } receiveValue: {
        text += $0.text
      }
      time.run()
      #expect(text == "a")
      reading.cancel()
    }
  }

  @Test func `following continues across rotation, truncation and replacement`() {
    withVirtualTime { time in
      var text = ""
      let following = File("log/app").following(every: .seconds(1), on: time).sink { _ in
      } receiveValue: {
        text += $0.text
      }
      time.advance(by: .seconds(3))
      time.files["log/app"] = "1"
      time.advance(by: .seconds(1))
      #expect(text == "1")
      time.files.append("2", to: "log/app")
      time.advance()
      #expect(text == "12")
      time.files.move("log/app", to: "log/app.1")
      time.files.append("3", to: "log/app.1")
      time.files["log/app"] = "4"
      time.advance()
      #expect(text == "123\n4")
      time.files.truncate("log/app")
      time.advance()
      time.files.append("5", to: "log/app")
      time.advance()
      #expect(text == "123\n4\n5")
      following.cancel()
      #expect(time.pending.isEmpty)
    }
  }

  @Test func `a file truncated and longer again is read from its start`() {
    withVirtualTime { time in
      for start in [FollowingStart.beginning, .end] {
        time.files["log"] = "one\ntwo\nthr"
        var lines: [String] = []
        let following = File("log").following(from: start, every: .seconds(1), on: time).lines()
          .sink { _ in
          } receiveValue: {
            lines.append($0)
          }
        time.advance(by: .seconds(1))
        time.files.truncate("log")
        time.files.append("four\nfive\nsix\n", to: "log")
        time.advance(by: .seconds(1))
        time.files.append("seven\n", to: "log")
        time.advance(by: .seconds(1))
        let new = ["four", "five", "six", "seven"]
        #expect(lines == (start == .end ? new : ["one", "two", "thr"] + new))
        following.cancel()
      }
    }
  }

  @Test func `folder changes are announced, and unannounced ones are found by polling`() {
    withVirtualTime { time in
      time.files["d/a"] = ""
      var changes: [FolderChange] = []
      let all = Folder("d").changes(every: .seconds(5), on: time).sink { _ in
      } receiveValue: {
        changes.append($0)
      }
      time.advance(by: .seconds(1))
      time.files["d/b"] = ""
      time.advance(by: .seconds(10))
      #expect(changes.contains(.entry("b")))
      #expect(!changes.contains(.unknown))
      changes = []
      time.files.isMute = true
      time.files["d/c"] = ""
      time.advance(by: .seconds(10))
      #expect(changes == [.unknown])
      all.cancel()
    }
  }

  /// The changes that `change` causes in the folder `d`, which has a file `a`.
  private func changes(_ change: (VirtualTimeScheduler) -> Void) -> [FolderChange] {
    withVirtualTime { time in
      time.files["d/a"] = ""
      var changes: [FolderChange] = []
      let all = Folder("d").changes(every: .seconds(5), on: time).sink { _ in
      } receiveValue: {
        changes.append($0)
      }
      time.advance(by: .seconds(6))
      change(time)
      time.advance(by: .seconds(20))
      all.cancel()
      #expect(time.pending.isEmpty)
      return changes
    }
  }

  @Test func `a new subfolder is announced, and an unannounced one is found by polling`() {
    let making = changes { $0.files.makeFolder("d/sub") }
    let writing = changes { $0.files["d/sub/below/x"] = "new" }
    let silent = changes { time in
      time.files.isMute = true
      time.files["d/sub/x"] = "new"
    }
    #expect(making == [.entry("sub")])
    #expect(writing == [.entry("sub")])
    #expect(silent == [.unknown])
  }

  @Test func `the current folder always exists, and the paths of its entries begin with it`() {
    withVirtualTime { time in
      let none = Folder(".").entries(on: time).record(on: time)
      let changes = Folder(".").changes(on: time).record(on: time)
      time.advance(by: .seconds(1))
      #expect(none.values.isEmpty && none.completion == .finished)
      time.files["a"] = "x"
      time.files["/b/c"] = "y"
      time.advance(by: .seconds(1))
      #expect(changes.values == [.entry("a"), .content("a")])
      changes.cancel()
      for (folder, path) in [(".", "./a"), ("/", "/b"), ("/b/", "/b/c")] {
        let entries = Folder(folder).entries(on: time).record(on: time)
        time.run()
        #expect(entries.values.map(\.path) == [path])
      }
      #expect(time.files["./a"] == "x" && time.files.paths == ["/b/c", "a"])
    }
  }

  @Test func `writing atomically to a path that ends in a slash creates no folder`() {
    withVirtualTime { time in
      #expect(write(["x"], to: "new/", .atomically, time).name == "ENOENT")
      #expect(write(["y"], to: "new", .atomically, time).isDone)
      #expect(time.files["new"] == "y")
    }
  }

  @Test(arguments: ["a\0b", "new/", "folder", "folder/", "file/", String(repeating: "x", count: 256)])
  func `a path is refused as the system refuses it`(_ name: String) throws {
    func codes(_ files: any FileSystem, in root: String) -> [Int32] {
      let path = "\(root)/\(name)"
      func code(_ body: () throws(SystemError) -> Void) -> Int32 {
        do throws(SystemError) { try body() } catch { return error.code }
        return 0
      }
      let openings: [FileOpening] = [
        .replacing(permissions: 0o600), .appending(permissions: 0o600), .creating(permissions: 0o600),
      ]
      let writing = openings.map { opening in
        code { () throws(SystemError) in _ = try files.open(path, opening) }
      }
      let reading = code { () throws(SystemError) in
        let room = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 1)
        defer { room.deallocate() }
        _ = try files.open(path, .reading).read(into: room, at: nil)
      }
      var isThere = false
      let looking = code { () throws(SystemError) in isThere = try files.status(of: path) != nil }
      let listing = code { () throws(SystemError) in _ = try files.openFolder(path, below: nil) }
      return writing + [reading, looking, listing, isThere ? 1 : 0]
    }
    let folder = TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.file("folder"), withIntermediateDirectories: false)
    try Data().write(to: URL(filePath: folder.file("file")))
    let expected = codes(SystemFiles.shared, in: folder.path)
    #expect(expected.contains { $0 != 0 })
    withVirtualTime { time in
      time.files.makeFolder("root/folder")
      time.files["root/file"] = ""
      #expect(codes(time.files, in: "root") == expected)
      #expect(time.files.paths == ["root/file"])
    }
  }

  @Test func `a lost announcement is noticed even if another change was announced before it`() {
    let changes = changes { time in
      time.files["d/b"] = ""
      time.advance(by: .seconds(1))
      time.files.isMute = true
      time.files["d/c"] = ""
      time.files.isMute = false
    }
    #expect(changes == [.entry("b"), .content("b"), .unknown])
  }

  @Test func `unknown follows 1,024 announcements at the same time, because the system may have dropped others`() {
    for (count, isUnknown) in [(511, false), (512, true)] {
      // Each file is announced twice.
      let changes = changes { time in for index in 0..<count { time.files["d/\(index)"] = "" } }
      #expect(changes.count == 2 * count + (isUnknown ? 1 : 0))
      #expect((changes.last == .unknown) == isUnknown)
    }
    // The same number of announcements, one after another.
    let changes = changes { time in
      for index in 0..<600 {
        time.files.append("x", to: "d/\(index)")
        time.advance(by: .milliseconds(1))
      }
    }
    #expect(!changes.contains(.unknown))
  }

  @Test func `unknown follows too many announcements for all folders of a loop together`() {
    for (count, isUnknown) in [(100, false), (200, true)] {
      let changes = changes { time in
        time.files["e/a"] = ""
        let other = Folder("e").changes(on: time).sink(receiveCompletion: { _ in }, receiveValue: { _ in })
        time.files["d/b"] = ""
        // Each file is announced twice.
        for index in 0..<(3 * count) { time.files["e/\(index)"] = "" }
        time.files.isMute = true
        time.files["d/c"] = ""
        time.files.isMute = false
        time.advance(by: .seconds(1))
        other.cancel()
      }
      #expect(changes == [.entry("b"), .content("b")] + (isUnknown ? [.unknown] : []))
    }
  }

  @Test func `an announcement during a check of a folder doesn't start a second check`() {
    withVirtualTime { time in
      time.offloadLatency = .seconds(1)
      time.files["d/a"] = ""
      let all = Folder("d").changes(every: .seconds(5), on: time).sink(
        receiveCompletion: { _ in }, receiveValue: { _ in })
      // The first check ends after 1 second, and the second begins after 6.
      time.advance(by: .milliseconds(6_500))
      time.files["d/b"] = ""
      time.advance(by: .milliseconds(1_500))
      all.cancel()
      #expect(time.pending.isEmpty)
    }
  }

  @Test func `a subfolder that a file replaces while the folder is read is skipped`() {
    withVirtualTime { time in
      time.files["d/a/x"] = ""
      var paths: [String] = []
      var completion: Subscribers.Completion<SystemError>?
      let all = Folder("d").entries(recursively: true, on: time).sink {
        completion = $0
      } receiveValue: {
        paths.append($0.path)
        // The folder that was delivered is read afterwards.
        time.files["d/a"] = nil
        time.files["d/a"] = "x"
      }
      time.run()
      all.cancel()
      #expect(paths == ["d/a"])
      #expect(completion == .finished)
    }
  }

  @Test func `a stream that outlives its virtual time is cancelled without a trap`() async {
    await #expect(processExitsWith: .success) {
      let text = PassthroughSubject<Chunk, Never>()
      var writing: AnyCancellable?
      withVirtualTime { time in
        writing = text.write(to: File("f"), .atomically, on: time).sink { _ in
        } receiveValue: { _ in
        }
        text.send("x")
        time.run()
      }
      writing?.cancel()
    }
  }

  @Test func `a renamed file that is still written is announced under its new name`() {
    let changes = changes { time in
      let text = PassthroughSubject<Chunk, Never>()
      let writing = text.write(to: File("d/a"), .appending, on: time).sink { _ in
      } receiveValue: { _ in
      }
      text.send("1")
      time.advance(by: .seconds(1))
      time.files.move("d/a", to: "d/a.1")
      time.files["d/a"] = "new"
      time.advance(by: .seconds(1))
      text.send("2")
      time.advance(by: .seconds(1))
      writing.cancel()
      #expect(time.files["d/a.1"] == "12")
    }
    // The new file is announced as well as the first write.
    #expect(changes.filter { $0 == .content("a") }.count == 2 && changes.contains(.content("a.1")))
  }

  @Test func `a write that fails before its first byte changes nothing`() {
    let changes = changes { time in
      time.files.fail(.write, of: "d/a", code: EIO)
      let writing = Just(Chunk("x")).write(to: File("d/a"), .appending, on: time).sink { _ in
      } receiveValue: { _ in
      }
      time.advance(by: .seconds(1))
      writing.cancel()
    }
    #expect(changes == [])
  }

  @Test(arguments: ["f/b", "f/b/c"]) func `nothing can be created or found below a file`(_ path: String) {
    withVirtualTime { time in
      time.files["f"] = "x"
      time.files["other"] = "y"
      var names: [String] = []
      func note(_ completion: Subscribers.Completion<SystemError>) {
        if case .failure(let error) = completion { names.append(error.name) }
      }
      let all = [
        Just(Chunk("y")).write(to: File(path), .creating, on: time).sink {
          if case .failure(let error) = $0 { names.append((error.cause as? SystemError)?.name ?? "") }
        } receiveValue: { _ in
        },
        File(path).bytes(on: time).sink {
          note($0)
        } receiveValue: { _ in
        },
        Folder(path).entries(on: time).sink {
          note($0)
        } receiveValue: { _ in
        },
        Folder(path).changes(on: time).sink {
          note($0)
        } receiveValue: { _ in
        },
      ]
      time.run()
      do throws(SystemError) { try time.files.rename(path, to: "new") } catch { names.append(error.name) }
      #expect(names == Array(repeating: "ENOTDIR", count: 5))
      time.files.move("other", to: path)
      #expect(time.files.paths == ["f", "other"])
      for subscription in all { subscription.cancel() }
    }
  }

  @Test func `a test can't make a file below a file`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      withVirtualTime { time in
        time.files["f"] = "x"
        time.files["f/a"] = "y"
      }
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("VirtualFiles: f/a can't be below the file f; use another path, or remove it first"))
  }
}
