import Foundation
import ImageFeed
import TestSupport
import Testing

@testable import HTTPTestSupport
@testable import feed

/// A feed in RSS with one image per title.
private func blog(_ name: String, _ titles: [String]) -> Data {
  let items = titles.map {
    "<item><guid>\($0)</guid><title>\($0)</title><enclosure url='http://e.example/\($0).jpg' type='image/jpeg'/></item>"
  }
  return Data("<rss version='2.0'><channel><title>\(name)</title>\(items.joined())</channel></rss>".utf8)
}

/// A user's list of subscriptions: its location, and the commands that change it.
@Suite(.settled) struct SubscriptionsCommandTests {
  /// A user's folders, and a server with a feed `Comics` of two images at every path except those of `pages`.
  private struct User {
    let folder: URL
    let base: String
    var list: String { folder.appendingPathComponent("config/feedstream/subscriptions.opml").path }

    func feed(_ arguments: String...) async throws -> FeedBinary.Ending {
      try await FeedBinary.run(arguments, environment: environment)
    }

    var environment: [String: String] {
      [
        "XDG_CONFIG_HOME": folder.appendingPathComponent("config").path,
        "XDG_CACHE_HOME": folder.appendingPathComponent("cache").path,
      ]
    }
  }

  private func withUser(
    pages: [String: String] = [:], isolation: isolated (any Actor)? = #isolation, _ body: (User) async throws -> Void
  ) async throws {
    let origin = RawOrigin.answering { request in
      if request.path == "/missing" { return RawOrigin.answer("404 Not Found") }
      if request.path == "/old" { return RawOrigin.answer("301 Moved Permanently", ["Location: /feed"]) }
      if request.path == "/long" {
        return RawOrigin.answer("200 OK", [], blog(String(repeating: "x", count: 70_000), ["c1"]))
      }
      if let page = pages[request.path] {
        return RawOrigin.answer("200 OK", ["Content-Type: text/html"], Data(page.utf8))
      }
      return RawOrigin.answer("200 OK", [], blog("Comics", ["c1", "c2"]))
    }
    defer { origin.stop() }
    try await withFolder { folder in
      try await body(User(folder: folder, base: origin.url("").absoluteString))
    }
  }

  private static func page(_ links: [(href: String, title: String)]) -> String {
    let links = links.map { "<link rel=alternate type='application/rss+xml' href='\($0.href)' title='\($0.title)'>" }
    return "<!doctype html><html><head>\(links.joined())</head><body>Home</body></html>"
  }

  @Test func `add loads the feed, prints its title and images, and saves it in the configuration`() async throws {
    try await withUser { user in
      let added = try await user.feed("subscriptions", "add", user.base + "/feed")
      #expect(added.output == "Added Comics, 2 images: \(user.base)/feed\n" && added.errors == "" && added.status == 0)
      #expect(FileManager.default.fileExists(atPath: user.list))
      #expect(try await user.feed("subscriptions").output == "1. \(user.base)/feed  Comics\n")
      // The feed was saved, so that it can be shown immediately.
      #expect(try await user.feed("load", "--offline").output.contains("1. c1"))
    }
  }

  @Test func `add follows a page to its feed and skips the feed of comments`() async throws {
    let page = Self.page([("/feed/", "Blog » Feed"), ("/comments/feed/", "Blog » Comments Feed")])
    try await withUser(pages: ["/": page]) { user in
      let added = try await user.feed("subscriptions", "add", user.base + "/")
      #expect(added.output == "Added Comics, 2 images: \(user.base)/feed/\n")
      #expect(added.errors == "\(user.base)/ is a web page; its feed is \(user.base)/feed/\n")
      #expect(try await user.feed("load", user.base + "/").output.contains("1. c1"))
    }
  }

  @Test func `add refuses a page with several feeds and explains how to choose`() async throws {
    try await withUser(pages: ["/": Self.page([("/news", "News"), ("/art", "Art")])]) { user in
      let refused = try await user.feed("subscriptions", "add", user.base + "/")
      #expect(refused.status == 1 && refused.output == "")
      #expect(refused.errors.contains("feed: not added:") && refused.errors.contains("links to 2 feeds"))
      #expect(refused.errors.contains("hint: choose one:\n  feed subscriptions add \(user.base)/news\n"))
      // The commands have the same settings.
      let list = user.folder.path + "/my list.opml"
      let other = try await user.feed(
        "subscriptions", "add", user.base + "/", "--opml", list, "--folder", "Art", "--folder", "New", "--every", "1h")
      let command = "feed subscriptions add --opml '\(list)' --folder Art --folder New --every 1h"
      #expect(other.errors.contains("hint: choose one:\n  \(command) \(user.base)/news\n"), "\(other.errors)")
      #expect(!FileManager.default.fileExists(atPath: user.list))
    }
  }

