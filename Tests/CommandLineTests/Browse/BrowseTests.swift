import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TerminalImages
import TestSupport
import Testing

@testable import feed

@Suite(.settled) struct BrowseTests {
  private func browse(
    _ size: TerminalSize = TerminalSize(columns: 60, rows: 16), answer: Chunk = "\u{1B}[?62;22c", mode: ReadMode? = nil,
    environment: [String: String] = ["TERM": "xterm-256color", "NO_COLOR": "1"],
    _ body: (BrowsedWorld, VirtualTimeScheduler) throws -> Void
  ) throws {
    try withVirtualTime { time in
      let world = try BrowsedWorld(time, size: size, environment: environment, answer: answer, mode: mode)
      try body(world, time)
      world.close()
    }
  }

  @Test func `browse switches to the alternate screen, queries it, and fills it as feeds and images arrive`() throws {
    try browse { world, time in
      #expect(world.text.hasPrefix("\u{1B}[?1049h\u{1B}[?25l"))
      time.advance(by: .milliseconds(1))
      #expect(world.screen.hasPrefix(" http://a.example/feed.json · loading…\n\n Loading…\n"))
      #expect(time.terminal.isRaw)
      #expect(time.terminal.farewell != nil)
      time.advance(by: .milliseconds(100))
      #expect(world.screen.contains("Image 1"))
      time.advance(by: .seconds(1))
      #expect(world.screen.contains(" A blog · server, just now"))
      #expect(world.screen.contains("⣿"))
      #expect(world.screen.contains("a web page"))
    }
  }

  @Test func `the second page is loaded only when the selection gets near the end`() throws {
    try browse(TerminalSize(columns: 40, rows: 12)) { world, time in
      time.advance(by: .seconds(1))
      #expect(world.asked.filter { $0.hasPrefix("/feed") } == ["/feed.json"])
      #expect(world.browser.state.timeline.count == 8)
      #expect(world.screen.contains("1/8+"))
      // Nothing beyond the next screen is loaded.
      #expect(world.asked.filter { $0.hasSuffix(".gif") } == ["/1.gif", "/2.gif", "/3.gif", "/4.gif"])
      for _ in 0..<2 { world.press("\u{1B}[B") }
      time.advance(by: .seconds(1))
      #expect(world.asked.filter { $0.hasPrefix("/feed") } == ["/feed.json", "/feed.json?p=2"])
      #expect(world.screen.contains("5/12") && !world.screen.contains("12+"))
      world.press("\u{1B}[F")
      #expect(world.browser.state.selected == 11)
    }
  }

  @Test func `keys move the selection, enlarge, show details and go back`() throws {
    try browse { world, time in
      time.advance(by: .seconds(1))
      world.press("\u{1B}[C")
      #expect(world.browser.state.selected == 1)
      world.press("\u{1B}[B")
      #expect(world.browser.state.selected == 4)
      world.press("k")
      #expect(world.browser.state.selected == 1)
      world.press("\r")
      #expect(world.browser.state.view == .single)
      time.advance(by: .seconds(1))
      world.press("l")
      #expect(world.screen.contains("Image 3\n\nhttp://a.example/3.gif\n"))
      world.press("?")
      #expect(world.screen.contains("Ctrl-L, Ctrl-Z"))
      world.press("x")
      #expect(world.browser.state.view == .single)
      world.press("i")
      #expect(world.screen.contains("8 images, server, just now") || world.screen.contains("12 images"))
      world.press("q")
      world.press("\u{1B}")
      #expect(world.browser.state.view == .grid)
      #expect(world.browser.state.selected == 2)
      #expect(!world.isOver)
      world.press("q")
      #expect(world.isOver)
    }
  }

  @Test func `an image that is cut off isn't saved in the user's folder`() throws {
    let time = VirtualTimeScheduler()
    let network = VirtualNetwork(on: time)
    network.serve("a.example") { _, _ in .answer(Data(MadeImage.gif(frames: 9).dropLast())) }
    let loader = ImageLoader(client: network, cache: ImageCache(store: InMemoryImageStore(), on: time))
    let thumbnails = Thumbnails(loader, ImageDecoder(program: "image-decoder", on: time), on: time)
    let url = try #require(URL(string: "http://a.example/1.gif"))
    var result: Result<ImageData, NoImage>?
    let loading = thumbnails.original(url, of: BrowsedWorld.feed, isPrivate: nil).asResult().sink { result = $0 }
    time.run()
    #expect(result == .failure(NoImage(reason: "cut off", isPassing: true)))
    withExtendedLifetime(loading) {}
  }

  @Test func `the selected URL is copied without control characters, and opened by another program`() throws {
    try browse { world, time in
      time.advance(by: .seconds(1))
      world.forgetSent()
      world.press("c")
      time.advance(by: .milliseconds(1))
      #expect(world.text.contains("\u{1B}]52;c;aHR0cDovL2EuZXhhbXBsZS8xLmdpZg==\u{1B}\\"))
      #expect(world.screen.contains("Copied the URL"))
      var opened: [[String]] = []
      var status = FeedStream.ExitStatus.exited(0)
      time.programs["/bin/sh"] = { program in
        opened.append(program.subprocess.arguments)
        program.exit(status)
      }
      world.press("o")
      time.advance(by: .milliseconds(10))
      #expect(opened.map { Array($0.dropFirst(2)) } == [["sh", "http://a.example/1.gif"]])
      #expect(world.screen.contains("Opened in a browser."))
      let failures: [(FeedStream.ExitStatus, String)] = [
        (.exited(127), "xdg-open isn't installed."), (.exited(3), "xdg-open found no browser (status 3)."),
        (.exited(4), "xdg-open exited with status 4."),
      ]
      for (failure, message) in failures {
        status = failure
        world.press("o")
        time.advance(by: .milliseconds(10))
        #expect(world.screen.contains(message))
      }
      world.press("l")
      #expect(!world.screen.contains("xdg-open"))
    }
  }

  @Test func `a browser that keeps xdg-open running counts as opened after two seconds`() throws {
    try browse { world, time in
      time.advance(by: .seconds(1))
      time.programs["/bin/sh"] = { _ in }
      world.press("I")
      time.advance(by: .milliseconds(1_900))
      #expect(world.screen.contains("Opening…"))
      time.advance(by: .milliseconds(200))
      #expect(world.screen.contains("Opened in a browser."))
    }
  }

  @Test func `a second image that is saved, or post that is opened, doesn't cancel the first one`() async throws {
    try await withFolder { folder in
      try withVirtualTime { time in
        let world = try BrowsedWorld(time, folder: folder.path)
        time.advance(by: .seconds(1))
        var ended = 0
        time.programs["/bin/sh"] = { program in
          time.schedule(after: time.now.advanced(by: .seconds(1))) { program.exit(.exited(0)) }
          program.onSignal = { _ in ended += 1 }
        }
        world.press("doldo")
        time.advance(by: .seconds(3))
        #expect(ended == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["1.gif", "2.gif"])
        world.close()
      }
    }
  }

