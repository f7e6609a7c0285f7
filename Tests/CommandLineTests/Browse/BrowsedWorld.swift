import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TerminalImages
import Testing

@testable import feed

/// `feed browse` in virtual time: a feed of two pages, white images, and a terminal that replies and records the bytes
/// sent to it.
final class BrowsedWorld {
  let time: VirtualTimeScheduler
  let network: VirtualNetwork
  private(set) var browser: Browser!
  private(set) var sent: [UInt8] = []
  private(set) var stops = 0
  private(set) var isOver = false
  /// Runs while the process is suspended; returns false if the process is then continued in the background.
  var whileStopped: () -> Bool = { true }
  /// The size of a character that the system knows.
  var systemCell: CellSize?
  /// The time that the terminal takes for each write.
  var slowness: StreamInstant.Stride = .zero
  private var isWriting = false

  static let feed = URL(string: "http://a.example/feed.json")!

  /// - Parameters:
  ///   - answer: the terminal's reply to the query.
  ///   - folder: the folder where images are saved.
  init(
    _ time: VirtualTimeScheduler, size: TerminalSize = TerminalSize(columns: 60, rows: 16),
    environment: [String: String] = ["TERM": "xterm-256color", "NO_COLOR": "1"], answer: Chunk = "\u{1B}[?62;22c",
    mode: ReadMode? = nil, folder: String = "/nonexistent"
  ) throws {
    self.time = time
    network = VirtualNetwork(on: time)
    network.serve("a.example") { request, _ in Self.reply(to: request.request.url) }
    time.programs.decodeImages(on: time) { request in
      // Keep images small, so that the tests are fast.
      let size = DecodedImage.Size(width: min(request.width, 48), height: min(request.height, 32))
      let pixels = Chunk(Array(repeating: UInt8(255), count: size.width * size.height * 4))
      return .answer(ImageDecodingResponse(.decoded, size: size, originalSize: size, form: .pixels, body: pixels))
    }
    time.terminal.size = size
    let now = { @Sendable in Date(timeIntervalSince1970: 1_760_000_000 + Double(time.now.nanoseconds) / 1e9) }
    let cache = FeedCache(store: InMemoryFeedStore(), on: time, now: now)
    let images = ImageLoader(client: network, cache: ImageCache(store: InMemoryImageStore(), on: time, now: now))
    let decoder = ImageDecoder(program: "image-decoder", on: time)
    var hasAnswered = false
    let world = Browser.World(
      write: { [unowned self] bytes, done in
        #expect(!isWriting, "one write at a time")
        isWriting = true
        sent += bytes
        if !hasAnswered, String(decoding: bytes, as: UTF8.self).contains("\u{1B}[c") {
          hasAnswered = true
          time.schedule(after: time.now.advanced(by: .milliseconds(2))) { time.terminal.press(answer) }
        }
        time.schedule(after: time.now.advanced(by: slowness)) {
          self.isWriting = false
          done()
        }
      },
      stop: { [unowned self] in
        stops += 1
        #expect(!time.terminal.isRaw, "the shell needs lines")
        #expect(time.terminal.farewell == nil, "the screen is the shell's")
        time.terminal.isForeground = false
        time.terminal.isForeground = whileStopped()
      },
      isForeground: { time.terminal.isForeground },
      now: now,
      environment: environment,
      sized: { [unowned self] in
        var abilities = $0
        abilities.cell = abilities.cell ?? systemCell
        return abilities
      },
      folder: folder,
      ended: { [unowned self] in
        isOver = true
        sent += browser.leaving
      })
    browser = Browser(
      [FeedLoader(Self.feed, client: network, cache: cache, on: time)], names: [:], mode: mode,
      Thumbnails(images, decoder, on: time), try Terminal(on: time), size: size, world: world, on: time)
    browser.start()
  }

  private static func reply(to url: URL) -> VirtualReply {
    switch url.path {
    case "/feed.json":
      let page = url.query == "p=2" ? 9...12 : 1...8
      let next = url.query == "p=2" ? "" : "\"next_url\": \"http://a.example/feed.json?p=2\", "
      let items = page.map {
        "{\"id\": \"\($0)\", \"title\": \"Image \($0)\", \"image\": \"http://a.example/\($0).gif\"}"
      }
      return .answer(
        Data(
          "{\"version\": \"https://jsonfeed.org/version/1.1\", \"title\": \"A blog\", \(next)\"items\": [\(items.joined(separator: ", "))]}"
            .utf8))
    case "/3.gif": return .answer(Data("<html>no".utf8))
    default: return .answer(Data("GIF89a".utf8))
    }
  }

  func press(_ keys: Chunk) {
    time.terminal.press(keys)
    time.advance(by: .milliseconds(1))
  }

  /// The text on the screen.
  var screen: String { BrowseScreen.grid(of: browser.state).plainText.joined(separator: "\n") }
  var text: String { String(decoding: sent, as: UTF8.self) }
  var asked: [String] { network.log.map(\.request.url).map { $0.path + ($0.query.map { "?\($0)" } ?? "") } }

  func forgetSent() { sent = [] }

  /// Ends the browser, and checks that it restores the terminal.
  func close() {
    if !isOver { browser.end() }
    #expect(!time.terminal.isRaw)
    #expect(time.terminal.farewell == nil)
    #expect(text.hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
    time.advance(by: .seconds(20))
  }
}