  @Test func `credentials for a page aren't saved for a feed on another host`() async throws {
    let other = RawOrigin.answering { request in
      RawOrigin.answer("200 OK", [], blog(request["Authorization"] == nil ? "open" : "told too much", ["c1"]))
    }
    defer { other.stop() }
    let link = other.url("/feed?a;b&c").absoluteString
    try await withUser(pages: ["/": Self.page([(link, "Feed")]), "/own": Self.page([("/feed", "Feed")])]) { user in
      let added = try await user.feed("subscriptions", "add", user.base + "/", "--user", "me:secret")
      #expect(added.status == 0 && added.output == "Added open, 1 image: \(link)\n")
      #expect(added.errors.contains("Warning: \(link) has another scheme, host or port than \(user.base)/"))
      #expect(
        added.errors.contains(
          "hint: if they are for the feed, too, run \"feed subscriptions add '\(link)' --user name:password\"\n"))
      #expect(try !String(contentsOfFile: user.list, encoding: .utf8).contains("me:secret"))
      #expect(try await !user.feed("load", "--refresh", "--format", "json").output.contains("told too much"))
      // They are saved for a feed on the page's own server.
      let own = try await user.feed("subscriptions", "add", user.base + "/own", "--header", "X-Key: k")
      #expect(own.status == 0 && !own.errors.contains("Warning"))
      #expect(try String(contentsOfFile: user.list, encoding: .utf8).contains("X-Key: k"))
    }
  }

  @Test func `add saves a feed that redirects with the ids that later loads find`() async throws {
    try await withUser { user in
      let old = user.base + "/old"
      #expect(try await user.feed("subscriptions", "add", old).status == 0)
      func ids(_ words: String...) async throws -> [Substring] {
        let run = try await FeedBinary.run(
          ["load", old, "--format", "json"] + words, environment: user.environment)
        return run.output.matches(of: #/"id":"([^"]+)"/#).map(\.output.1)
      }
      let added = try await ids("--offline")
      #expect(added.count == 2)
      #expect(try await added == ids("--refresh", "--cache", user.folder.path + "/other.db"))
    }
  }

  @Test func `a feed's title of any length is shortened, and a list with an own title that is too long isn't written`()
    async throws
  {
    try await withUser { user in
      #expect(try await user.feed("subscriptions", "add", user.base + "/long").status == 0)
      let list = try await user.feed("subscriptions")
      #expect(list.status == 0 && list.output == "1. \(user.base)/long  \(String(repeating: "x", count: 200))\n")
      let long = String(repeating: "y", count: 70_000)
      let refused = try await user.feed("subscriptions", "rename", "1", long)
      #expect(refused.status == 1 && refused.output == "")
      #expect(refused.errors.contains("was not changed, because the new list could not be read again. The new list"))
      #expect(!refused.errors.contains("This is the outline"))
      #expect(try await user.feed("subscriptions").output == list.output)
    }
  }

  @Test func `add refuses an invisible title, and one title for several feeds`() async throws {
    try await withUser { user in
      let add = ["subscriptions", "add", user.base + "/long"]
      for wrong in [["--title", ""], ["--title", " "], [user.base + "/other", "--title", "A"]] {
        let command = add + wrong
        #expect(throws: (any Error).self, "\(wrong)") { try FeedCommand.parseAsRoot(command) }
      }
      #expect(throws: Never.self) { try FeedCommand.parseAsRoot(add + ["--title", "A"]) }
    }
  }

  @Test func `a URL refers to the entry that is written the same, or to one with the same request`() throws {
    let (loud, plain) = ("HTTP://E.example/x", "http://e.example/x")
    let feeds = try [loud, plain].map { SubscribedFeed(address: try #require(URL(string: $0))) }
    #expect(try FeedReference.find(loud, in: feeds) == feeds[0] && FeedReference.find(plain, in: feeds) == feeds[1])
    #expect(try FeedReference.find(plain, in: [feeds[0]]) == feeds[0])
    #expect(try FeedReference.find(loud + "#top", in: [feeds[1]]) == feeds[1])
    #expect(try FeedReference.find("http://e.example/X", in: feeds) == nil)
  }

  @Test func `add changes the entry of a feed that a page links to with another case`() async throws {
    try await withUser { user in
      let loud = (user.base + "/feed").replacing("http://", with: "HTTP://")
      let page = Self.page([(loud, "Feed")])
      try await withUser(pages: ["/": page]) { other in
        let added = try await other.feed("subscriptions", "add", other.base + "/")
        #expect(added.output == "Added Comics, 2 images: \(user.base)/feed\n", "\(added.errors)")
        let again = try await other.feed("subscriptions", "add", other.base + "/")
        #expect(again.output == "\(user.base)/feed is already in the list\n")
      }
    }
  }

  @Test func `a number that no feed can have refers to no feed`() throws {
    let feed = SubscribedFeed(address: try #require(URL(string: "http://e.example/")))
    for text in ["\(Int.min)", "\(Int.max)", "0", "2"] {
      #expect(try FeedReference.find(text, in: []) == nil && FeedReference.find(text, in: [feed]) == nil)
    }
  }

  @Test func `a list that is cut off isn't changed, and commands that read it say so`() async throws {
    try await withUser { user in
      let cut = user.folder.appendingPathComponent("cut.opml").path
      try Data("<opml><body><outline text='A' xmlUrl='http://e.example/'/><outline te".utf8)
        .write(to: URL(fileURLWithPath: cut))
      let refused = try await user.feed("subscriptions", "rename", "1", "B", "--opml", cut)
      #expect(refused.status == 1 && refused.errors.contains("\(cut) is cut off, so it was not changed."))
      let listed = try await user.feed("subscriptions", "--opml", cut)
      #expect(listed.output == "1. http://e.example/  A\n" && listed.status == 0)
      #expect(listed.errors == "\(cut) is cut off; feeds may be missing\n")
      let exported = try await user.feed("subscriptions", "export", "--opml", cut)
      #expect(exported.output.contains("http://e.example/"))
      #expect(exported.errors == "\(cut) is cut off; feeds may be missing\n")
    }
  }

  @Test func `an export says that it contains passwords, and that it leaves out other credentials`() async throws {
    try await withUser { user in
      let list = user.folder.appendingPathComponent("secrets.opml").path
      func export(_ outline: String) async throws -> FeedBinary.Ending {
        try Data("<opml version='2.0'><body><outline text='A' \(outline)/></body></opml>".utf8)
          .write(to: URL(fileURLWithPath: list))
        return try await user.feed("subscriptions", "export", "--opml", list)
      }
      let inURL = try await export("xmlUrl='http://ann:secret@e.example/'")
      #expect(inURL.errors == "The export contains the user names and passwords in URLs\n")
      #expect(inURL.output.contains("http://ann:secret@e.example/"))
      let inAttribute = try await export("xmlUrl='http://e.example/' feed:user='ann:secret'")
      #expect(inAttribute.errors == "The export leaves out the list's header fields and credentials\n")
      #expect(!inAttribute.output.contains("secret"))
      #expect(try await export("xmlUrl='http://e.example/'").errors == "")
    }
  }

  @Test func `add at a terminal prompts for one of several feeds`() throws {
    let urls = try ["http://e.example/1", "http://e.example/2", "http://e.example/3"].map {
      try #require(URL(string: $0))
    }
    #expect(FeedFinder.chosen("2", of: urls) == [urls[1]])
    #expect(FeedFinder.chosen("1, 3", of: urls) == [urls[0], urls[2]])
    #expect(FeedFinder.chosen("all", of: urls) == urls)
    for wrong in ["", "4", "0", "x", "1 x", "\(Int.min)"] { #expect(FeedFinder.chosen(wrong, of: urls) == []) }
  }

  @Test func `add refuses a URL that isn't a feed, except with --force`() async throws {
    try await withUser { user in
      let refused = try await user.feed("subscriptions", "add", user.base + "/missing")
      #expect(refused.status == 1 && refused.output == "")
      #expect(refused.errors.contains("status 404") && refused.errors.contains("hint: use --force to add it anyway"))
      let forced = try await user.feed("subscriptions", "add", user.base + "/missing", "--force")
      #expect(forced.status == 0 && forced.output == "Added \(user.base)/missing\n")
    }
  }

  @Test func `adding a known feed with another folder moves it, and commands select feeds by folder`() async throws {
    try await withUser { user in
      _ = try await user.feed("subscriptions", "add", user.base + "/a", user.base + "/b", "--folder", "Fun")
      let moved = try await user.feed("subscriptions", "add", user.base + "/a", "--folder", "Space")
      #expect(moved.output == "Changed \(user.base)/a; its folder is Space\n")
      let again = try await user.feed("subscriptions", "add", user.base + "/a", "--folder", "Space")
      #expect(again.output == "\(user.base)/a is already in the list\n")
      #expect(
        try await user.feed("subscriptions").output
          == "1. \(user.base)/b  Comics  [Fun]\n2. \(user.base)/a  Comics  [Space]\n")
      let loaded = try await user.feed("load", "--folder", "space")
      #expect(loaded.output.hasPrefix("2 images from 1 feed\n"))
      let none = try await user.feed("load", "--folder", "Sea")
      #expect(none.status == 64 && none.errors.contains("The folders are: Fun, Space."))
    }
  }

  @Test func `rename, move and remove take a URL, a title or a number`() async throws {
    try await withUser { user in
      for name in ["a", "b", "c"] {
        _ = try await user.feed("subscriptions", "add", user.base + "/" + name, "--title", name.uppercased())
      }
      #expect(try await user.feed("subscriptions", "rename", "2", "Best").output == "Renamed to Best\n")
      let moved = try await user.feed(
        "subscriptions", "move", "best", user.base + "/c", "--folder", "X", "--folder", "Y")
      #expect(moved.output == "Moved Best to X / Y\nMoved C to X / Y\n")
      #expect(
        try await user.feed("subscriptions").output
          == "1. \(user.base)/a  A\n2. \(user.base)/b  Best  [X / Y]\n3. \(user.base)/c  C  [X / Y]\n")
      let again = try await user.feed("subscriptions", "move", "best", "1", "--folder", "X", "--folder", "Y")
      #expect(again.output == "Best is already in X / Y\nMoved A to X / Y, now number 3\n" && again.status == 0)
      #expect(try await user.feed("subscriptions", "move", "a").output == "Moved A out of all folders\n")
      #expect(try await user.feed("subscriptions", "move", "a").output == "A isn't in a folder\n")
      let removed = try await user.feed("subscriptions", "remove", "A", "C", "nothing")
      #expect(removed.output == "Removed \(user.base)/a\nRemoved \(user.base)/c\n")
      #expect(removed.status == 1 && removed.errors == "feed: nothing is not in the list\n")
      #expect(try await user.feed("subscriptions", "move", "1").output == "Moved Best out of all folders\n")
      #expect(try await user.feed("subscriptions").output == "1. \(user.base)/b  Best\n")
    }
  }

  @Test func `import takes a file with one URL per line, and export needs --force to replace a file`() async throws {
    try await withUser { user in
      let lines = user.folder.appendingPathComponent("urls").path
      try Data("# mine\nhttp://e.example/1 \"tag\"\n\nftp://e.example/2\nhttps://e.example/3\r\n".utf8)
        .write(to: URL(fileURLWithPath: lines))
      let imported = try await user.feed("subscriptions", "import", lines)
      #expect(imported.output == "Added 2 of 2 feeds\n")
      #expect(imported.errors == "1 entry has no http or https URL and was skipped: ftp://e.example/2\n")
      let refused = try await user.feed("subscriptions", "export", lines)
      #expect(refused.status == 64 && refused.errors.contains("use --force to replace it"))
      #expect(try String(contentsOfFile: lines, encoding: .utf8).hasPrefix("# mine"))
      let exported = try await user.feed("subscriptions", "export", lines, "--force")
      #expect(exported.status == 0 && exported.output == "Exported 2 feeds to \(lines)\n")
      #expect(try String(contentsOfFile: lines, encoding: .utf8).contains("xmlUrl=\"https://e.example/3\""))
    }
  }

  @Test func `import names the entries that it skips, up to twenty, without passwords`() async throws {
    try await withFolder { folder in
      let (file, list) = (folder.appending(path: "urls").path, folder.appending(path: "list.opml").path)
      let lines = ["http://e.example/", "ftp://me:secret@e.example/"] + (1...21).map { "gopher:\($0)" }
      try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
      let run = try await FeedBinary.run(["subscriptions", "import", file, "--opml", list])
      #expect(run.output == "Added 1 of 1 feed\n")
      #expect(run.errors.hasPrefix("22 entries have no http or https URL and were skipped: ftp://me:…@e.example/, "))
      #expect(run.errors.hasSuffix("gopher:19, and 2 more\n") && !run.errors.contains("secret"), "\(run.errors)")
    }
  }

  @Test func `a feed is added once, whatever the case of its scheme and host, and without a fragment`() async throws {
    try await withUser { user in
      let feed = user.base + "/Feed"
      let loud = feed.replacing("http://", with: "HTTP://") + "#top"
      #expect(try await user.feed("subscriptions", "add", loud).output == "Added Comics, 2 images: \(feed)\n")
      #expect(try await user.feed("subscriptions", "add", feed).output == "\(feed) is already in the list\n")
      #expect(try await user.feed("subscriptions").output == "1. \(feed)  Comics\n")
      #expect(try await user.feed("subscriptions", "remove", loud).status == 0)
      for (text, requested) in [
        ("HTTPS://Me:Secret@E.example:80/A?B#C", "https://Me:Secret@e.example:80/A?B"), ("http://E", "http://e"),
        ("http://[::A]/", "http://[::a]/"), ("http://e.example/?A@B", "http://e.example/?A@B"),
      ] {
        let url = try #require(URL(string: text))
        #expect(FeedAddress.requested(url).absoluteString == requested)
      }
    }
  }

  @Test func `control characters in a new title are left out, in the list and in the message`() async throws {
    try await withUser { user in
      let added = try await user.feed("subscriptions", "add", user.base + "/feed", "--title", "a\u{1B}[31mb")
      #expect(added.output == "Added a[31mb, 2 images: \(user.base)/feed\n")
      #expect(try await user.feed("subscriptions", "rename", "1", "c\u{1B}[31md").output == "Renamed to c[31md\n")
      #expect(try await user.feed("subscriptions").output == "1. \(user.base)/feed  c[31md\n")
    }
  }

  @Test(arguments: [
    "http://e.example/1\nhttp://e.example/2\n",
    "<opml><body><outline xmlUrl='http://e.example/1'/><outline xmlUrl='http://e.example/2'/></body></opml>",
  ]) func `import reads a named pipe, once`(_ text: String) async throws {
    try await withFolder { folder in
      let (pipe, list) = (folder.appending(path: "pipe").path, folder.appending(path: "list.opml").path)
      let run = try await FeedBinary.shell(
        """
        mkfifo \(pipe)
        printf %s "\(text)" >\(pipe) &
        "$FEED" subscriptions import \(pipe) --opml \(list)
        """)
      #expect(run.output == "Added 2 of 2 feeds\n" && run.status == 0, "\(run.errors)")
    }
  }

  @Test func `import rejects a web page, even if a line of it is a URL`() async throws {
    try await withFolder { folder in
      let (page, list) = (folder.appending(path: "page").path, folder.appending(path: "list").path)
      try "<p>\nhttp://a.example/\n</p>\n".write(toFile: page, atomically: true, encoding: .utf8)
      for place in [page, "- <\(page)"] {
        let run = try await FeedBinary.shell("exec \"$FEED\" subscriptions import --opml \(list) \(place)")
        #expect(run.status != 0 && run.output.isEmpty && !FileManager.default.fileExists(atPath: list), "\(run.errors)")
      }
    }
  }

  @Test(arguments: [
    "<rss version='2.0'><channel><item><title>B</title><description>\nhttp://a.example/\n</description></item>"
      + "</channel></rss>",
    "<html><body>\nhttp://a.example/\n</body></html>",
  ])
  func `import rejects a feed or a web page after a line of text, even if a line of it is a URL`(_ content: String)
    async throws
  {
    try await withFolder { folder in
      let (file, list) = (folder.appending(path: "file").path, folder.appending(path: "list").path)
      try "A warning\n\(content)".write(toFile: file, atomically: true, encoding: .utf8)
      for place in [file, "- <\(file)"] {
        let run = try await FeedBinary.shell("exec \"$FEED\" subscriptions import --opml \(list) \(place)")
        #expect(run.status == 64 && run.errors.contains("not a list of"), "\(run.errors)")
        #expect(run.output.isEmpty && !FileManager.default.fileExists(atPath: list))
      }
    }
  }

  @Test func `import adds 20,000 URLs in seconds, and move needs a folder with a name`() async throws {
    try await withUser { user in
      let lines = user.folder.appendingPathComponent("urls").path
      let urls = (0..<20_000).map { "http://e.example/\($0 % 19_999)\n" }.joined()
      try Data(urls.utf8).write(to: URL(fileURLWithPath: lines))
      #expect(try await user.feed("subscriptions", "import", lines).output == "Added 19999 of 19999 feeds\n")
      let again = try await user.feed("subscriptions", "import", lines)
      #expect(again.output == "Added 0 of 19999 feeds; the others were already in the list\n")
      for name in ["", "\u{1}", "\u{200B}"] {
        let refused = try await user.feed("subscriptions", "move", "1", "--folder", name)
        #expect(refused.status == 64 && refused.errors.contains("A folder's name needs at least one visible character"))
      }
    }
  }

  @Test func `an earlier version's list is moved out of the cache folder, and reported once`() async throws {
    try await withUser { user in
      let old = user.folder.appendingPathComponent("cache/feedstream/feeds.opml")
      try FileManager.default.createDirectory(at: old.deletingLastPathComponent(), withIntermediateDirectories: true)
      let list = Data("<opml><body><outline text='T' xmlUrl='http://e.example/1' other='kept'/></body></opml>".utf8)
      try list.write(to: old)
      let first = try await user.feed("subscriptions")
      #expect(first.output == "1. http://e.example/1  T\n")
      #expect(first.errors == "The subscriptions were moved from \(old.path) to \(user.list)\n")
      #expect(!FileManager.default.fileExists(atPath: old.path))
      #expect(FileManager.default.contents(atPath: user.list) == list)
      #expect(try await user.feed("subscriptions").errors == "")
    }
  }

  @Test(.timeLimit(.minutes(5))) func `a running watch shows a feed added later, and drops a removed one`() async throws
  {
    try await withUser { user in
      _ = try await user.feed("subscriptions", "add", user.base + "/a", "--title", "First")
      let run = try RunningFeed(["watch", "--every", "50ms", "--format", "json"], environment: user.environment)
      #expect(try #require(await run.output.line()).contains("First"))
      _ = try await user.feed("subscriptions", "add", user.base + "/b", "--title", "Second")
      #expect(try #require(await run.output.line()).contains("Second"))
      _ = try await user.feed("subscriptions", "remove", "First")
      _ = await run.errors.read(upTo: "now has 1 feed")
      run.send(SIGTERM)
      #expect(await run.status() == 143)
    }
  }

  @Test(.timeLimit(.minutes(5))) func `a truncated list changes nothing while watch runs`() async throws {
    try await withUser { user in
      _ = try await user.feed("subscriptions", "add", user.base + "/a", "--title", "First")
      _ = try await user.feed("subscriptions", "add", user.base + "/b", "--title", "Second")
      let run = try RunningFeed(["watch", "--every", "50ms", "--format", "json"], environment: user.environment)
      _ = try #require(await run.output.line())
      let whole = try #require(FileManager.default.contents(atPath: user.list))
      let second = try #require(whole.range(of: Data("/b".utf8)))
      try whole.prefix(upTo: second.lowerBound).write(to: URL(filePath: user.list), options: .atomic)
      // Either message may appear: that the list is cut off, or that only the first feed is left.
      var said = ""
      while !said.contains("is cut off"), !said.contains("now has"), let line = await run.errors.line() { said += line }
      #expect(said.contains("is cut off; the previous feeds stay in use."), "\(said)")
      run.send(SIGTERM)
      #expect(await run.status() == 143)
    }
  }

  @Test(.timeLimit(.minutes(5))) func `a running serve shows a feed added later, and continues after SIGHUP`()
    async throws
  {
    try await withUser { user in
      _ = try await user.feed("subscriptions", "add", user.base + "/a", "--title", "First")
      let run = try RunningFeed(["serve", "--port", "0"], environment: user.environment)
      let port = try port(of: try #require(await run.output.line()))
      while try await !get(port, "/").contains("First") { try await Task.sleep(for: .milliseconds(20)) }
      run.send(SIGHUP)
      _ = try await user.feed("subscriptions", "add", user.base + "/b", "--title", "Second")
      _ = await run.errors.read(upTo: "now has 2 feeds")
      while try await !get(port, "/").contains("Second") { try await Task.sleep(for: .milliseconds(20)) }
      run.send(SIGTERM)
      #expect(await run.status() == 143)
    }
  }
}