  @Test func `a refresh reloads the feed and keeps the selected image`() throws {
    try browse { world, time in
      time.advance(by: .seconds(1))
      world.press("ll")
      let asked = world.asked.count
      world.press("r")
      #expect(world.screen.contains("loading…"))
      time.advance(by: .milliseconds(200))
      #expect(world.asked.dropFirst(asked).first == "/feed.json")
      #expect(world.browser.state.current?.image.description == "Image 3")
      world.network.disconnect()
      world.press("r")
      time.advance(by: .seconds(1))
      // The saved feed is shown, with the reason.
      #expect(world.screen.contains(", unreachable"))
      world.press("i")
      #expect(world.screen.contains("could not connect"))
    }
  }

  @Test func `a refresh loads images again whose server was unreachable`() throws {
    try browse(TerminalSize(columns: 40, rows: 12)) { world, time in
      time.advance(by: .seconds(1))
      world.network.disconnect()
      for _ in 0..<2 { world.press("\u{1B}[B") }
      time.advance(by: .seconds(5))
      let key = try #require(world.browser.state.wanted.first)
      #expect(throws: NoImage.self) { try world.browser.state.drawings[key]?.get() }
      world.network.reconnect()
      world.press("r")
      time.advance(by: .seconds(5))
      #expect(throws: Never.self) { try #require(world.browser.state.drawings[key]).get() }
    }
  }

  @Test func `a slideshow shows each image for ten seconds, even the first one`() throws {
    try browse { world, time in
      time.advance(by: .seconds(5))
      world.press("s")
      time.advance(by: .milliseconds(9_900))
      #expect(world.browser.state.selected == 0)
      time.advance(by: .milliseconds(200))
      #expect(world.browser.state.selected == 1)
      world.press("x")
      time.advance(by: .seconds(20))
      #expect(world.browser.state.selected == 1)
    }
  }

  @Test func `zooming enlarges an image that is smaller than the screen, up to the screen`() throws {
    let size = DecodedImage.Size(width: 100, height: 50)
    let pixels = Chunk(Array(repeating: UInt8(255), count: size.width * size.height * 4))
    let image = DecodedImage(size: size, originalSize: size, kind: .gif, content: .rgba, bytes: pixels)
    var box = ImageBox(columns: 40, rows: 20, mode: .kitty, cell: CellSize(width: 8, height: 16))
    #expect(try box.drawing(of: image).columns == 13)
    box.near.zoom(by: 1)
    #expect(try box.drawing(of: image).columns == 25)
    box.near.zoom(by: 2)
    let drawing = try box.drawing(of: image)
    #expect((drawing.columns, drawing.rows) == (40, 20))
  }

  @Test func `an enlarged image that is made of characters fills the screen, and can be zoomed further`() throws {
    let size = DecodedImage.Size(width: 100, height: 50)
    let pixels = Chunk(Array(repeating: UInt8(255), count: size.width * size.height * 4))
    let image = DecodedImage(size: size, originalSize: size, kind: .gif, content: .rgba, bytes: pixels)
    var box = ImageBox(
      columns: 40, rows: 20, mode: .dots(onLight: false), cell: CellSize(width: 8, height: 16), isEnlarged: true)
    let whole = try box.drawing(of: image)
    #expect((whole.columns, whole.rows) == (40, 10))
    box.near.zoom(by: 1)
    let part = try box.drawing(of: image)
    #expect((part.columns, part.rows) == (40, 20))
  }

  @Test func `the shown age grows with time`() throws {
    try browse { world, time in
      time.advance(by: .seconds(200))
      #expect(world.screen.contains("server, 3 minutes ago"))
    }
  }

  @Test func `resizing the screen redraws the images and cancels those no longer needed`() throws {
    try browse { world, time in
      time.advance(by: .seconds(1))
      time.terminal.size = TerminalSize(columns: 100, rows: 30)
      time.advance(by: .seconds(1))
      #expect(world.browser.state.size == TerminalSize(columns: 100, rows: 30))
      let box = try #require(world.browser.state.imageBox)
      #expect(world.browser.state.drawings.keys.contains { $0.box == box })
      time.terminal.size = TerminalSize(columns: 10, rows: 3)
      time.advance(by: .seconds(1))
      #expect(world.screen == "Too small.\n\n")
    }
  }

  @Test func `when the size of the font changes, images are made for the new size of a character`() throws {
    try browse(answer: "\u{1B}[6;16;8t\u{1B}[?62;4c") { world, time in
      time.advance(by: .seconds(1))
      world.forgetSent()
      // The terminal may adapt its window, and keep its columns and rows.
      time.terminal.size = TerminalSize(columns: 60, rows: 16)
      time.advance(by: .milliseconds(1))
      #expect(world.text.contains("\u{1B}[16t"))
      #expect(world.browser.state.imageBox?.cell == CellSize(width: 8, height: 16))
      world.press("\u{1B}[6;8;4t")
      time.advance(by: .seconds(1))
      let box = try #require(world.browser.state.imageBox)
      #expect(box.cell == CellSize(width: 4, height: 8))
      #expect(world.browser.state.drawings.keys.contains { $0.box == box })
    }
  }

  @Test(arguments: [("\u{1B}[6;16;8t\u{1B}[?62;4c", true), ("\u{1B}[6;16;8t\u{1B}[?62;22c", false)] as [(Chunk, Bool)])
  func `the size of a character is requested again only for graphics and a new size`(_ answer: Chunk, _ isGraphic: Bool)
    throws
  {
    try browse(answer: answer) { world, time in
      time.advance(by: .seconds(1))
      world.forgetSent()
      world.press("\u{1A}")
      time.advance(by: .milliseconds(100))
      #expect(world.stops == 1)
      #expect(!world.text.contains("\u{1B}[16t"))
      time.terminal.size = TerminalSize(columns: 90, rows: 30)
      time.advance(by: .milliseconds(100))
      #expect(world.text.contains("\u{1B}[16t") == isGraphic)
    }
  }

  @Test func `the system's size of a character is read again if the terminal doesn't report it`() throws {
    try browse { world, time in
      world.systemCell = CellSize(width: 8, height: 16)
      time.advance(by: .seconds(1))
      #expect(world.browser.state.imageBox?.cell == CellSize(width: 8, height: 16))
      world.systemCell = CellSize(width: 4, height: 8)
      time.terminal.size = TerminalSize(columns: 120, rows: 32)
      time.advance(by: .seconds(1))
      #expect(world.browser.state.imageBox?.cell == CellSize(width: 4, height: 8))
    }
  }

