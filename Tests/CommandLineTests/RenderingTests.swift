import Foundation
import ImageFeed
import PlainText
import TestSupport
import Testing

@testable import feed

@Suite(.settled) struct FeedTextTests {
  private let text = FeedText(address: sampleURL)

  @Test func `quotes in metrics' labels are escaped, whatever marks follow them`() {
    let label = "a\"\u{301}} 1\n\\".metricLabel
    #expect(label.unicodeScalars.elementsEqual("a\\\"\u{301}} 1\\n\\\\".unicodeScalars))
  }

  @Test func `a remote feed is rendered as a headline and an entry per image`() {
    #expect(
      text.text(of: Feed(images: sampleImages, source: .remote)) == """
        2 images from http://127.0.0.1:8000/feed.json

        1. A "view"
           Über\\all
           https://url-1.com/a
        2. (no description)
           https://url-2.com

        """)
  }

  @Test func `an entry has its title, its date, and the URLs of its post and its image`() throws {
    let image = FeedImage(
      id: UUID(), description: "words", url: sampleImages[1].url, published: Date(timeIntervalSince1970: 1_000_000_000),
      post: .init(title: "A title", link: URL(string: "https://a.example/post")))
    let date = try #require(image.published).dayAndTime
    #expect(
      text.entries(of: [image]) == "1. A title\n   \(date)\n   https://a.example/post\n   https://url-2.com\n")
    let untitled = FeedImage(id: UUID(), url: image.url, post: .init(text: "Some words", link: image.url))
    #expect(text.entries(of: [untitled]) == "1. Some words\n   https://url-2.com\n")
  }

  @Test func `a password in the URL isn't shown`() throws {
    #expect(
      try #require(URL(string: "http://user:secret@example.com/feed?a=b")).shown == "http://user:…@example.com/feed?a=b"
    )
    #expect(sampleURL.shown == sampleURL.absoluteString)
  }

  @Test func `a saved feed shows its age and why it isn't the latest`() {
    #expect(
      text.headline(of: cached()) == """
        2 images from http://127.0.0.1:8000/feed.json, saved 3 minutes ago (\(sampleDate.dayAndTime))
        Not the latest: could not connect to 127.0.0.1:8000: Connection refused; check that the server is running and the \
        port is right

        """)
  }

  @Test func `a reason that several feeds share is shown once`() {
    let names = ["A", "B"]
    let timeline = FeedTimeline(names.map { .init(address: sampleURL, name: $0, feed: cached()) })
    let lines = TimelineText().headline(of: timeline).split(separator: "\n")
    #expect(lines.count == 2)
    let saved = names.map { "\($0), saved 3 minutes ago (\(sampleDate.dayAndTime))" }.joined(separator: "; ")
    #expect(lines.last?.hasPrefix("Not the latest: \(saved): could not connect to ") == true)
  }

  @Test func `a feed that isn't due may be the latest`() {
    let reason = RemoteFeedError.notDue(until: nil, "the feed is gone")
    let feed = Feed(images: sampleImages, source: .cache(savedAt: sampleDate, age: .seconds(180), reason: reason))
    #expect(text.headline(of: feed).hasSuffix("(\(sampleDate.dayAndTime))\n\(reason)\n"), "\(text.headline(of: feed))")
  }

  @Test func `a feed without images is only a headline`() {
    #expect(text.text(of: Feed(images: [], source: .remote)) == "0 images from http://127.0.0.1:8000/feed.json\n")
  }

  @Test func `entry numbers are right-aligned`() {
    let images = Array(repeating: sampleImages[1], count: 10)
    let lines = text.entries(of: images).split(separator: "\n")
    #expect(lines[0] == " 1. (no description)")
    #expect(lines[1] == "    https://url-2.com")
    #expect(lines[18] == "10. (no description)")
  }

  @Test func `control characters are shown escaped`() {
    let image = FeedImage(
      id: UUID(), description: "\u{1B}[2Jgone\nnew line", location: "\u{202E}x\u{7}", url: sampleImages[0].url)
    let shown = text.entries(of: [image])
    #expect(shown.contains("\\u{1B}[2Jgone\\u{A}new line\n"))
    #expect(shown.contains("\\u{202E}x\\u{7}\n"))
  }

  @Test func `output with color differs from output without color only in the color`() {
    let colored = FeedText(address: sampleURL, style: Style(hasColor: true)).text(of: cached())
    #expect(colored.contains("\u{1B}[1m"))
    #expect(colored.replacing(/\u{1B}\[\d+m/, with: "") == text.text(of: cached()))
  }
}

