import Foundation
import TestSupport
import Testing

@testable import feed

/// The list's file: a mistake on the command line loses neither the list nor a backup.
@Suite(.settled) struct SubscriptionsFileTests {
  private static let list =
    "<opml><body><outline text='Fun'><outline text='A' xmlUrl='http://a.example/'/></outline></body></opml>"

  /// Runs `feed subscriptions` with a list and a backup of it.
  private func withList(
    _ list: String = SubscriptionsFileTests.list, isolation: isolated (any Actor)? = #isolation,
    _ body: (_ list: String, _ backup: String) async throws -> Void
  ) async throws {
    try await withFolder { folder in
      let (file, backup) = (folder.appending(path: "list.opml"), folder.appending(path: "backup.opml"))
      try Data(list.utf8).write(to: file)
      try Data(Self.list.utf8).write(to: backup)
      try await body(file.path, backup.path)
    }
  }

  private func feed(_ arguments: String..., environment: [String: String] = [:]) async throws -> FeedBinary.Ending {
    try await FeedBinary.run(["subscriptions"] + arguments, environment: environment)
  }

  private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  @Test func `an export of a list that doesn't exist leaves the existing file as it is`() async throws {
    try await withList { list, backup in
      let missing = try await feed("export", backup, "--force", "--opml", list + ".no")
      #expect(missing.status == 64 && missing.errors.hasPrefix("feed: There is no file \(list).no.\n"))
      let folder = list + ".folder"
      let none = try await feed("export", backup, "--force", environment: ["XDG_CONFIG_HOME": folder])
      #expect(none.status == 1 && none.output == "")
      #expect(none.errors == "feed: there are no subscriptions in \(folder)/feedstream/subscriptions.opml\n")
      #expect(try text(backup) == Self.list)
    }
  }

  @Test func `an export of a list that is cut off replaces no file`() async throws {
    try await withList("<opml><body><outline text='B' xmlUrl='http://b.example/'/><outline te") { list, backup in
      let refused = try await feed("export", backup, "--force", "--opml", list)
      #expect(refused.status == 64 && refused.errors.contains("export a list that is cut off to a new file."))
      #expect(try text(backup) == Self.list)
      #expect(try await feed("export", backup + ".new", "--opml", list).status == 0)
      #expect(try text(backup + ".new").contains("http://b.example/"))
    }
  }