  @Test func `kitty stores the images, and deletes them on exit`() throws {
    try browse(answer: "\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[6;16;8t\u{1B}[?62c", environment: ["TERM": "xterm-kitty"]) {
      world, time in
      time.advance(by: .seconds(1))
      #expect(world.text.contains("\u{1B}_Ga=t,i=32,f=24"))
      #expect(world.text.contains("\u{1B}_Ga=p,i=32,p="))
      world.press("q")
      #expect(
        world.text.hasSuffix(
          "\u{1B}_Ga=d,d=A,q=2\u{1B}\\\u{1B}[?1006l\u{1B}[?1000l\u{1B}[?2026l\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
        ))
    }
  }

  @Test func `a slow terminal skips frames and shows the last one`() throws {
    try browse { world, time in
      world.slowness = .milliseconds(300)
      time.advance(by: .seconds(2))
      world.forgetSent()
      world.press("llll")
      time.advance(by: .seconds(2))
      // Expect a frame for the first key, and one for all others together.
      #expect(world.text.components(separatedBy: "\u{1B}[?2026h").count == 3)
      #expect(world.browser.state.selected == 4)
    }
  }

  @Test func `Ctrl-Z suspends browse and restores the terminal meanwhile`() throws {
    try browse { world, time in
      time.advance(by: .seconds(1))
      world.forgetSent()
      world.press("\u{1A}")
      time.advance(by: .milliseconds(10))
      #expect(world.stops == 1)
      #expect(world.text.contains("\u{1B}[?1049l\u{1B}[?1049h"))
      #expect(time.terminal.isRaw)
      world.press("l")
      #expect(world.browser.state.selected == 1)
    }
  }

  @Test func `after a suspension, browse has the terminal's new size`() throws {
    try browse { world, time in
      time.advance(by: .seconds(1))
      let size = TerminalSize(columns: 90, rows: 30)
      world.whileStopped = {
        time.terminal.size = size
        return true
      }
      world.press("\u{1A}")
      time.advance(by: .milliseconds(100))
      #expect(world.stops == 1)
      #expect(world.browser.state.size == size)
    }
  }

  @Test func `a suspended browse that is continued in the background stops again`() throws {
    try browse { world, time in
      time.advance(by: .seconds(1))
      world.forgetSent()
      world.whileStopped = { [unowned world] in world.stops == 3 }
      world.press("\u{1A}")
      time.advance(by: .seconds(1))
      #expect(world.stops == 3)
      #expect(world.text.components(separatedBy: "\u{1B}[?1049h").count == 2)
      #expect(time.terminal.isRaw && time.terminal.farewell != nil)
    }
  }

  @Test func `a suspended browse that nothing can stop ends without using the terminal`() throws {
    try browse { world, time in
      time.advance(by: .seconds(1))
      world.forgetSent()
      world.whileStopped = { false }
      world.press("\u{1A}")
      time.advance(by: .seconds(1))
      #expect(!world.isOver && world.stops < 10)
      time.advance(by: .seconds(9))
      #expect(world.isOver && world.stops == 10)
      #expect(world.text.components(separatedBy: "\u{1B}[?1049l").count == 2)
    }
  }

  @Test func `a signal that arrives after a suspended browse was continued ends it`() throws {
    try browse { world, time in
      time.advance(by: .seconds(1))
      world.whileStopped = { [unowned world] in
        time.schedule(after: time.now.advanced(by: .milliseconds(20))) { world.browser.end() }
        return false
      }
      world.press("\u{1A}")
      time.advance(by: .seconds(1))
      #expect(world.isOver && world.stops == 1)
    }
  }

  @Test func `a signal that ends a suspended browse leaves the terminal to the shell`() throws {
    try browse { world, time in
      time.advance(by: .seconds(1))
      world.forgetSent()
      world.whileStopped = { [unowned world] in
        time.schedule {
          #expect(!time.terminal.isRaw)
          world.browser.end()
        }
        return false
      }
      world.press("\u{1A}")
      time.advance(by: .seconds(1))
      #expect(world.isOver && world.stops == 1)
      #expect(world.text.components(separatedBy: "\u{1B}[?1049l").count == 2)
    }
  }

  @Test func `Ctrl-Z waits until a slow terminal has taken the frame`() throws {
    try browse { world, time in
      time.advance(by: .seconds(1))
      world.slowness = .milliseconds(300)
      world.press("l\u{1A}\u{1A}")
      #expect(world.stops == 0)
      time.advance(by: .seconds(2))
      #expect(world.stops == 1)
      #expect(world.browser.state.selected == 1)
      world.press("l")
      time.advance(by: .seconds(2))
      #expect(world.browser.state.selected == 2)
    }
  }

  @Test func `Ctrl-C ends browse, and so does the loss of the terminal`() throws {
    try browse { world, time in
      time.advance(by: .seconds(1))
      world.press("\u{3}")
      #expect(world.isOver)
    }
  }

  @Test func `if the terminal doesn't reply within a second, images are shown as characters`() throws {
    try browse(answer: "") { world, time in
      time.advance(by: .milliseconds(900))
      #expect(!world.screen.contains("⣿") && world.screen.contains("Image 1"))
      time.advance(by: .seconds(1))
      #expect(world.screen.contains("⣿"))
    }
  }

  @Test func `a terminal's replies without a usable value don't count as keys`() throws {
    try browse(answer: "\u{1B}[6;0;0t\u{1B}[?1;3;0S\u{1B}P0$r\u{1B}\\\u{1B}[?62;22c") { world, time in
      time.advance(by: .seconds(1))
      #expect(world.browser.state.abilities?.hasAnswered == true)
      #expect(!world.browser.state.isTouched)
    }
  }

  @Test func `a feed that can't be loaded shows the reason`() throws {
    try browse { world, time in
      world.network.disconnect()
      time.advance(by: .seconds(2))
      #expect(world.screen.contains("the connection to a.example"))
      #expect(world.screen.contains("nothing to show"))
    }
  }

  @Test func `a small screen shows only the status, the images and the selected caption`() throws {
    try browse(TerminalSize(columns: 40, rows: 12)) { world, time in
      time.advance(by: .seconds(1))
      #expect(
        world.screen == """
           A blog · server, just now         1/8+
          ┏━━━━━━━━━━━━━━━━━━┓
          ┃                  ┃
          ┃                  ┃
          ┃                  ┃
          ┃                  ┃
          ┃                  ┃
          ┃      ⣿⣿⣿⣿⣿⣿      ┃       ⣿⣿⣿⣿⣿⣿
          ┃      ⣿⣿⣿⣿⣿⣿      ┃       ⣿⣿⣿⣿⣿⣿
          ┃     Image 1      ┃      Image 2
          ┗━━━━━━━━━━━━━━━━━━┛
          Enter enlarge  ? help  q quit
          """)
    }
  }
}

