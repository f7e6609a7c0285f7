import FeedPolling
import Foundation
import ImageFeed
import PlainText
import Samples
import TestSupport
import Testing

@testable import HTTPTestSupport
@testable import feed

/// RSS with an image for each item; `day` is the day of March 2026 on which an item was published.
private func blog(_ name: String, _ items: [(String, day: Int?)]) -> Data {
  let items = items.map { title, day in
    let date = day.map { "<pubDate>2026-03-\($0 < 10 ? "0" : "")\($0)T12:00:00Z</pubDate>" } ?? ""
    return "<item><guid>\(title)</guid><title>\(title)</title>\(date)"
      + "<enclosure url='http://e.example/\(title).jpg' type='image/jpeg'/></item>"
  }
  return Data("<rss><channel><title>\(name)</title>\(items.joined())</channel></rss>".utf8)
}

/// Counts requests from many threads.
// @unchecked: the number is used only under the lock.
private final class RequestCount: @unchecked Sendable {
  private let lock = NSLock()
  private var number = 0

  var value: Int { lock.withLock { number } }

  func next() -> Int {
    lock.withLock {
      number += 1
      return number
    }
  }
}

@Suite(.settled) struct ManyFeedsCommandTests {
  /// Calls `body` with two servers, `A` with two items and `B` with one, and the path of a future cache file.
  private func withTwo(
    isolation: isolated (any Actor)? = #isolation,
    _ body: (LoopbackOrigin, LoopbackOrigin, [String], _ cache: String) async throws -> Void
  ) async throws {
    try await withOrigin(serving: blog("A", [("a1", 3), ("a2", 1)])) { a, first, cache in
      try await withOrigin(serving: blog("B", [("b1", 2)])) { b, second, _ in
        try await body(a, b, [first, second], cache)
      }
    }
  }

  @Test func `several feeds are shown as one list, newest first, and each item names its feed`() async throws {
    try await withTwo { _, _, urls, cache in
      let run = try await FeedBinary.run(["load"] + urls + ["--cache", cache])
      #expect(run.status == 0)
      #expect(run.errors == "")
      #expect(run.output.hasPrefix("3 images from 2 feeds\n\n1. a1\n   A, 2026-03-03 "))
      let order = ["1. a1", "2. b1\n   B, ", "3. a2"].map { run.output.range(of: $0)?.lowerBound }
      #expect(order.allSatisfy { $0 != nil } && order.compactMap { $0 } == order.compactMap { $0 }.sorted())
    }
  }

  @Test func `JSON of several feeds is one line per feed, in the format of a single feed`() async throws {
    try await withTwo { _, b, urls, cache in
      await b.setAnswer(status: 500, body: Data())
      let run = try await FeedBinary.run(["load"] + urls + ["--cache", cache, "--format", "json"])
      #expect(run.status == 0)
      let lines = try run.output.split(separator: "\n").map {
        try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
      }
      #expect(lines.map { $0["url"] as? String } == urls && lines.allSatisfy { $0["version"] as? Int == 1 })
      #expect(lines[0]["title"] as? String == "A" && lines[0]["origin"] as? String == "remote")
      #expect((lines[1]["error"] as? [String: String])?["server"]?.contains("status 500") == true)
      let first = try #require((lines[0]["feed"] as? [[String: Any]])?.first)
      #expect(first["title"] as? String == "a1")
      #expect(first["published"] as? String == "2026-03-03T12:00:00Z")
      #expect(first["url"] as? String == "http://e.example/a1.jpg")
    }
  }