@Suite(.settled) struct WrappedFeedTextTests {
  @Test(.timeLimit(.minutes(5)), arguments: ["\u{301}", "\u{FE0F}"])
  func `a caption in color that begins with a mark is wrapped`(mark: String) {
    let image = FeedImage(
      id: UUID(), description: mark + String(repeating: "日", count: 50), url: sampleImages[0].url)
    let text = FeedText(address: sampleURL, style: Style(hasColor: true)).entries(of: [image]).wrapped(to: 40)
    for line in text.split(separator: "\n") { #expect(line.columns <= 40) }
    #expect(text.unicodeScalars.count { $0 == "日" } == 50)
  }
}

@Suite(.settled) struct FeedJSONTests {
  @Test func `JSON of a remote feed is one line with its keys in order`() {
    #expect(
      String(
        decoding: FeedJSON.line(Feed(images: sampleImages, source: .remote), at: sampleURL, "A"), as: UTF8.self) == #"""
          {"version":1,"url":"http://127.0.0.1:8000/feed.json","title":"A","origin":"remote","feed":[{"id":"73A7F70C-75DA-4C2E-B5A3-EED40DC53AA6","description":"A \"view\"",\#
          "location":"Über\\all","url":"https://url-1.com/a","images":[{"url":"https://url-1.com/a"}]},\#
          {"id":"BA298A85-6275-48D3-8315-9C8F7C1CD109",\#
          "url":"https://url-2.com","images":[{"url":"https://url-2.com"}]}]}

          """#)
  }

  @Test func `JSON of a saved feed says when it was saved and why it is shown`() {
    #expect(
      String(decoding: FeedJSON.line(cached([]), at: sampleURL, "A"), as: UTF8.self) == #"""
        {"version":1,"url":"http://127.0.0.1:8000/feed.json","title":"A","origin":"cache","savedAt":"2026-03-01T12:00:00Z","reason":"could not connect to 127.0.0.1:8000: \#
        Connection refused; check that the server is running and the port is right","feed":[]}

        """#)
  }

  @Test func `JSON of an image has its post, its date, and all images of its item`() throws {
    let link = URL(string: "https://a.example/post")
    let images: [FeedImage.Post.Image] = [
      .init(url: "https://a.example/1.png", alt: "a \"cat\""), .init(url: "https://a.example/2.png"),
    ]
    let image = FeedImage(
      id: UUID(uuidString: "73A7F70C-75DA-4C2E-B5A3-EED40DC53AA6")!, description: "Title\u{1B}",
      url: URL(string: "https://a.example/1.png")!, published: Date(timeIntervalSince1970: 1_000_000_000),
      post: .init(title: "Title\u{1B}", text: "Text", alt: "a \"cat\"", link: link, images: images))
    let other = FeedImage(
      id: image.id, url: image.url, post: .init(title: "Alone", alt: "only"))
    let line = FeedJSON.line(
      Feed(images: [image, other], source: .remote), at: sampleURL, "A", marks: .init(new: [1], starred: [image.id]),
      only: [0])
    #expect(
      String(decoding: line, as: UTF8.self).contains(
        #"""
        ,"url":"https://a.example/1.png","title":"Title\u001B","link":"https://a.example/post","text":"Text",\#
        "published":"2001-09-09T01:46:40Z","images":[{"url":"https://a.example/1.png","alt":"a \"cat\""},\#
        {"url":"https://a.example/2.png"}],"starred":true}]}
        """#))
    let item = FeedJSON.item(.init(address: sampleURL, name: "A", image: other), isNew: true)
    #expect(
      item.hasPrefix(#"{"version":1,"feed":{"url":"http://127.0.0.1:8000/feed.json","title":"A"},"id":""#)
        && item.hasSuffix(#""title":"Alone","images":[{"url":"https://a.example/1.png","alt":"only"}],"new":true}"#))
  }

  @Test(arguments: [1, 15, 16, 17, 31, 32, 33, 100])
  func `JSON escapes special characters at every position of a text`(length: Int) throws {
    for place in 0..<length {
      for odd in ["\"", "\\", "\u{7F}", "\u{1F}", "é", "\u{202E}", "\u{E0001}"] {
        var text = Array(repeating: "a", count: length)
        text[place] = odd
        let quoted = FeedJSON.quoted(text.joined())
        #expect(quoted.printable == quoted)
        #expect(try JSONDecoder().decode(String.self, from: Data(quoted.utf8)) == text.joined())
      }
    }
  }

  @Test func `JSON escapes any text onto one printable line that decodes to the same text`() throws {
    let text = "\u{1B}[2J \"\\/\n\r\t\u{0}\u{7F}\u{9B}\u{202E}\u{2028}\u{E0001} é 👩‍👧 \u{10FFFF}"
    let quoted = FeedJSON.quoted(text)
    #expect(quoted.printable == quoted)
    #expect(try JSONDecoder().decode(String.self, from: Data(quoted.utf8)) == text)
    #expect(FeedJSON.quoted("a/b é 👩‍👧") == "\"a/b é 👩‍👧\"")
  }
}

@Suite(.settled) struct NothingToShowTests {
  private func text(_ cache: CacheMiss, savedAge: Duration? = nil, maxAge: Duration? = .seconds(1)) -> String {
    let error = FeedError(remote: refused, cache: cache)
    return NothingToShow(address: sampleURL, error: error, maxAge: maxAge, savedAge: savedAge).text(.plain)
  }

  @Test func `the error of an expired feed states the maximum age`() {
    #expect(
      text(.expired(age: .seconds(4))) == """
        feed: no feed to show for http://127.0.0.1:8000/feed.json
          server: could not connect to 127.0.0.1:8000: Connection refused; check that the server is running and the port is right
          cache:  the feed saved 4 seconds ago has expired (--max-age 1s)
        hint: use a longer --max-age, or "none", to show the saved feed