/// The history, the stars, and the filter of `feed browse`, as changes of a value.
@Suite(.settled) struct BrowseHistoryTests {
  private let now = Date(timeIntervalSince1970: 1_760_000_000)
  private let feed = URL(string: "http://a.example/feed.json")!

  private func image(_ number: Int) -> FeedImage {
    FeedImage(
      id: .init(name: "\(number)", in: feed), url: URL(string: "http://a.example/\(number).gif")!,
      post: .init(title: "Image \(number)", link: URL(string: "http://a.example/post/\(number)")))
  }

  private func seen(_ number: Int, isStarred: Bool = false) -> SeenImage {
    SeenImage(address: feed, feedTitle: "A blog", image: image(number), firstSeen: now, isStarred: isStarred)
  }

  private func state(hasHistory: Bool = true) -> (BrowseState, [BrowseAction]) {
    var state = BrowseState([(feed, "")], hasHistory: hasHistory, size: TerminalSize(columns: 60, rows: 16), now: now)
    let page = Feed(images: FeedImages([image(1), image(2)]), source: .remote)
    _ = state.take(.page(feed, page))
    let actions = state.take(.ended(feed))
    return (state, actions)
  }

  private func drawing(_ columns: Int, _ rows: Int) -> Drawing {
    let bitmap = Bitmap(width: columns, height: rows, rgba: Array(repeating: 255, count: columns * rows * 4))
    return Drawing(bitmap, columns: columns, rows: rows, mode: .kitty, cell: CellSize(width: 1, height: 1))
  }

  private func titles(_ state: BrowseState) -> [String?] { state.timeline.map(\.image.title) }

  @Test func `after the last page, browse shows the feed's history, if there is one`() {
    var (state, actions) = state()
    #expect(actions == [.kept(feed, after: nil)])
    #expect(state.take(.kept(feed, SeenPage(images: [seen(3), seen(2)]))) == [])
    #expect(titles(state) == ["Image 1", "Image 2", "Image 3"])
    (state, actions) = self.state(hasHistory: false)
    #expect(actions == [])
  }

  @Test func `a feed's former items keep the network that they are from`() {
    var (state, _) = state()
    var (former, found) = (seen(3), seen(1))
    (former.isFromPrivateNetwork, found.isFromPrivateNetwork) = (false, true)
    _ = state.take(.kept(feed, SeenPage(images: [former])))
    #expect(titles(state) == ["Image 1", "Image 2", "Image 3"])
    #expect(state.timeline.map(\.isFromPrivateNetwork) == [nil, nil, false])
    _ = state.take(.key(.character("/")))
    guard case .find(let filter)? = state.take(.key(.character("i"))).first else {
      Issue.record("no search")
      return
    }
    _ = state.take(.found(filter, SeenPage(images: [former, found])))
    #expect(state.timeline.map(\.isFromPrivateNetwork) == [false, true])
  }

  @Test func `if a feed's history can't be read, browse doesn't wait for it`() {
    var (state, _) = state()
    #expect(state.isLoading)
    #expect(state.take(.unkept(feed)) == [])
    #expect(!state.isLoading && titles(state) == ["Image 1", "Image 2"])
    _ = state.take(.key(.character("r")))
    _ = state.take(.page(feed, Feed(images: FeedImages([image(1)]), source: .remote)))
    #expect(state.take(.ended(feed)) == [.kept(feed, after: nil)], "a refresh tries again")
  }

  @Test func `a refresh reads the history again, and shows items that have left the feed`() {
    var (state, _) = state()
    _ = state.take(.kept(feed, SeenPage(images: [seen(3)])))
    #expect(titles(state) == ["Image 1", "Image 2", "Image 3"])
    _ = state.take(.key(.character("r")))
    _ = state.take(.kept(feed, SeenPage(images: [seen(9)])))
    _ = state.take(.page(feed, Feed(images: FeedImages([image(4), image(1)]), source: .remote)))
    #expect(titles(state) == ["Image 4", "Image 1", "Image 3"], "a page that was requested before is ignored")
    #expect(state.take(.ended(feed)) == [.kept(feed, after: nil)])
    _ = state.take(.kept(feed, SeenPage(images: [seen(2), seen(3)])))
    #expect(titles(state) == ["Image 4", "Image 1", "Image 2", "Image 3"])
  }

  @Test func `after a refresh, former items above the selected one are read even far from the end`() {
    var (state, _) = state()
    _ = state.take(.kept(feed, SeenPage(images: (100...200).map { seen($0) })))
    _ = state.take(.key(.character("r")))
    let page = Feed(images: FeedImages([image(3), image(1)]), source: .remote)
    #expect(state.take(.page(feed, page)) == [.kept(feed, after: nil)])
    _ = state.take(.kept(feed, SeenPage(images: [seen(2)])))
    #expect(titles(state).prefix(4) == ["Image 3", "Image 1", "Image 2", "Image 100"])
  }

  @Test func `after a refresh, the history is read up to the first known item`() throws {
    var (state, _) = state()
    _ = state.take(.kept(feed, SeenPage(images: (100...200).map { seen($0) })))
    _ = state.take(.key(.character("r")))
    #expect(state.take(.page(feed, Feed(images: FeedImages([image(1)]), source: .remote))) == [.kept(feed, after: nil)])
    let places = try ["2.2", "1.1"].map { try #require(SeenPage.Place($0)) }
    #expect(
      state.take(.kept(feed, SeenPage(images: [seen(2), seen(3)], next: places[0])))
        == [.kept(feed, after: places[0])])
    #expect(state.take(.kept(feed, SeenPage(images: [seen(4), seen(100)], next: places[1]))) == [])
    #expect(titles(state).prefix(6) == ["Image 1", "Image 2", "Image 3", "Image 4", "Image 100", "Image 101"])
  }

  @Test func `End selects the last image and Home the first, even within one row`() {
    var (state, _) = state()
    let cases: [(TerminalKey, Int)] = [(.end, 1), (.up, 1), (.home, 0), (.down, 0), (.character("G"), 1)]
    for (key, index) in cases {
      _ = state.take(.key(key))
      #expect(state.selected == index, "\(key)")
    }
  }

  @Test func `all keys fit on a help screen of 16 rows`() {
    var (state, _) = state()
    _ = state.take(.key(.character("?")))
    #expect(BrowseScreen.grid(of: state).plainText.joined().contains("click, wheel"))
  }