  @Test func `a feed that fails is one line on standard error, and the other feeds are shown`() async throws {
    try await withTwo { a, b, urls, cache in
      await b.setAnswer(status: 404, body: Data())
      let run = try await FeedBinary.run(["load"] + urls + ["--cache", cache])
      #expect(run.status == 0)
      #expect(run.output.hasPrefix("2 images from 1 feed\n"))
      #expect(run.errors.hasPrefix("feed: no feed to show for \(urls[1]): The server responded with status 404"))
      #expect(run.errors.split(separator: "\n").count == 1)
      await a.stop()
      let saved = try await FeedBinary.run(["load"] + urls + ["--cache", cache])
      #expect(saved.output.contains("\nNot the latest: A, saved "))
      #expect(saved.status == 0)
      let none = try await FeedBinary.run(["load"] + urls + ["--cache", "\(cache).other"])
      #expect(none.status == 1)
      #expect(none.output == "")
      #expect(none.errors.split(separator: "\n").count == 2)
    }
  }

  @Test func `without URLs, load shows the subscriptions`() async throws {
    try await withTwo { _, _, urls, cache in
      let user = ["XDG_CONFIG_HOME": cache + ".config"]
      func feed(_ arguments: [String]) async throws -> FeedBinary.Ending {
        try await FeedBinary.run(arguments, environment: user)
      }
      let at = ["--cache", cache]
      let none = try await feed(["load"] + at)
      #expect(none.status == 64)
      #expect(none.errors.contains("there are no subscriptions"))
      let added = try await feed(["subscriptions", "add", urls[0], "--title", "Mine", "--every", "90s"] + at)
      #expect(added.output == "Added Mine, 2 images: \(urls[0])\n")
      let file = cache + ".import.opml"
      try Data("<opml><body><outline text=F><outline text=B xmlUrl=\"\(urls[1])\"><outline xmlUrl='x:y'/>".utf8).write(
        to: URL(fileURLWithPath: file))
      let imported = try await feed(["subscriptions", "import", file])
      #expect(imported.output == "Added 1 of 1 feed\n")
      #expect(
        imported.errors == """
          \(file) is cut off; feeds may be missing
          1 entry has no http or https URL and was skipped: x:y

          """)
      let list = try await feed(["subscriptions", "list"])
      #expect(list.output == "1. \(urls[0])  Mine  every 90s\n2. \(urls[1])  B  [F]\n")
      let shown = try await feed(["load"] + at)
      #expect(shown.output.hasPrefix("3 images from 2 feeds\n\n1. a1\n   Mine, "))
      let exported = try await feed(["subscriptions", "export"])
      try Data(exported.output.utf8).write(to: URL(fileURLWithPath: file))
      let byList = try await FeedBinary.run(["load", "--opml", file, "--cache", "\(cache).other"])
      #expect(byList.output == shown.output)
      let removed = try await feed(["subscriptions", "remove", urls[0], "http://unknown.example/"])
      #expect(removed.status == 1)
      #expect(removed.output == "Removed \(urls[0])\n")
      #expect(removed.errors == "feed: http://unknown.example/ is not in the list\n")
      #expect(try await feed(["subscriptions"]).output == "1. \(urls[1])  B  [F]\n")
    }
  }
}

@Suite(.settled) struct WatchNewTests {
  private func watch(_ urls: [String], _ cache: String, _ more: String...) throws -> RunningFeed {
    try RunningFeed(["watch"] + urls + ["--every", "50ms", "--cache", cache] + more)
  }