  @Test func `an export to the list's own file, even through a link, leaves it as it is`() async throws {
    try await withList { list, backup in
      let link = backup + ".link"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: list)
      for place in [list, link] {
        let refused = try await feed("export", place, "--force", "--opml", list)
        #expect(refused.status == 64 && refused.errors.hasPrefix("feed: \(place) is the list itself; export it to a "))
        #expect(try text(list) == Self.list)
      }
    }
  }

  @Test func `an export to a folder, or into one that doesn't exist, is refused and creates nothing`() async throws {
    try await withList { list, _ in
      let folder = (list as NSString).deletingLastPathComponent
      let before = try FileManager.default.contentsOfDirectory(atPath: folder)
      for force in [[], ["--force"]] {
        let refused = try await FeedBinary.run(["subscriptions", "export", folder, "--opml", list] + force)
        #expect(refused.status == 64)
        #expect(refused.errors.hasPrefix("feed: \(folder) is a folder; add the name of a file."), "\(refused.errors)")
      }
      let missing = try await feed("export", "\(folder)/none/e.opml", "--opml", list)
      #expect(missing.status == 64 && missing.errors.hasPrefix("feed: There is no folder \(folder)/none."))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == before)
    }
  }

  @Test func `if the user's own list isn't OPML, a hint says what to do`() async throws {
    try await withFolder { folder in
      let list = folder.appending(path: "feedstream/subscriptions.opml")
      try FileManager.default.createDirectory(at: list.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("words".utf8).write(to: list)
      for command in [["load"], ["subscriptions"]] {
        let run = try await FeedBinary.run(command, environment: ["XDG_CONFIG_HOME": folder.path])
        #expect(run.status == 1 && run.errors.contains("\(list.path) is not a list of subscriptions (OPML)."))
        #expect(run.errors.contains("\nhint: restore your list from a copy or, to start a new one, rename or delete"))
      }
    }
  }

  @Test(arguments: [["remove", "1"], ["move", "1"], ["rename", "1", "B"]])
  func `a change of a list that doesn't exist creates neither the list nor its folder`(words: [String]) async throws {
    try await withList { list, _ in
      let folder = list + ".folder"
      let missing = try await FeedBinary.run(["subscriptions"] + words + ["--opml", folder + "/list"])
      #expect(missing.status == 64 && missing.errors.hasPrefix("feed: There is no file \(folder)/list.\n"))
      let none = try await FeedBinary.run(["subscriptions"] + words, environment: ["XDG_CONFIG_HOME": folder])
      #expect(none.status == 1)
      #expect(none.errors == "feed: there are no subscriptions in \(folder)/feedstream/subscriptions.opml\n")
      #expect(!FileManager.default.fileExists(atPath: folder))
    }
  }

  @Test func `export - writes to standard output`() async throws {
    try await withList { list, _ in
      let run = try await FeedBinary.shell(
        "cd $(dirname \(list)) && \"$FEED\" subscriptions export - --opml \(list) && test ! -e ./-")
      #expect(run.status == 0 && run.output.contains("http://a.example/"), "\(run.errors)")
    }
  }

  @Test func `move with a folder but without --folder changes nothing and says --folder`() async throws {
    try await withList { list, _ in
      let refused = try await feed("move", "1", "Comics", "--opml", list)
      #expect(refused.status == 64 && refused.output == "")
      #expect(refused.errors.hasPrefix("feed: Comics is not in the list, so nothing was moved. To move feeds to "))
      #expect(refused.errors.contains("write --folder before its name."))
      #expect(try text(list) == Self.list)
      // With a folder, the other feeds are moved.
      let moved = try await feed("move", "1", "Comics", "--folder", "News", "--opml", list)
      #expect(moved.status == 1 && moved.output == "Moved A to News\n")
    }
  }

  @Test func `move without --folder changes nothing if its last word is a feed and a folder`() async throws {
    let news =
      "<opml><body><outline text='News'><outline text='A' xmlUrl='http://a.example/'/><outline text='News' "
      + "xmlUrl='http://n.example/'/></outline></body></opml>"
    try await withList(news) { list, _ in
      let refused = try await feed("move", "1", "news", "--opml", list)
      #expect(refused.status == 64 && refused.output == "")
      #expect(refused.errors.hasPrefix("feed: news is a feed and a folder, so nothing was moved. "))
      #expect(try text(list) == news)
      // The first word can't be the folder, and neither can a URL.
      #expect(try await feed("move", "News", "http://a.example/", "--opml", list).status == 0)
    }
  }

  @Test(arguments: [
    ("words", " is not a list of subscriptions (OPML)."), ("", " is not a list of subscriptions (OPML)."),
    ("<html><body>Hi</body></html>", " is a web page, not a list of subscriptions (OPML)."),
    (
      "# mine\nhttp://a.example/\n",
      " is not a list of subscriptions (OPML). If it has one URL per line, \"feed subscriptions import "
    ),
    ("words\nhttp://a.example/\n", " is not a list of subscriptions (OPML).\n"),
    (
      "<rss version='2.0'><channel><title>A</title><item><title>B</title></item></channel></rss>",
      " is a feed (RSS 2.0), not a list of feeds (OPML)."
    ),
  ])
  func `a list that isn't OPML is a usage error`(_ content: String, _ message: String) async throws {
    try await withList(content) { list, _ in
      for command in [["load"], ["serve", "--port", "0"], ["subscriptions", "export"]] {
        let run = try await FeedBinary.run(command + ["--opml", list])
        #expect(run.status == 64 && run.errors.hasPrefix("feed: \(list)\(message)"), "\(run.errors)")
      }
    }
  }
}
