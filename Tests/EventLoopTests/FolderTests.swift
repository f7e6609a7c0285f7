import Foundation
import TestSupport
import Testing

@testable import FeedStream

@Suite(.settled, .timeLimit(.minutes(5))) struct FolderTests {
  private let loop = EventLoop()
  private let folder = TemporaryFolder()

  private func make(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: folder(path), withIntermediateDirectories: true)
  }

  /// The number of this process's descriptors for the folder and its contents.
  private var openFolders: Int {
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return numbers.count {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasPrefix(folder.path)
        == true
    }
  }

  @Test func `a folder delivers its entries with their kinds`() throws {
    folder.write("", to: "file")
    try make("below/deep")
    try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "below")
    #expect(mkfifo(folder("pipe"), 0o600) == 0)
    let outcome = Outcome(Folder(folder.path).entries(on: loop))
    loop.run()
    let kinds = Dictionary(uniqueKeysWithValues: outcome.values.map { ($0.name, $0.kind) })
    #expect(kinds == ["file": .file, "below": .folder, "link": .link, "pipe": .other])
    #expect(outcome.isFinished)
  }

  @Test func `a name that isn't UTF-8 is repaired, and an unreadable subfolder isn't skipped silently`() throws {
    folder.write("", to: "file")
    let name = (Array("\(folder.path)/b".utf8) + [0xFC, 0]).map { CChar(bitPattern: $0) }
    #expect(mkdir(name, 0o700) == 0)
    let flat = Outcome(Folder(folder.path).entries(on: loop))
    let deep = Outcome(Folder(folder.path).entries(recursively: true, on: loop))
    let patient = Outcome(Folder(folder.path).entries(recursively: true, skipsUnreadable: true, on: loop))
    loop.run()
    #expect(Set(flat.values.map(\.name)) == ["file", "b\u{FFFD}"] && flat.isFinished)
    #expect(flat.values.filter { !$0.isExact }.map(\.name) == ["b\u{FFFD}"])
    #expect(deep.values.count == 2 && deep.error?.name == "EILSEQ")
    #expect(patient.values.count == 2 && patient.isFinished)
    #expect(rmdir(name) == 0)
  }

  @Test func `recursively, a folder is delivered before its contents, and symbolic links aren't followed`() throws {
    try make("a/b/c")
    folder.write("", to: "a/b/c/file")
    try FileManager.default.createSymbolicLink(atPath: folder("a/b/again"), withDestinationPath: "../..")
    let outcome = Outcome(Folder(folder.path).entries(recursively: true, on: loop))
    loop.run()
    let paths = outcome.values.map { String($0.path.dropFirst(folder.path.count + 1)) }
    #expect(Set(paths) == ["a", "a/b", "a/b/c", "a/b/c/file", "a/b/again"])
    let places = ["a", "a/b", "a/b/c", "a/b/c/file"].map { paths.firstIndex(of: $0)! }
    #expect(places == places.sorted())
  }

  @Test func `a folder is read only as entries are requested, with one folder open at a time`() throws {
    for index in 0..<200 { try make("\(index)") }
    let puller = Puller(Folder(folder.path).entries(recursively: true, on: loop))
    loop.run()
    #expect(puller.values.isEmpty)
    puller.request(100)
    loop.run()
    #expect(puller.values.count == 100)
    #expect(openFolders == 1)
    puller.request(1_000)
    loop.run()
    #expect(puller.values.count == 200)
    #expect(openFolders == 0)
  }

  @Test func `reading an unreadable folder fails with an error that names it`() throws {
    for path in [folder("none"), folder("file"), folder("a\0b")] {
      folder.write("", to: "file")
      let outcome = Outcome(Folder(path).entries(on: loop))
      loop.run()
      #expect(outcome.error?.subject == path)
    }
  }

  @Test func `changes(on:) delivers the names of changed entries`() throws {
    let outcome = Outcome(Folder(folder.path).changes(on: loop))
    loop.run(for: .milliseconds(50))
    folder.write("1", to: "new")
    loop.run { outcome.values.contains(.entry("new")) }
    folder.append("2", to: "new")
    loop.run { outcome.values.contains(.content("new")) }
    try FileManager.default.moveItem(atPath: folder("new"), toPath: folder("old"))
    loop.run { outcome.values.contains(.entry("old")) }
    #expect(outcome.values.contains(.entry("new")))
    #expect(outcome.values.contains(.content("new")))
    #expect(outcome.values.contains(.entry("old")))
    #expect(!outcome.values.contains(.unknown))
    outcome.cancel()
    loop.run()
  }

  @Test func `changes to entries whose names have the same characters but different bytes aren't equal`() {
    #expect(FolderChange.entry("\u{E9}") != .entry("e\u{301}"))
    #expect(FolderChange.content("\u{E9}") != .content("e\u{301}"))
    #expect(Set([FolderChange.entry("a"), .entry("a"), .content("a"), .unknown, .unknown]).count == 3)
  }

  @Test func `the error for too many watched folders names the limit instead of a full disk`() {
    let message = "\(FolderWatch.failure(of: "photos", code: -ENOSPC))"
    #expect(message.hasPrefix("cannot watch photos, because the limit fs.inotify.max_user_watches is reached: "))
    #expect(FolderWatch.failure(of: "photos", code: -ENOENT) == SystemError("watch", "photos", code: ENOENT))
  }

  @Test func `unrequested changes are merged per entry, and too many become unknown`() {
    let puller = Puller(Folder(folder.path).changes(on: loop))
    puller.request(1)
    loop.run(for: .milliseconds(50))
    for _ in 0..<10 { for name in ["a", "b"] { folder.write("x", to: name) } }
    loop.run(for: .milliseconds(100))
    #expect(puller.values.count == 1)
    puller.request(100)
    let names = puller.values.compactMap { if case .entry(let name) = $0 { name } else { nil } }
    #expect(Set(names).isSuperset(of: ["a", "b"]))
    #expect(puller.values.count <= 2 * 2 + 2 * 10)
    for index in 0..<1_100 { folder.write("", to: "\(index)") }
    let idle = Puller(Folder(folder.path).changes(on: loop))
    idle.request(1)
    loop.run(for: .milliseconds(50))
    for index in 0..<1_100 { folder.write("x", to: "\(index)") }
    loop.run(for: .milliseconds(200))
    idle.request(2)
    #expect(idle.values.last == .unknown)
    for puller in [puller, idle] { puller.cancel() }
    loop.run()
  }

  @Test(.timeLimit(.minutes(5))) func `the stream of changes ends if the folder vanishes or doesn't exist`() throws {
    try make("below")
    // The system announces it, so this takes much less than an hour.
    let outcome = Outcome(Folder(folder("below")).changes(every: .seconds(3600), on: loop))
    loop.run(for: .milliseconds(50))
    try FileManager.default.removeItem(atPath: folder("below"))
    loop.run { outcome.completion != nil }
    #expect(outcome.error == SystemError("watch", folder("below"), code: ENOENT))

    let none = Outcome(Folder(folder("none")).changes(on: loop))
    #expect(none.completion == nil)
    loop.run()
    #expect(none.error == SystemError("watch", folder("none"), code: ENOENT))

    let cut = Outcome(Folder(folder.path + "\0x").changes(on: loop))
    loop.run()
    #expect(cut.error == SystemError("watch", folder.path + "\0x", code: EINVAL))
  }

  @Test func `a folder that was removed and made again is watched again, or fails the stream`() throws {
    try make("below")
    let outcome = Outcome(Folder(folder("below")).changes(every: .seconds(3600), on: loop))
    loop.run(for: .milliseconds(50))
    try FileManager.default.removeItem(atPath: folder("below"))
    // Many file systems give this folder the identity of the one before.
    try make("below")
    folder.write("x", to: "below/a")
    loop.run { outcome.completion != nil || outcome.values.contains(.unknown) }
    loop.run(for: .milliseconds(50))
    outcome.values = []
    folder.append("y", to: "below/a")
    loop.run { outcome.completion != nil || outcome.values.contains(.content("a")) }
    #expect(outcome.error?.name == "ENOENT" || outcome.values.contains(.content("a")))
    outcome.cancel()
    loop.run()
  }

  @Test(arguments: [["a"], ["a", "b"]])
  func `a subfolder isn't read if a link has replaced it or a folder above it`(_ names: [String]) throws {
    try make("top/" + names.joined(separator: "/"))
    try make("outside/b")
    for path in ["outside/secret", "outside/b/secret"] { folder.write("", to: path) }
    let puller = Puller(Folder(folder("top")).entries(recursively: true, on: loop))
    puller.request(names.count)
    loop.run()
    try FileManager.default.removeItem(atPath: folder("top/a"))
    try FileManager.default.createSymbolicLink(
      atPath: folder("top/a"), withDestinationPath: folder("outside"))
    puller.request(10)
    loop.run()
    #expect(puller.values.map(\.name) == names)
    if case .finished? = puller.completion { return }
    Issue.record("\(String(describing: puller.completion))")
  }
}