  @Test func `drawn images take up to six screens, even enlarged ones`() {
    var state = BrowseState([(feed, "")], size: TerminalSize(columns: 160, rows: 48), now: now)
    _ = state.take(.page(feed, Feed(images: FeedImages((1...40).map(image)), source: .remote)))
    _ = state.take(.abilities(TerminalAbilities(environment: ["TERM": "xterm-256color"])))
    _ = state.take(.key(.enter))
    let drawing = drawing(160, 42)
    var most = 0
    for _ in 0..<39 {
      for key in state.wanted where state.drawings[key] == nil { _ = state.take(.image(key, .success(drawing))) }
      #expect(state.wanted.allSatisfy { state.drawings[$0] != nil })
      most = max(most, state.drawings.count)
      _ = state.take(.key(.down))
    }
    #expect(state.selected == 39 && most == 6)
  }

  @Test func `Esc shows the grid at once, however many images were enlarged`() {
    var state = BrowseState([(feed, "")], size: TerminalSize(columns: 160, rows: 48), now: now)
    _ = state.take(.page(feed, Feed(images: FeedImages((1...80).map(image)), source: .remote)))
    _ = state.take(.abilities(TerminalAbilities(environment: ["TERM": "xterm-256color"])))
    func draw() {
      for key in state.wanted where state.drawings[key] == nil {
        _ = state.take(.image(key, .success(drawing(key.box.columns, key.box.rows))))
      }
    }
    draw()
    _ = state.take(.key(.enter))
    for _ in 0..<8 {
      draw()
      _ = state.take(.key(.right))
    }
    _ = state.take(.key(.escape))
    #expect(state.view == .grid && state.selected == 8 && state.wanted.count == 2 * state.layout.perScreen)
    #expect(state.wanted.allSatisfy { state.drawings[$0] != nil })
  }

  @Test func `a star that can't be saved isn't shown`() {
    var (state, _) = state()
    _ = state.take(.key(.character("*")))
    #expect(state.isStarred(state.timeline[0]))
    _ = state.take(.starred(false, image(1).id, of: feed))
    #expect(!state.isStarred(state.timeline[0]))
  }

  @Test func `a history that can't be read or written is reported for each request`() async throws {
    try await withFolder { folder in
      withVirtualTime { time in
        // A folder is not a cache file.
        let store = SQLiteFeedStore(path: folder.path)
        let history = BrowsedHistory(FeedHistory(store: store, cache: FeedCache(store: store, on: time)))
        var said: [String] = []
        history.post = { event in
          switch event {
          case .unkept: said.append("unkept")
          case .starred(let isStarred, _, _): said.append("starred: \(isStarred)")
          case .message: break
          default: said.append("\(event)")
          }
        }
        history.read(feed, after: nil)
        history.star(true, image(1).id, of: feed)
        time.advance(by: .seconds(1))
        #expect(said == ["unkept", "starred: false"])
        history.star(true, image(1).id, of: feed)
        history.star(false, image(1).id, of: feed)
        time.advance(by: .seconds(1))
        #expect(said.count == 2, "the item has no star, as shown after the second change")
      }
    }
  }

  @Test func `a search that fails has no results`() async throws {
    try await withFolder { folder in
      withVirtualTime { time in
        // A folder is not a cache file.
        let store = SQLiteFeedStore(path: folder.path)
        let history = BrowsedHistory(FeedHistory(store: store, cache: FeedCache(store: store, on: time)))
        var (found, messages): (SeenPage?, Int) = (nil, 0)
        history.post = { event in
          switch event {
          case .found(_, let page): found = page
          case .message: messages += 1
          default: break
          }
        }
        history.find(BrowseState.Filter(words: "sea"), in: [feed])
        time.advance(by: .seconds(1))
        #expect(found == SeenPage(images: []) && messages == 1)
      }
    }
  }

  @Test func `a report about a feed that was just shown doesn't remove the marks of its new items`() async throws {
    try await withFolder { folder in
      try withVirtualTime { time in
        let store = SQLiteFeedStore(path: folder.appendingPathComponent("feeds.db").path)
        try store.changeShownImages(for: feed) { $0 = ShownImages(FeedImages([image(1)])) }
        let history = BrowsedHistory(FeedHistory(store: store, cache: FeedCache(store: store, on: time)))
        var new: Set<FeedImage.ID> = []
        history.post = { if case .marks(_, let ids, _) = $0 { new.formUnion(ids) } }
        let images = FeedImages([image(1), image(2)])
        history.visit(images, of: feed)
        history.visit(images, of: feed)
        time.advance(by: .seconds(1))
        #expect(new == [image(2).id])
        store.close()
      }
    }
  }

  @Test func `a star that is set while the stars are read stays`() async throws {
    try await withFolder { folder in
      try withVirtualTime { time in
        let store = SQLiteFeedStore(path: folder.appendingPathComponent("feeds.db").path)
        let images = FeedImages([image(1), image(2)])
        _ = try store.replace(for: feed, with: CachedFeed(images: images, timestamp: now), now: now)
        #expect(try store.setStar(true, image(2).id, of: feed, now: now))
        let history = BrowsedHistory(FeedHistory(store: store, cache: FeedCache(store: store, on: time)))
        var marks: [Set<FeedImage.ID>] = []
        history.post = { if case .marks(_, _, let stars) = $0 { marks.append(stars) } }
        for _ in 0..<2 {
          history.visit(images, of: feed)
          history.star(true, image(1).id, of: feed)
          history.star(false, image(2).id, of: feed)
          time.advance(by: .seconds(1))
        }
        #expect(marks == [[image(1).id], [image(1).id]])
        store.close()
      }
    }
  }

  @Test func `a star that was set before browse ends is saved`() async throws {
    try await withFolder { folder in
      try withVirtualTime { time in
        let store = SQLiteFeedStore(path: folder.appendingPathComponent("feeds.db").path)
        let saved = CachedFeed(images: FeedImages([image(1)]), timestamp: now)
        _ = try store.replace(for: feed, with: saved, now: now)
        let history = BrowsedHistory(FeedHistory(store: store, cache: FeedCache(store: store, on: time)))
        // The worker is busy.
        history.read(feed, after: nil)
        history.star(true, image(1).id, of: feed)
        history.cancel()
        time.advance(by: .seconds(1))
        #expect(try store.stars(of: feed) == [image(1).id])
        store.close()
      }
    }
  }

  /// A state with a post of three images, and a post of one.
  private func several(link: URL? = nil) -> BrowseState {
    var state = BrowseState([(feed, "")], size: TerminalSize(columns: 60, rows: 16), now: now)
    let images = (1...3).map { FeedImage.Post.Image(url: "http://a.example/\($0).gif", alt: "Part \($0)") }
    let post = FeedImage(
      id: .init(name: "1", in: feed), url: URL(string: "http://a.example/1.gif")!,
      post: .init(title: "Three", link: link, images: images))
    _ = state.take(.page(feed, Feed(images: FeedImages([post, image(4)]), source: .remote)))
    _ = state.take(.abilities(TerminalAbilities(environment: ["TERM": "xterm-256color"])))
    return state
  }