        """)
  }

  @Test func `the error of a feed from the future names the wrong clock, not the maximum age`() {
    let error = text(.expired(age: .seconds(-400)))
    #expect(error.contains("  cache:  the saved feed is dated 6 minutes in the future, because "))
    #expect(!error.contains("expired"))
    #expect(error.contains("hint: check the clock, or use --max-age none to show the saved feed\n"))
  }

  @Test func `an id is written as its UUID, followed by its number`() throws {
    for text in [
      "00112233-4455-6677-8899-AABBCCDDEEFF", "FEDCBA98-7654-3210-0F1E-2D3C4B5A6978",
      "00000000-0000-0000-0000-000000000000",
    ] {
      let uuid = try #require(UUID(uuidString: text))
      #expect("\(FeedImage.ID(uuid))" == text)
      #expect("\(FeedImage.ID(uuid, number: 2))" == text + "-2")
    }
  }

  @Test func `the error says when nothing is saved for the URL`() {
    #expect(text(.empty).contains("nothing is saved for this URL"))
  }

  @Test func `the error mentions a saved feed that --fallback didn't allow`() {
    #expect(text(.notAsked, savedAge: .seconds(60)).contains("it has a feed saved 1 minute ago"))
    #expect(text(.notAsked, savedAge: .seconds(60), maxAge: nil).contains("hint: use --fallback any"))
    #expect(text(.notAsked, savedAge: .seconds(60)).contains("hint: retry when the server is reachable"))
    #expect(text(.notAsked).contains("not used (--fallback connectivity); nothing is saved for this URL"))
  }

  @Test func `the error of an unreadable cache says why`() {
    #expect(
      text(.failed(.retrieval(.notPermitted, place: "/x/feeds.db"))).contains(
        "Cannot read /x/feeds.db"))
  }
}

@Suite(.settled) struct StatusTests {
  @Test(arguments: [
    (0, "0s"), (1, "1s"), (999, "1s"), (1001, "2s"), (30_000, "30s"), (60_000, "1m0s"), (3_725_000, "1h2m5s"),
  ])
  func `a countdown is rounded up`(milliseconds: Int, text: String) {
    #expect(WatchStatus.countdown(.milliseconds(milliseconds)) == text)
  }

  @Test func `the status shows the current, the last and the next step`() {
    #expect(WatchStatus.text(isChecking: true, checked: nil, wait: nil) == "checking…")
    let checked = "checked \(sampleDate.timeOfDay), "
    #expect(WatchStatus.text(isChecking: true, checked: sampleDate, wait: .zero) == checked + "checking again…")
    #expect(WatchStatus.text(isChecking: false, checked: sampleDate, wait: .seconds(5)) == checked + "next in 5s")
    // No request was necessary yet, and no feed is waiting.
    #expect(WatchStatus.text(isChecking: false, checked: nil, wait: .seconds(5)) == "next in 5s")
    #expect(WatchStatus.text(isChecking: true, checked: nil, wait: .seconds(5)) == "checking…")
    #expect(WatchStatus.text(isChecking: false, checked: sampleDate, wait: nil) + ", " == checked)
  }

  @Test func `messages are written above the status line`() {
    var written = ""
    let console = Console(style: .plain, showsStatus: true, columns: { nil }, write: { written += $0 })
    console.setStatus("alive")
    console.warn("bad \u{1B}[2J")
    console.setStatus("")
    #expect(
      written == "\r\u{1B}[Kalive" + "\r\u{1B}[K" + "Warning: bad \\u{1B}[2J\n" + "\r\u{1B}[Kalive" + "\r\u{1B}[K")
  }

  @Test func `messages that aren't written to the terminal have no colors`() {
    var (written, received) = ("", [String]())
    let console = Console(
      style: Style(hasColor: true), showsStatus: false, columns: { nil }, write: { written += $0 })
    console.onReport = { received.append($0) }
    console.warn("one")
    console.fail("two")
    // A step that --verbose reports.
    console.report("step", .debug)
    console.onReport = nil
    console.warn("three")
    #expect(received == ["Warning: one", "feed: two"])
    #expect(written == "step\n\u{1B}[33mWarning:\u{1B}[0m three\n")
  }

  @Test func `a server that closes the connection in the TLS handshake may need http`() {
    let error = HTTPError(.tls, host: "h:443", cause: "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to h:443")
    #expect("\(error)".hasSuffix("; if it doesn't speak TLS, try http://"))
    #expect(error.hintOnTrust == "retry later or, if the server speaks plain HTTP, try http://")
  }

  @Test func `a status wider than the screen is cut to one line`() {
    var written = ""
    let console = Console(style: .plain, showsStatus: true, columns: { 10 }, write: { written += $0 })
    console.setStatus("checked 09:54:16")
    console.setStatus("123456789")
    #expect(written == "\r\u{1B}[Kchecked…" + "\r\u{1B}[K123456789")
  }

  @Test func `without a screen, no status line is drawn`() {
    var written = ""
    let console = Console(style: .plain, showsStatus: false, columns: { nil }, write: { written += $0 })
    console.setStatus("alive")
    console.report("told")
    #expect(written == "told\n")
  }
}