  @Test func `watch --new writes only new images, even after a restart`() async throws {
    try await withOrigin(serving: blog("A", [("a1", 1), ("a2", 2)])) { origin, url, cache in
      let run = try watch([url], cache, "--new", "--format", "json", "--count", "2")
      let first = try #require(await run.output.line())
      #expect(
        first.hasPrefix(#"{"version":1,"url":"\#(url)","title":"A","origin":"remote","feed":[{"id":""#)
          && first.contains(#""description":"a1","url":"http://e.example/a1.jpg","title":"a1""#)
          && first.components(separatedBy: #""new":true"#).count == 3)
      await origin.setAnswer(body: blog("A", [("a3", 3), ("a1", 1), ("a2", 2)]))
      let ending = await run.ending()
      #expect(ending.output.split(separator: "\n").count == 1 && ending.output.contains("a3"))
      #expect(!ending.output.contains("a2"))
      #expect(ending.status == 0)
      await origin.setAnswer(body: blog("A", [("a4", 4), ("a3", 3)]))
      let again = await (try watch([url], cache, "--new", "--count", "1")).ending()
      #expect(again.output.contains("1 new from A (\(url))\n\n1. a4\n   A, 2026-03-04 "))
      #expect(!again.output.contains("a3"))
    }
  }

  @Test func `images that load has shown aren't new, and the whole list marks new ones`() async throws {
    try await withOrigin(serving: blog("A", [("a1", 1)])) { origin, url, cache in
      _ = try await FeedBinary.run(["load", url, "--cache", cache])
      await origin.setAnswer(body: blog("A", [("a2", 2), ("a1", 1)]))
      let text = await (try watch([url], cache, "--count", "1")).ending()
      #expect(text.output.contains("2 images, 1 new, from A (\(url))\n\n1. [new] a2\n"))
      #expect(text.output.contains("2. a1\n"))
      await origin.setAnswer(body: blog("A", [("a3", 3), ("a2", 2), ("a1", 1)]))
      // The end of the previous watch may have closed a second request: then the saved feed is shown until the next
      // request is due.
      let json = try watch([url], cache, "--format", "json")
      var line = ""
      repeat { line = try #require(await json.output.line()) } while !line.contains("a3")
      #expect(line.components(separatedBy: #""new":true"#).count == 2)
      #expect(line.contains(#""images":[{"url":"http://e.example/a3.jpg"}],"new":true}"#))
      json.send(SIGTERM)
      _ = await json.status()
    }
  }

  @Test func `watch reports one failing feed of several, and watches the others`() async throws {
    try await withOrigin(serving: blog("A", [("a1", 1)])) { _, first, cache in
      try await withOrigin(serving: Data()) { bad, second, _ in
        await bad.setAnswer(status: 500, body: Data())
        let run = try watch([second, first], cache, "--new", "--count", "1")
        _ = await run.errors.read(upTo: "status 500")
        #expect(await run.ending().output.contains("1 new from A"))
      }
    }
  }

  @Test(arguments: [["--new"], ["--exec", "true"]])
  func `watch reports when a saved feed starts and stops failing, even if it shows only new images`(
    options: [String]
  ) async throws {
    let body = blog("A", [("a1", 1)])
    try await withOrigin(serving: body) { origin, url, cache in
      _ = try await FeedBinary.run(["load", url, "--cache", cache])
      await origin.setAnswer(status: 404, body: Data())
      let run = try RunningFeed(["watch", url, "--every", "50ms", "--cache", cache] + options)
      #expect(await run.errors.read(upTo: "Warning: \(url) can't be loaded: ") != nil)
      await origin.setAnswer(body: body)
      #expect(await run.errors.read(upTo: "\(url) is loaded again\n") != nil)
      run.send(SIGTERM)
      _ = await run.status()
    }
  }

  @Test(.timeLimit(.minutes(5))) func `a server that doesn't respond delays no other feed`() async throws {
    let silent = RawOrigin { $0.waitForClose() }
    defer { silent.stop() }
    try await withOrigin(serving: blog("A", [("a1", 1)])) { _, first, cache in
      let run = try watch([silent.url().absoluteString, first], cache, "--new", "--timeout", "10m")
      #expect(await run.output.read(upTo: "1 new from A") != nil)
      run.send(SIGTERM)
      _ = await run.status()
    }
  }

  @Test(.timeLimit(.minutes(5))) func `a feed whose response the previous watch didn't wait for is requested again`()
    async throws
  {
    let requests = RequestCount()
    let answer = RawOrigin.answer("200 OK", [], blog("A", [("a1", 1)]))
    let origin = RawOrigin { connection in
      try connection.readRequest()
      if requests.next() == 1 { connection.waitForClose() } else { try connection.send(answer) }
    }
    defer { origin.stop() }
    try await withFolder { folder in
      func start() throws -> RunningFeed {
        try watch(
          [origin.url().absoluteString], folder.appending(path: "cache").path, "--new", "--count", "1", "--timeout",
          "10m")
      }
      let first = try start()
      while requests.value == 0 { try await Task.sleep(for: .milliseconds(10)) }
      first.send(SIGTERM)
      _ = await first.status()
      #expect(await (try start()).ending().output.contains("1 new from A"))
    }
  }

  @Test func `--exec runs a command on each new image, one at a time, without a shell`() async throws {
    try await withOrigin(serving: blog("A; $(exit 3)", [("a1", 1), ("a2", 2)])) { _, url, cache in
      let script = cache + ".sh"
      try ExecutableFile.write(
        script: #"echo "$1|$FEED_URL|$FEED_TITLE|$ITEM_DESCRIPTION|$ITEM_PUBLISHED|$(cat)"; exit 3"#, to: script)
      let run = await (try watch([url], cache, "--exec", "'\(script)' 'a  $b'", "--count", "1")).ending()
      let lines = run.output.split(separator: "\n")
      #expect(lines.count == 2)
      #expect(
        lines.first?.hasPrefix(#"a  $b|\#(url)|A; $(exit 3)|a2|2026-03-02T12:00:00Z|{"version":1,"feed":{"url":""#)
          == true)
      #expect(run.errors.contains("Warning: \(script) exited with status 3 for the image http://e.example/a2.jpg\n"))
      #expect(run.status == 0)
      let shell = await (try watch([url], "\(cache).other", "--exec", "echo $((1+1))", "--shell", "--count", "1"))
        .ending()
      #expect(shell.output == "2\n2\n")
    }
  }

  @Test(arguments: [SIGTERM, SIGHUP])
  func `ending watch ends a running --exec command, and its image stays new`(signal: Int32) async throws {
    try await withOrigin(serving: blog("A", [("a1", 1)])) { _, url, cache in
      let run = try watch([url], cache, "--shell", "--exec", "echo $$; sleep 1000 & wait")
      let line = try #require(await run.output.line())
      let process = try #require(Int32(line.dropLast()))
      run.send(signal)
      #expect(await run.status() == 128 + signal)
      #expect(kill(process, 0) == -1)
      let again = await (try watch([url], cache, "--new", "--count", "1")).ending()
      #expect(again.output.contains("1. a1"))
    }
  }

  /// A closed terminal causes two hangups.
  @Test func `a hangup after another signal doesn't end watch before the --exec command has ended`() async throws {
    try await withOrigin(serving: blog("A", [("a1", 1)])) { _, url, cache in
      let command = "trap 'echo ending' TERM; echo begun; while :; do sleep 1000 & wait; done"
      let run = try watch([url], cache, "--shell", "--exec", command)
      #expect(await run.output.line() == "begun\n")
      run.send(SIGTERM)
      #expect(await run.output.line() == "ending\n")
      run.send(SIGHUP)
      #expect(await run.status() == 128 + SIGTERM)
    }
  }

  @Test func `the terminal's last line says since when the server is unreachable`() async throws {
    try await withOrigin(serving: blog("A", [("a1", 1)])) { origin, url, cache in
      let run = try RunningFeed(
        ["watch", url, "--every", "50ms", "--cache", cache], environment: ["TERM": "xterm"], terminal: true)
      _ = await run.output.read(upTo: "a1.jpg")
      await origin.stop()
      #expect(
        try #require(await run.output.read(upTo: "; checked ")).contains(
          /127\.0\.0\.1:\d+ has been unreachable since \d\d:\d\d:\d\d/))
      try await origin.start()
      _ = await run.output.read(upTo: "1 image\u{1B}[0m from")
      _ = await run.output.read(upTo: "\u{1B}[2mchecked ")
      run.send(SIGINT)
      #expect(await run.status() == 130)
      #expect(await run.output.rest().hasSuffix("\r\u{1B}[K"))
    }
  }
}

@Suite(.settled) struct CommandWordsTests {
  @Test func `an --exec command is split at spaces, except in quotation marks`() throws {
    #expect(try CommandWords.split("a 'b c' \"d \\\" e\" f\\ g '' $h") == ["a", "b c", "d \" e", "f g", "", "$h"])
    for bad in ["", "  ", "'a", "a\\", "''"] { #expect(throws: (any Error).self) { try CommandWords.split(bad) } }
  }

  @Test(
    arguments: [
      ("jq -r .url >> urls.txt", ">>"), ("jq . 2>errors", "2>"), ("cat | wc", "|"), ("cd /tmp && ls", "&&"),
      ("cat <in", "<"), ("cd /tmp; ls", ";"), ("~/notify", "~"), ("A=1 printenv", "A="), ("echo $ITEM_URL", "$"),
      ("echo `id`", "`"), ("notify --title 'a > b' <b>", nil), ("./a=b --c=d -e", nil),
      ("jq -r .url>>urls.txt", ">>"), ("jq .| wc", "|"), ("./notify&", "&"), ("echo a>out", ">"), ("a&&b", "&&"),
      ("echo \"$ITEM_URL\"", "$"), ("echo \"`id`\"", "`"), ("sh -c 'echo $ITEM_URL'", nil), ("cut -d '|' -f1", nil),
      ("sort -t ';'", nil), ("find . -exec rm {} \\;", nil), ("sed 's/a/b/;'", nil), ("awk \"{print $1}\"", nil),
      ("dpkg --compare-versions 1 '>=' 2", nil), ("curl http://e.com/?a=1&b=2", nil), ("grep -E a|b", nil),
      ("log a->b", nil), ("grep \"a$\"", nil), ("echo \\$a \\~/ '~/'", nil),
    ] as [(String, String?)])
  func `a redirection or a pipe in --exec without --shell gets the hint`(_ command: String, _ syntax: String?) throws {
    #expect(try CommandWords.shellSyntax(in: command) == syntax)
  }

  @Test func `within double quotes, a backslash stays, except before a character that a shell escapes`() throws {
    #expect(
      try CommandWords.split(#"printf "%s\n\.\'" "\"\\\$\`" \.\n"#) == ["printf", #"%s\n\.\'"#, #""\$`"#, ".n"])
    #expect(try CommandWords.split("a \"b\\\nc\" d\\\ne") == ["a", "bc", "de"])
  }

  @Test func `the status line names unreachable servers, and those without a valid feed`() {
    let away = WatchStatus.Failing(name: "e.example", since: sampleDate, isSilent: true)
    let now = sampleDate + 60
    var progress = PollingProgress()
    (progress.feeds, progress.due, progress.running, progress.failing) = (40, 12, 3, 2)
    #expect(WatchStatus.text(of: progress) == "12 due, 3 running, 2 failing; ")
    (progress.due, progress.running) = (0, 0)
    #expect(WatchStatus.text(of: progress) == "2 failing; ")
    progress.failing = 0
    #expect(WatchStatus.text(of: progress) == "")
    progress.feeds = 1
    #expect(WatchStatus.text(of: progress) == "" && WatchStatus.text(of: nil) == "")
    #expect(
      WatchStatus.text(of: away, now: now) == "e.example has been unreachable since \(sampleDate.timeOfDay); ")
    #expect(WatchStatus.text(of: away, now: sampleDate + 90_000).contains(sampleDate.dayAndTime))
    let page = WatchStatus.Failing(name: "e.example", since: sampleDate, isSilent: false)
    #expect(
      WatchStatus.text(of: page, now: now) == "e.example hasn't sent a valid feed since \(sampleDate.timeOfDay); ")
  }

  @Test func `the status line names the feed that fails, and its host only if all of the host's feeds fail`() throws {
    let addresses = try ["http://a.example/1", "http://a.example/2", "http://b.example/"].map {
      try #require(URL(string: $0))
    }
    let first = WatchStatus.Failing(name: "One", since: sampleDate, isSilent: false)
    var failing = [addresses[0]: first]
    #expect(WatchStatus.longest(of: [:], among: Set(addresses)) == nil)
    #expect(WatchStatus.longest(of: failing, among: Set(addresses)) == first)
    failing[addresses[1]] = WatchStatus.Failing(name: "Two", since: sampleDate + 5, isSilent: true)
    #expect(
      WatchStatus.longest(of: failing, among: Set(addresses))
        == WatchStatus.Failing(name: "a.example", since: sampleDate + 5, isSilent: false))
  }

  @Test func `a feed that another process has loaded since it failed is reported when it fails again`() throws {
    var written = ""
    let warnings = FailureWarnings(
      on: Console(style: .plain, showsStatus: false, isQuiet: false, columns: { nil }, write: { written += $0 }))
    func take(_ savedAt: Date, _ reason: RemoteFeedError) {
      let source = LoadSource.cache(savedAt: savedAt, age: .seconds(60), reason: reason)
      warnings.take(
        FeedReport(address: sampleURL, result: .success(Feed(images: sampleImages, source: source))))
    }
    let warning = "Warning: \(sampleURL) can't be loaded: \(refused)\n"
    take(sampleDate, refused)
    // The copy is the same, so the other process's request has failed, too.
    take(sampleDate, .notDue(until: nil, ""))
    take(sampleDate, refused)
    #expect(written == warning)
    take(sampleDate + 60, .notDue(until: nil, ""))
    #expect(written == warning + "\(sampleURL) is loaded again\n")
    written = ""
    take(sampleDate + 60, refused)
    #expect(written == warning)
  }

  @Test func `the pauses of a host that requests one after another are reported once per hour`() {
    var written = ""
    let console = Console(style: .plain, showsStatus: false, columns: { nil }, write: { written += $0 })
    for minutes in [0, 2, 4, 60, 62, 1500, 1502] {
      console.warn(HostPause(until: sampleDate + Double(minutes) * 60, because: "it is busy"), of: "e.example")
    }
    console.warn(HostPause(until: sampleDate, because: "it is busy"), of: "b.example")
    let expected = [(0, "e"), (60, "e"), (1500, "e"), (0, "b")].map { minutes, host in
      let pause = HostPause(until: sampleDate + Double(minutes) * 60, because: "it is busy")
      return "Warning: \(pause.text(of: "\(host).example"))\n"
    }
    #expect(written == expected.joined())
  }

  @Test func `a store's failure is reported once per hour, and a different one immediately`() {
    var (written, now) = ("", sampleDate)
    let console = Console(style: .plain, showsStatus: false, write: { written += $0 }, now: { now })
    let full = FeedStoreError(.insertion, .diskFull, place: "/a")
    let others = [
      FeedStoreError(.insertion, .diskFull, place: "/b"), FeedStoreError(.retrieval, .diskFull, place: "/a"),
    ]
    for error in [full, full] + others + [full] { console.warn(error) }
    #expect(written == ([full] + others).map { "Warning: \($0)\n" }.joined())
    (written, now) = ("", sampleDate + 3600)
    console.warn(full)
    #expect(written == "Warning: \(full)\n")
  }

  @Test func `a status line that wraps on a narrower screen is erased completely`() {
    var (written, columns) = ("", 20)
    let console = Console(style: .plain, showsStatus: true, columns: { columns }, write: { written += $0 })
    console.setStatus("eighteen columns…!")
    (written, columns) = ("", 8)
    console.resized()
    #expect(written == "\r\u{1B}[K\u{1B}[A\u{1B}[K\u{1B}[A\u{1B}[K" + "\r\u{1B}[Keighte…")
    console.pause()
    written = ""
    console.setStatus("quiet")
    #expect(written == "")
    console.resume()
    #expect(written == "\r\u{1B}[Kquiet")
  }
}