  private func screen(_ state: BrowseState) -> String { BrowseScreen.grid(of: state).plainText.joined(separator: "\n") }

  @Test func `each image of a post is shown, in order, with its alternative text`() {
    var state = several()
    #expect(screen(state).contains("1/3 Three"))
    _ = state.take(.key(.enter))
    var seen: [String] = []
    for _ in 0..<4 {
      seen.append(state.currentURL?.lastPathComponent ?? "")
      #expect(state.wanted.first?.url == state.currentURL)
      if seen.count == 2 { #expect(screen(state).contains("2/3 Three") && screen(state).contains("Part 2")) }
      _ = state.take(.key(.right))
    }
    #expect(seen == ["1.gif", "2.gif", "3.gif", "4.gif"])
    _ = state.take(.key(.left))
    #expect(state.currentURL?.lastPathComponent == "3.gif", "and back, to the last of the post")
    _ = state.take(.key(.up))
    _ = state.take(.key(.escape))
    #expect(state.view == .grid && state.part == 0)
  }

  @Test func `of a post without a link, the image that is shown is opened and copied`() throws {
    var state = several()
    _ = state.take(.key(.enter))
    _ = state.take(.key(.right))
    let url = try #require(URL(string: "http://a.example/2.gif"))
    #expect(state.take(.key(.character("o"))) == [.open(url)])
    #expect(state.take(.key(.character("c"))) == [.copy("http://a.example/2.gif")])
    #expect(screen(state).contains("http://a.example/2.gif"))
    _ = state.take(.key(.character("?")))
    #expect(state.wanted.first?.url == url)
  }

  @Test func `the enlarged view shows the link that is opened and copied, even if it is the post's first image`() throws
  {
    let url = try #require(URL(string: "http://a.example/1.gif"))
    var state = several(link: url)
    _ = state.take(.key(.enter))
    _ = state.take(.key(.right))
    #expect(state.currentURL?.lastPathComponent == "2.gif")
    #expect(state.take(.key(.character("o"))) == [.open(url)])
    #expect(state.take(.key(.character("c"))) == [.copy("http://a.example/1.gif")])
    #expect(screen(state).contains("http://a.example/1.gif"))
  }

  @Test func `an enlarged image can be zoomed, moved and shown whole again`() throws {
    var state = several()
    _ = state.take(.key(.enter))
    let whole = try #require(state.imageBox)
    for key in [TerminalKey.character("+"), .character("+"), .right, .down] { _ = state.take(.key(key)) }
    let near = try #require(state.imageBox)
    #expect(near.wantedPixels.width == 4 * whole.wantedPixels.width && (near.near.x, near.near.y) == (1, 1))
    #expect(state.currentURL?.lastPathComponent == "1.gif", "arrows do not leave it")
    for _ in 0..<20 { _ = state.take(.key(.right)) }
    #expect(state.near.x == 6, "no further than it reaches")
    _ = state.take(.key(.character("-")))
    #expect(state.near.scale == 2 && state.near.x <= 2)
    _ = state.take(.key(.character("0")))
    #expect(state.imageBox == whole)
    let bitmap = Bitmap(width: 8, height: 2, rgba: (0..<64).map { UInt8($0) })
    #expect(bitmap.part(width: 4, height: 4, x: 100, y: 0).rgba.prefix(4) == [16, 17, 18, 19])
  }

  @Test func `the arrows and the wheel move a zoomed image only if it is larger than the screen`() throws {
    let wheel = BrowseEvent.mouse(TerminalMouse(.wheelDown, column: 1, row: 5), at: StreamInstant(nanoseconds: 0))
    for event in [BrowseEvent.key(.right), wheel] {
      for result in [Result.success(drawing(20, 4)), .failure(NoImage(reason: "not an image"))] {
        var state = several()
        _ = state.take(.key(.enter))
        _ = state.take(.image(try #require(state.wanted.first), result))
        _ = state.take(.key(.character("+")))
        _ = state.take(event)
        #expect(state.currentURL?.lastPathComponent == "2.gif" && !state.near.isNear, "it shows the next image")
      }
    }
    var state = several()
    _ = state.take(.key(.enter))
    #expect(state.layout.single == (60, 10))
    _ = state.take(.image(try #require(state.wanted.first), .success(drawing(20, 4))))
    for _ in 0..<2 { _ = state.take(.key(.character("+"))) }
    for key in [TerminalKey.right, .down] { for _ in 0..<9 { _ = state.take(.key(key)) } }
    #expect((state.near.x, state.near.y) == (1, 2), "an image of 80 × 16 moves up to its edges")
    #expect(state.currentURL?.lastPathComponent == "1.gif")
    _ = state.take(.key(.character("+")))
    for _ in 0..<9 { _ = state.take(.key(.right)) }
    #expect(state.near.x == 4, "an image of 160 × 32")
    _ = state.take(.key(.character("-")))
    _ = state.take(.key(.left))
    #expect(state.near.x == 0, "after zooming out, one press moves it")
  }

  @Test func `Page Down keeps one row visible, and the first image is selected until a key is pressed`() {
    var state = BrowseState([(feed, "")], size: TerminalSize(columns: 60, rows: 40), now: now)
    _ = state.take(.page(feed, Feed(images: FeedImages((1...60).map(image)), source: .remote)))
    #expect(state.selected == 0)
    let (across, down) = (state.layout.across, state.layout.down)
    _ = state.take(.key(.pageDown))
    #expect((state.top, state.selected) == (down - 1, (down - 1) * across))
    _ = state.take(.key(.pageDown))
    #expect((state.top, state.selected) == (2 * (down - 1), 2 * (down - 1) * across))
    _ = state.take(.key(.pageUp))
    #expect((state.top, state.selected) == (down - 1, (down - 1) * across))
    for _ in 0..<40 { _ = state.take(.key(.pageDown)) }
    #expect(state.selected == 59)
  }

  @Test func `a slideshow continues until a key is pressed`() {
    var state = several()
    _ = state.take(.key(.character("s")))
    #expect(state.view == .single && state.message.hasPrefix("Slideshow"))
    var seen: [String] = []
    for _ in 0..<5 {
      seen.append(state.currentURL?.lastPathComponent ?? "")
      _ = state.take(.nextOfShow)
    }
    #expect(seen == ["1.gif", "2.gif", "3.gif", "4.gif", "1.gif"])
    _ = state.take(.key(.character("s")))
    _ = state.take(.nextOfShow)
    #expect(!state.isShow && state.currentURL?.lastPathComponent == "2.gif")
  }

  @Test func `Tab shows the next feed, and d saves the shown image under a safe, unused name`() async throws {
    var state = several()
    _ = state.take(.key(.enter))
    _ = state.take(.key(.right))
    #expect(
      state.take(.key(.character("d"))) == [
        .save(URL(string: "http://a.example/2.gif")!, of: feed, isPrivate: nil)
      ])
    _ = state.take(.key(.escape))
    _ = state.take(.key(.tab))
    #expect(state.filter.feed == feed)
    try await withFolder { folder in
      let image = try ImageData(Data("GIF89a".utf8))
      let url = try #require(URL(string: "http://a.example/x/..%2F..%2Fetc%2Fpass%20wd.php?q=1"))
      let names = try (0..<2).map { _ in try SavedFile.write(image, named: url, in: folder.path) }
      #expect(names == ["etc-pass-wd.gif", "etc-pass-wd-2.gif"] || names == ["pass-wd.gif", "pass-wd-2.gif"])
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names.sorted())
      let error = #expect(throws: NoImage.self) { try SavedFile.write(image, named: url, in: folder.path + "/none") }
      #expect(error?.reason.hasPrefix("cannot write to \(folder.path)/none: ") == true)
    }
  }

  @Test func `images that are new since the last visit and starred images are marked`() {
    var (state, _) = state()
    let ids = [image(1).id, image(2).id]
    _ = state.take(.marks(feed, new: [ids[0]], stars: [ids[1]]))
    let screen = BrowseScreen.grid(of: state).plainText.joined(separator: "\n")
    #expect(screen.contains(" ● Image 1 ") && screen.contains(" ★ Image 2"))
    #expect(
      state.take(.key(.character("*"))) == [
        .star(true, ids[0], feed), .keep(image(1).url, of: feed, isPrivate: nil),
      ])
    #expect(state.take(.key(.character("*"))).first == .star(false, ids[0], feed))
    _ = state.take(.key(.character("n")))
    #expect(titles(state) == ["Image 1"])
    _ = state.take(.key(.escape))
    #expect(titles(state).count == 2)
  }

  @Test func `folders are shown one after another, each with its subfolders, and then all feeds`() throws {
    let feeds = try (1...3).map { try #require(URL(string: "http://a.example/\($0)")) }
    var state = BrowseState(
      feeds.map { ($0, "") }, in: [feeds[0]: ["Sea", "Ships"], feeds[1]: ["Sea"]],
      size: TerminalSize(columns: 60, rows: 16), now: now)
    for (number, feed) in feeds.enumerated() {
      _ = state.take(.page(feed, Feed(images: FeedImages([image(number)]), source: .remote)))
      _ = state.take(.ended(feed))
    }
    func press(_ key: Character) -> [String?] {
      _ = state.take(.key(.character(key)))
      return titles(state).sorted { ($0 ?? "") < ($1 ?? "") }
    }
    #expect(press("F") == ["Image 0", "Image 1"] && state.filterWords == "Sea")
    #expect(state.filter.query(in: feeds).feeds == [feeds[0], feeds[1]])
    #expect(press("f") == ["Image 0"] && press("f") == ["Image 1"] && press("f") == ["Image 0", "Image 1"])
    #expect(press("F") == ["Image 0"] && state.filterWords == "Sea / Ships")
    #expect(press("F") == ["Image 0", "Image 1", "Image 2"] && state.filterWords == nil)
    #expect(state.filter.query(in: feeds).feeds == feeds, "other feeds of the cache file are not searched")
    var (flat, _) = self.state()
    _ = flat.take(.key(.character("F")))
    #expect(
      flat.message == "None of these feeds are in a folder of your list; see \"feed subscriptions move --folder\".")
  }

  @Test func `a browser that opens late doesn't replace a later message, but a failure does`() {
    var (state, _) = state()
    _ = state.take(.key(.character("o")))
    _ = state.take(.message(BrowseState.opened))
    #expect(state.message == BrowseState.opened)
    _ = state.take(.key(.character("o")))
    _ = state.take(.key(.character("r")))
    _ = state.take(.message(BrowseState.opened))
    #expect(state.message == BrowseState.reloading)
    _ = state.take(.page(feed, Feed(images: FeedImages([image(1), image(2)]), source: .remote)))
    #expect(state.message == "Nothing new.")
    _ = state.take(.message("xdg-open isn't installed."))
    #expect(state.message == "xdg-open isn't installed.")
  }

  @Test func `a search can be limited to new items`() {
    var (state, _) = state()
    _ = state.take(.marks(feed, new: [image(1).id], stars: []))
    _ = state.take(.key(.character("n")))
    _ = state.take(.key(.character("/")))
    guard case .find(let filter)? = state.take(.key(.character("i"))).first else {
      Issue.record("no search")
      return
    }
    _ = state.take(.found(filter, SeenPage(images: [seen(1), seen(2)])))
    #expect(titles(state) == ["Image 1"])
    _ = state.take(.marks(feed, new: [image(2).id], stars: []))
    #expect(titles(state) == ["Image 1", "Image 2"])
  }

  @Test func `until a search has results, browse doesn't report that there are none`() {
    var (state, _) = state()
    _ = state.take(.kept(feed, SeenPage(images: [])))
    _ = state.take(.key(.character("/")))
    guard case .find(let filter)? = state.take(.key(.character("i"))).first else {
      Issue.record("no search")
      return
    }
    #expect(screen(state).contains("Searching…") && !screen(state).contains("No matches"))
    _ = state.take(.found(filter, SeenPage(images: [])))
    #expect(screen(state).contains("No matches"))
  }

  @Test func `search results have the names of their feeds in the list`() {
    var state = BrowseState([(feed, "My list")], hasHistory: true, size: TerminalSize(columns: 60, rows: 16), now: now)
    _ = state.take(.page(feed, Feed(images: FeedImages([image(1)]), source: .remote)))
    guard case .find(let filter)? = state.take(.key(.character("S"))).first else {
      Issue.record("no search")
      return
    }
    _ = state.take(.found(filter, SeenPage(images: [seen(1, isStarred: true)])))
    #expect(state.current?.name == "My list")
  }

  @Test func `search runs as you type, and only the latest results are shown`() {
    var (state, _) = state()
    #expect(state.take(.key(.character("/"))) == [])
    let first = state.take(.key(.character("q")))
    let second = state.take(.key(.character("u")))
    guard case .find(let early)? = first.first, case .find(let late)? = second.first else {
      Issue.record("\(first) \(second)")
      return
    }
    #expect(late.words == "qu" && late.query(in: []).isTyping)
    _ = state.take(.found(late, SeenPage(images: [seen(7, isStarred: true)])))
    _ = state.take(.found(early, SeenPage(images: [])))
    #expect(titles(state) == ["Image 7"])
    #expect(BrowseScreen.grid(of: state).plainText[0].contains("/qu▏"))
    _ = state.take(.key(.enter))
    #expect(state.take(.key(.character("o"))) == [.open(URL(string: "http://a.example/post/7")!)])
    #expect(state.take(.key(.character("O"))) == [.open(URL(string: "http://a.example/post/7")!)])
    _ = state.take(.key(.escape))
    #expect(titles(state) == ["Image 1", "Image 2"])
  }

  @Test func `images are loaded again when the feed comes from its server, lasting failures only after an outage`()
    throws
  {
    var state = several()
    let (keys, images) = (state.wanted, try #require(state.sources[0].feed).images)
    func fail() {
      _ = state.take(.image(keys[0], .failure(NoImage(reason: "unreachable", isPassing: true))))
      _ = state.take(.image(keys[1], .failure(NoImage(reason: "a web page, not an image"))))
    }
    fail()
    let failure = RemoteFeedError.connectivity(HTTPError(.connect, host: "a.example"))
    let saved = Feed(images: images, source: .cache(savedAt: now, age: .zero, reason: failure))
    _ = state.take(.update(feed, saved))
    #expect(state.drawings[keys[0]] != nil)
    _ = state.take(.update(feed, Feed(images: images, source: .remote)))
    #expect(state.drawings[keys[0]] == nil && state.drawings[keys[1]] == nil)
    fail()
    _ = state.take(.update(feed, Feed(images: images, source: .remote)))
    #expect(state.drawings[keys[0]] == nil && state.drawings[keys[1]] != nil)
  }

  @Test func `an image that couldn't be loaded is loaded again for the grid after it was enlarged`() throws {
    var state = several()
    let small = try #require(state.wanted.first)
    _ = state.take(.image(small, .failure(NoImage(reason: "status 404"))))
    _ = state.take(.key(.enter))
    _ = state.take(.image(try #require(state.wanted.first), .success(drawing(20, 4))))
    _ = state.take(.key(.escape))
    #expect(state.wanted.first == small && state.drawings[small] == nil)
  }

  @Test func `a frame shows a short reason, and the enlarged view the whole one`() throws {
    let error = HTTPError(.connect, host: "a.example", cause: "connection refused")
    let reason = NoImage(ImageError(remote: .connectivity(error)))
    #expect(reason == NoImage(reason: "unreachable", details: "\(error)", isPassing: true))
    var state = several()
    _ = state.take(.image(try #require(state.wanted.first), .failure(reason)))
    #expect(screen(state).contains("unreachable") && !screen(state).contains("refused"))
    _ = state.take(.key(.enter))
    _ = state.take(.image(try #require(state.wanted.first), .failure(reason)))
    #expect(screen(state).contains("refused"))
  }

  @Test func `a reload reports how many images are new, or that it failed`() {
    var (state, _) = state(hasHistory: false)
    func reload(_ event: BrowseEvent) -> String {
      _ = state.take(.key(.character("r")))
      #expect(state.message == "Reloading…")
      _ = state.take(event)
      return state.message
    }
    func page(_ numbers: [Int], from source: LoadSource = .remote) -> BrowseEvent {
      .page(feed, Feed(images: FeedImages(numbers.map(image)), source: source))
    }
    let failure = RemoteFeedError.connectivity(HTTPError(.connect, host: "a.example"))
    #expect(reload(page([1, 2])) == "Nothing new.")
    #expect(reload(page([3, 1, 2])) == "1 new image.")
    let saved = page([3, 1, 2], from: .cache(savedAt: now, age: .zero, reason: failure))
    #expect(reload(saved) == "The feed couldn't be reloaded (press i).")
    #expect(reload(.failed(feed, "unreachable")) == "The feed couldn't be reloaded (press i).")
    _ = state.take(.key(.left))
    _ = state.take(page([4, 3]))
    #expect(state.message == "", "the user isn't waiting for it")
  }

  @Test func `the last line shows the keys that work in the current view`() {
    var state = several()
    #expect(screen(state).contains("Enter enlarge"))
    _ = state.take(.key(.enter))
    #expect(screen(state).contains("Esc back") && !screen(state).contains("Enter enlarge"))
    _ = state.take(.key(.character("?")))
    #expect(screen(state).contains("Any key: back"))
    _ = state.take(.key(.escape))
    _ = state.take(.key(.character("/")))
    #expect(screen(state).contains("Enter keep the matches  Esc cancel") && !screen(state).contains("q quit"))
  }

  @Test func `an empty list says what is missing`() {
    var (state, _) = state(hasHistory: false)
    _ = state.take(.key(.character("n")))
    #expect(screen(state).contains("No new images. Esc shows all."))
    _ = state.take(.key(.escape))
    _ = state.take(.key(.character("S")))
    #expect(screen(state).contains("No starred images. Esc shows all."))
  }

  @Test func `the help fits on a screen of 80 columns`() {
    var state = BrowseState([(feed, "")], size: TerminalSize(columns: 80, rows: 24), now: now)
    _ = state.take(.key(.character("?")))
    for line in BrowseState.keys { #expect(screen(state).contains(line.keys) && screen(state).contains(line.meaning)) }
  }

  @Test func `only an enlarged image that is made of characters fills the screen`() {
    var state = several()
    #expect(state.imageBox?.isEnlarged == false)
    _ = state.take(.key(.enter))
    #expect(state.imageBox?.isEnlarged == true)
    state.abilities?.kitty = true
    #expect(state.imageBox?.isEnlarged == false)
  }

  @Test func `the title tells how many feeds are from the cache, and how many failed`() throws {
    let feeds = try (1...3).map { try #require(URL(string: "http://a.example/\($0)")) }
    func title(_ sources: [LoadSource?]) -> String {
      var state = BrowseState(feeds.map { ($0, "") }, size: TerminalSize(columns: 80, rows: 16), now: now)
      for (feed, source) in zip(feeds, sources) {
        if let source { _ = state.take(.page(feed, Feed(images: FeedImages([image(1)]), source: source))) }
        _ = state.take(source == nil ? .failed(feed, "unreachable") : .ended(feed))
      }
      return BrowseScreen.grid(of: state).plainText[0]
    }
    let saved = LoadSource.cache(savedAt: now, age: .zero, reason: .notAsked)
    #expect(title([saved, saved, saved]).contains("3 feeds · from the cache (press i)"))
    #expect(title([.remote, saved, nil]).contains("3 feeds · 1 from the cache, 1 failed (press i)"))
    #expect(title([nil, nil, nil]).contains("3 feeds · failed (press i)"))
    #expect(title([.remote, .remote, .remote]).contains("3 feeds · from their servers"))
  }
}
