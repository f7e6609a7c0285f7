import FeedStream
import Foundation
import ImageFeed
import PlainText
import Synchronization
import TerminalImages
import TestSupport
import Testing

@testable import HTTPTestSupport
@testable import feed

@Suite(.settled, .timeLimit(.minutes(5))) struct ImagesCommandTests {
  private static let colors = ["TERM": "xterm-256color", "COLORTERM": "truecolor"]

  /// The output of `feed load` for a feed with these image descriptions; only the first URL leads to an image.
  private func output(
    _ descriptions: [String], _ arguments: [String], _ environment: [String: String] = colors,
    again: [String]? = nil
  ) async throws -> (first: String, again: String, asked: [String]) {
    try await withFolder { folder in
      let origin = try ImageOrigin()
      let url = try await origin.start(descriptions)
      let cache = folder.appendingPathComponent("feeds.db").path
      func run(_ arguments: [String]) async throws -> String {
        let run = try RunningFeed(
          ["load", url, "--cache", cache, "--width", "60"] + arguments, environment: environment)
        let ending = await run.ending()
        #expect(ending.status == 0)
        #expect(ending.errors == "")
        return ending.output
      }
      let first = try await run(arguments)
      let asked = await origin.asked
      await origin.stop()
      var second = ""
      if let again { second = try await run(again) }
      origin.thread.shutdown()
      return (first, second, asked)
    }
  }

  @Test func `images appear next to their descriptions, in order, and a failed one shows why`() async throws {
    let shown = try await output(
      ["first", "second"], ["--images", "always"], again: ["--images", "always", "--offline"])
    let lines = shown.first.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    #expect(lines[0].hasPrefix("2 images from http://127.0.0.1:"))
    // An image of one pixel is a quarter of a character.
    let first = try #require(lines.first { $0.hasSuffix("1. first") })
    #expect(first.contains("\u{1B}[0;38;2;0;0;0m▘"))
    let second = try #require(lines.firstIndex { $0.contains("2. second") })
    #expect(lines[second].hasPrefix("┌─────────────┐"))
    #expect(lines[second + 1].hasPrefix("│ a web page, │"))
    #expect(shown.asked.sorted() == ["/0", "/1", "/feed.json"])
    // Offline, the saved image is shown, and no request is made.
    #expect(shown.again.contains("\u{1B}[0;38;2;0;0;0m▘"))
    #expect(shown.again.contains("not saved"))
  }

  @Test func `with --verbose, load reports the host and the cause of an image's failure`() async throws {
    let image = #"{"id": "1", "url": "http://e.example/", "title": "One", "image": "http://127.0.0.1:9/1.png"}"#
    let feed = #"{"version": "https://jsonfeed.org/version/1.1", "title": "A", "items": [\#(image)]}"#
    try await withOrigin(serving: Data(feed.utf8)) { _, url, cache in
      let run = try await FeedBinary.run(["load", url, "--images", "always", "--verbose", "--cache", cache])
      #expect(run.status == 0 && run.output.contains("unreachable"), "\(run.output)")
      #expect(run.errors.contains("127.0.0.1:9"), "\(run.errors)")
    }
  }

  @Test func `--grid shows images side by side, with their captions below`() async throws {
    let shown = try await output(["one", "two", "three", "four"], ["--grid"])
    let lines = shown.first.split(separator: "\n").map(String.init)
    let captions = lines.filter { $0.contains("1. one") || $0.contains("4. four") }
    #expect(captions == ["1. one              2. two              3. three", "4. four"])
    #expect(!shown.first.contains("http://127.0.0.1:\(1)") && lines.filter { $0.contains("://") }.count == 1)
  }

  @Test func `without colors, images are drawn as dots, and nothing is highlighted`() async throws {
    let shown = try await output(["first"], ["--images", "always"], Self.colors.merging(["NO_COLOR": "1"]) { $1 })
    #expect(!shown.first.contains("\u{1B}"))
    #expect(shown.first.contains("1. first"))
  }

  @Test func `escape sequences in a description don't reach the terminal`() async throws {
    let shown = try await output(["a\u{1B}[2J\u{9B}31m\u{1B}]52;c;eA==\u{7}\u{1B}_Ga=d\u{1B}\\"], ["--grid"])
    #expect(
      shown.first.replacing(/\x{1B}\[[0-9;]*m/, with: "").unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 })
    #expect(shown.first.contains(#"a\u{1B}[2J\u{9B}3"#))
  }

  @Test(arguments: [[], ["--images", "auto"], ["--images", "never"]])
  func `output that isn't a terminal has no images unless they are requested`(_ arguments: [String]) async throws {
    let shown = try await output(["first"], arguments)
    #expect(shown.first.hasSuffix("\n1. first\n   http://127.0.0.1:\(try port(in: shown.first))/0\n"))
    #expect(shown.asked == ["/feed.json"])
  }

  private func port(in text: String) throws -> Substring { try #require(text.firstMatch(of: /127\.0\.0\.1:(\d+)/)).1 }

  @Test(arguments: [["--grid", "--images", "never"], ["--grid", "--format", "json"], ["--images", "sometimes"]])
  func `a contradictory command line is refused`(_ arguments: [String]) async throws {
    let run = try RunningFeed(["load", "http://127.0.0.1:1/"] + arguments)
    #expect(await run.status() == 64)
  }

  @Test func `a load that fails waits for the terminal's replies, so that the shell doesn't get them`() async throws {
    try await withFolder { folder in
      let (screen, start) = (try BrowseCommandTests.Screen(), ContinuousClock.now)
      let cache = folder.appendingPathComponent("feeds.db").path
      let run = try screen.run("load --offline http://127.0.0.1:1/ --cache \(cache)")
      try await screen.shows("\u{1B}[c")
      #expect(await run.status() == 1)
      // This terminal never replies.
      #expect(.now - start >= StandardTerminal.deadline)
      #expect(screen.isCooked)
    }
  }

  @Test func `keys are given back to the shell, but not the rest of a reply`() {
    let keys: [TerminalKey] = [.character("\u{E9}"), .control("c"), .enter, .other("\u{1B}[33~"), .other([0xE9])]
    #expect(keys.flatMap(\.bytes) == [0xC3, 0xA9, 0x03, 0x0D, 0xE9])
  }

  @Test func `--save-images doesn't count an image that is cut off as saved, and warns`() async throws {
    try await withFolder { folder in
      let origin = try ImageOrigin()
      let url = try await origin.start(["first", "second"])
      await origin.serve(Chunk(MadeImage.gif(frames: 9).dropLast()), at: "/1")
      let cache = folder.appendingPathComponent("feeds.db").path
      let ending = try await FeedBinary.run(["load", url, "--cache", cache, "--save-images"])
      #expect(ending.errors.contains("Saved 1 of 2 images"))
      #expect(ending.errors.contains("/1: The server sent an incomplete image."))
      await origin.stop()
      origin.thread.shutdown()
    }
  }

  @Test func `watch --save-images tries an image that failed again at the feed's next update`() async throws {
    let origin = Self.changingFeed { polls in
      guard polls > 1 else { throw RawOrigin.Broken() }
      return Data(MadeImage.gif(frames: 1))
    }
    defer { origin.stop() }
    try await withFolder { folder in
      let cache = folder.appending(path: "feeds.db").path
      let watch = try await watch(origin, updates: 3, cache)
      let image = origin.url("/image").absoluteString
      let shown = try await FeedBinary.run(["cache", "images", "show", image, "--cache", cache])
      #expect(shown.output.contains("/image: gif, "), "\(shown.output)\(watch.errors)")
    }
  }

  @Test func `watch --save-images pauses before it requests an image again that failed twice`() async throws {
    let requests = Atomic(0)
    let origin = Self.changingFeed { _ in
      requests.add(1, ordering: .relaxed)
      throw RawOrigin.Broken()
    }
    defer { origin.stop() }
    try await withFolder { folder in
      let watch = try await watch(origin, updates: 5, folder.appending(path: "feeds.db").path)
      #expect(requests.load(ordering: .relaxed) == 2, "\(watch.errors)")
      #expect(watch.errors.components(separatedBy: "/image: ").count == 2, "\(watch.errors)")
    }
  }

  @Test func `--save-images doesn't request more images from an unreachable host`() async throws {
    let origin = RawOrigin { connection in
      var first: UInt8 = 0
      // A request for an image begins with a TLS handshake, which fails.
      guard recv(connection.descriptor, &first, 1, Int32(MSG_PEEK)) == 1, first == UInt8(ascii: "G") else {
        return try connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
      }
      let host = try connection.readRequest()["Host"] ?? ""
      let items = (0..<40).map { #"{"id": "\#($0)", "title": "\#($0)", "image": "https://\#(host)/\#($0)"}"# }
      try connection.send(Self.answer(items))
    }
    defer { origin.stop() }
    try await withFolder { folder in
      let cache = folder.appending(path: "feeds.db").path
      let run = try await FeedBinary.run(["load", origin.url().absoluteString, "--cache", cache, "--save-images"])
      #expect(run.errors.contains("Saved 0 of 40 images"), "\(run.errors)")
      // One for the feed, and one for each image that is requested at the same time.
      #expect(origin.accepted < 20)
    }
  }

  @Test func `images are saved even if the save before them completed immediately`() async throws {
    try await withFolder { folder in
      _ = await #expect(processExitsWith: .success) { [cache = folder.appending(path: "feeds.db").path as String] in
        let session = Session(quiet: true)
        let common = try CommonOptions.parse(["--cache", cache])
        let saver = ImageSaver(
          for: common, try ImageBudgetOption.parse([]), client: ImagesCommandTests.BrokenClient(), on: session)
        var isDone = false
        saver.save([]) {
          saver.save([(sampleURL, FeedImages(sampleImages))], isTold: false) { isDone = true }
        }
        try session.finish()
        precondition(isDone, "the second save was cancelled")
      }
    }
  }

  private struct BrokenClient: HTTPClient {
    func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
      Fail(error: HTTPError(.connect, host: "127.0.0.1")).eraseToAnyPublisher()
    }
  }

  /// Serves a feed that changes with each poll. `image` receives the number of polls, and returns the feed's image.
  private static func changingFeed(_ image: @escaping @Sendable (_ polls: Int) throws -> Data) -> RawOrigin {
    let polls = Atomic(0)
    // A connection for each request: libcurl repeats a request if a connection that it uses again breaks.
    return RawOrigin { connection in
      let request = try connection.readRequest()
      guard request.path == "/feed" else {
        let data = try image(polls.load(ordering: .relaxed))
        return try connection.send(RawOrigin.answer("200 OK", ["Content-Type: image/gif", "Connection: close"], data))
      }
      let poll = polls.add(1, ordering: .relaxed).newValue
      let url = "http://\(request["Host"] ?? "")/image"
      try connection.send(answer([#"{"id": "1", "title": "Post \#(poll)", "image": "\#(url)"}"#]))
    }
  }

  /// The response with a feed of these items.
  private static func answer(_ items: [String]) -> Data {
    let feed = """
      {"version": "https://jsonfeed.org/version/1.1", "title": "Blog", "items": [\(items.joined(separator: ","))]}
      """
    return RawOrigin.answer("200 OK", ["Content-Type: application/json", "Connection: close"], Data(feed.utf8))
  }

  private func watch(_ origin: RawOrigin, updates: Int, _ cache: String) async throws -> FeedBinary.Ending {
    let watch = try await FeedBinary.run([
      "watch", origin.url().absoluteString, "--every", "50ms", "--count", "\(updates)", "--save-images", "--cache",
      cache,
    ])
    #expect(watch.status == 0)
    return watch
  }

  // MARK: - Blocks of text and images

  private func plain(_ bytes: [UInt8]) -> [String] {
    String(decoding: bytes, as: UTF8.self).replacing(/\x{1B}\[[0-9;]*m/, with: "")
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  private func entry(_ number: Int, _ description: String?, _ address: String = "http://a.example/1.jpg")
    -> ImageBlocks.Entry
  {
    ImageBlocks.Entry(
      number: number,
      image: FeedImage(id: UUID(), description: description, location: "here", url: URL(string: address)!),
      feed: URL(string: "http://a.example/feed")!, origin: "A blog, today")
  }

  private func blocks(_ columns: Int, _ rows: Int, isGrid: Bool = false) throws -> ImageBlocks {
    try #require(
      ImageBlocks(
        screen: (columns, rows), count: 12, isGrid: isGrid,
        abilities: TerminalAbilities(environment: Self.colors.merging(["NO_COLOR": "1"]) { $1 }), hasColor: false))
  }

  @Test func `text next to an image is wrapped, and a long URL stays whole on a line below`() throws {
    let blocks = try blocks(44, 24)
    #expect((blocks.box.columns, blocks.box.rows) == (11, 6))
    let address = "http://a.example/" + String(repeating: "x", count: 40)
    let text = plain(
      blocks.bytes(of: [
        (entry(3, "A description of many words, wrapped", address), .failure(NoImage(reason: "status 404")))
      ]))
    #expect(
      text == [
        "┌─────────┐   3. A description of many",
        "│ status  │      words, wrapped",
        "│   404   │      A blog, today",
        "└─────────┘      here",
        address, "", "",
      ])
  }

  @Test(arguments: [(80, 24), (120, 40), (40, 12)]) func `no line is wider than the terminal`(
    _ columns: Int, _ rows: Int
  ) throws {
    for isGrid in [false, true] {
      let blocks = try blocks(columns, rows, isGrid: isGrid)
      let box = blocks.box
      let white = Bitmap(width: 300, height: 200, rgba: Array(repeating: 255, count: 300 * 200 * 4))
      let drawing = Drawing(white, columns: box.columns, rows: box.rows, mode: box.mode, cell: box.cell)
      let entries = (1...blocks.across).map {
        (entry($0, "四角い写真と長い説明 " + String(repeating: "word ", count: 30)), Result<Drawing, NoImage>.success(drawing))
      }
      let lines = plain(blocks.bytes(of: entries))
      #expect(lines.allSatisfy { $0.columns <= columns })
      #expect(lines.contains { $0.contains("⣿") })
      #expect(blocks.box.rows + 2 < rows)
    }
  }

  @Test func `a terminal that is too small shows no images`() {
    let abilities = TerminalAbilities(environment: [:])
    #expect(ImageBlocks(screen: (20, 24), count: 1, isGrid: false, abilities: abilities, hasColor: false) == nil)
    #expect(ImageBlocks(screen: (80, 5), count: 1, isGrid: false, abilities: abilities, hasColor: false) == nil)
  }
}
