import Foundation
import TestSupport
import Testing

@testable import feed

/// Files of other programs: they are refused with status 64, and don't change.
@Suite(.settled) struct ForeignFileTests {
  private static let diary = Data(String(repeating: "Dear diary, no database is in here. ", count: 30).utf8)

  /// The names and contents of a folder and its subfolders.
  private func contents(of folder: URL) throws -> [String: Data?] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    return Dictionary(
      uniqueKeysWithValues: names.map { name in
        (name, FileManager.default.contents(atPath: folder.appendingPathComponent(name).path))
      })
  }

  @Test(arguments: [
    ["load", "http://127.0.0.1:9/"], ["load", "http://127.0.0.1:9/", "--width", "40"], ["cache", "show"],
    ["cache", "clear"], ["cache", "validate"], ["cache", "images", "clear"], ["explain", "http://127.0.0.1:9/"],
    ["watch", "http://127.0.0.1:9/", "--every", "1s", "--count", "1"], ["serve", "http://127.0.0.1:9/", "--port", "0"],
    ["get", "http://127.0.0.1:9/"], ["subscriptions", "add", "http://127.0.0.1:9/"],
  ]) func `commands refuse a file that isn't a cache, and leave it unchanged`(command: [String]) async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("important.txt")
      try Self.diary.write(to: file)
      let before = try contents(of: folder)
      let run = try await FeedBinary.run(command + ["--cache", file.path])
      #expect(run.status == 64 && run.output == "")
      #expect(run.errors.contains("\(file.path) isn't a cache that this program wrote, so it was left unchanged."))
      #expect(try contents(of: folder) == before)
    }
  }

  @Test(arguments: [
    ["load", "http://127.0.0.1:9/", "--cache", "<folder>"], ["cache", "show", "--cache", "<folder>"],
    ["load", "http://127.0.0.1:9/", "--width", "40", "--cache", "<folder>"],
    ["store", "copy", "<folder>", "redis://127.0.0.1:9"],
  ])
  func `commands refuse a folder as the cache file`(command: [String]) async throws {
    try await withFolder { folder in
      let run = try await FeedBinary.run(command.map { $0 == "<folder>" ? folder.path : $0 })
      #expect(run.status == 64 && run.errors.contains("\(folder.path) is a folder. Choose a file."), "\(run.errors)")
    }
  }

  @Test func `commands refuse another program's folder of images`() async throws {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      let folder = URL(fileURLWithPath: cache).deletingLastPathComponent()
      let image = folder.appendingPathComponent("images/holiday.jpg")
      try FileManager.default.createDirectory(at: image.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Self.diary.write(to: image)
      let before = try contents(of: folder)
      for command in [
        ["load", url, "--images", "always"], ["cache", "images", "clear"], ["serve", url, "--port", "0"],
      ] {
        let run = try await FeedBinary.run(command + ["--cache", cache])
        #expect(run.status == 64 && run.errors.contains("contains files from other programs"))
        #expect(try contents(of: folder) == before)
      }
      // Output without images needs no image folder.
      #expect(try await FeedBinary.run(["load", url, "--cache", cache]).status == 0)
    }
  }

  @Test func `serve refuses another program's key file`() async throws {
    try await withFolder { folder in
      let key = folder.appendingPathComponent("feeds.serve-key")
      try Self.diary.write(to: key)
      let run = try await FeedBinary.run([
        "serve", "http://127.0.0.1:9/", "--port", "0", "--cache", folder.appendingPathComponent("feeds.db").path,
      ])
      #expect(run.status == 64 && run.errors.contains("isn't a key that this program wrote"))
      #expect(try contents(of: folder) == ["feeds.serve-key": Self.diary])
    }
  }
}
