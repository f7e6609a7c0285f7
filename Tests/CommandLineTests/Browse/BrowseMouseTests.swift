import FeedStream
import Foundation
import ImageFeed
import TerminalImages
import TestSupport
import Testing

@testable import feed

/// Mouse events, the frame around the selection, and feeds that arrive while the user browses, as changes of a value.
@Suite(.settled) struct BrowseMouseTests {
  private let now = Date(timeIntervalSince1970: 1_760_000_000)
  private let feed = URL(string: "http://a.example/feed.json")!
  private let start = StreamInstant(nanoseconds: 1_000_000_000)

  private func image(_ number: Int) -> FeedImage {
    FeedImage(
      id: .init(name: "\(number)", in: feed), url: URL(string: "http://a.example/\(number).gif")!,
      post: .init(title: "Image \(number)"))
  }

  private func images(_ numbers: some Sequence<Int>) -> FeedImages { FeedImages(numbers.map(image)) }

  /// Two rows of three images.
  private func state(_ count: Int = 30) -> BrowseState {
    var state = BrowseState([(feed, "")], size: TerminalSize(columns: 90, rows: 30), now: now)
    _ = state.take(.page(feed, Feed(images: images(1...count), source: .remote)))
    _ = state.take(.ended(feed))
    _ = state.take(.abilities(TerminalAbilities(environment: ["TERM": "xterm-256color"])))
    return state
  }

  private func lines(_ state: BrowseState) -> [String] { BrowseScreen.grid(of: state).plainText }

  /// A click in the middle of the image at a place on the screen.
  private func click(_ state: inout BrowseState, _ place: Int, after milliseconds: Int = 0) {
    let (row, column) = state.layout.corner(of: place)
    let (columns, rows) = state.layout.tile
    let instant = start.advanced(by: Duration.milliseconds(milliseconds))
    let mouse = TerminalMouse(.press(0), column: column + columns / 2, row: row + rows / 2)
    _ = state.take(.mouse(mouse, at: instant))
    _ = state.take(.mouse(TerminalMouse(.release(0), column: mouse.column, row: mouse.row), at: instant))
  }

  @Test func `a click selects an image, and another one enlarges it`() {
    var state = state()
    #expect((state.layout.across, state.layout.down) == (3, 2))
    click(&state, 4)
    #expect(state.selected == 4 && state.view == .grid)
    click(&state, 4, after: 2000)
    #expect(state.view == .single)
    click(&state, 4, after: 5000)
    #expect(state.view == .grid && state.selected == 4)
  }

  @Test func `a double click enlarges an image, whatever was selected before`() {
    for place in [0, 3] {
      var state = state()
      click(&state, place)
      click(&state, place, after: 200)
      #expect(state.view == .single && state.selected == place, "\(place)")
    }
  }

  @Test func `a click next to the images, with another button or under the help keeps the selection`() {
    var state = state(4)
    click(&state, 5)
    _ = state.take(.mouse(TerminalMouse(.press(0), column: 3, row: 0), at: start))
    _ = state.take(.mouse(TerminalMouse(.press(2), column: 40, row: 5), at: start))
    _ = state.take(.mouse(TerminalMouse(.press(0), column: 500, row: 500), at: start))
    #expect(state.selected == 0 && state.view == .grid)
    _ = state.take(.key(.character("?")))
    click(&state, 2, after: 1000)
    #expect(state.view == .grid && state.selected == 0, "it leaves the help")
  }

  @Test func `the wheel scrolls by rows up to either end, and the selection stays while it is visible`() {
    var state = state()
    click(&state, 4)
    func wheel(_ action: TerminalMouse.Action) -> [Int] {
      _ = state.take(.mouse(TerminalMouse(action, column: 1, row: 5), at: start))
      return [state.top, state.selected]
    }
    #expect(wheel(.wheelDown) == [1, 4])
    #expect(wheel(.wheelDown) == [2, 7], "the same column, in the row that is seen")
    for _ in 0..<20 { _ = wheel(.wheelDown) }
    #expect(state.top == 8 && state.selected == 25)
    for _ in 0..<20 { _ = wheel(.wheelUp) }
    #expect(state.top == 0 && state.selected == 4)
    _ = state.take(.key(.enter))
    _ = wheel(.wheelDown)
    #expect(state.selected == 5 && state.view == .single, "an image alone gives way to the next")
  }

  @Test func `a frame surrounds the selected image and its caption, and captions are centered below`() {
    let state = state()
    let (row, column) = state.layout.corner(of: 0)
    let (columns, rows) = state.layout.tile
    let screen: [[Character]] = lines(state).map { Array($0) }
    #expect(screen[1].first == "┏")
    #expect(screen[1].last == "┓")
    #expect(screen[1].count == columns + 2)
    for line in row...row + rows {
      let sides = String(screen[line][column - 1]) + String(screen[line][column + columns])
      #expect(sides == "┃┃", "line \(line)")
    }
    #expect(screen[row + rows + 1].first == "┗")
    #expect(lines(state).joined().filter { $0 == "┏" }.count == 1)
    let caption = String(screen[row + rows][column..<column + columns])
    let (before, after) = (caption.prefix { $0 == " " }.count, caption.reversed().prefix { $0 == " " }.count)
    #expect(abs(before - after) <= 1)
    #expect(before > 1)
  }

  @Test func `images that arrive while browsing are marked, and the selected row stays in place`() {
    var state = state()
    for _ in 0..<3 { _ = state.take(.key(.down)) }
    let (row, id) = (state.selected / 3 - state.top, state.current?.image.id)
    _ = state.take(.update(feed, Feed(images: images([101, 102, 103] + Array(1...28)), source: .remote)))
    #expect(state.current?.image.id == id && state.selected / 3 - state.top == row)
    #expect(state.timeline.count == 33, "what the feed has no more stays")
    #expect(state.message == "3 new images.")
    #expect(state.timeline.prefix(4).map(state.isNew) == [true, true, true, false])
    // The same feed again, saved by another process.
    _ = state.take(.key(.home))
    let saved = LoadSource.cache(savedAt: now, age: .zero, reason: .notAsked)
    _ = state.take(.update(feed, Feed(images: images([101, 102, 103] + Array(1...28)), source: saved)))
    #expect(state.timeline.count == 33 && state.message == "" && state.sources[0].feed?.source.isRemote == true)
  }

  @Test func `until a key is pressed, the first image is selected, even when a new image becomes first`() {
    var state = state()
    _ = state.take(.update(feed, Feed(images: images([101] + Array(1...30)), source: .remote)))
    #expect(state.selected == 0 && state.current?.image.title == "Image 101")
    click(&state, 1)
    _ = state.take(.update(feed, Feed(images: images([102, 101] + Array(1...30)), source: .remote)))
    #expect(state.current?.image.title == "Image 1")
  }

  @Test func `a reload shows a feed whose first load failed, and reports an unreachable server`() {
    var state = BrowseState([(feed, "")], size: TerminalSize(columns: 90, rows: 30), now: now)
    _ = state.take(.update(feed, Feed(images: images(1...2), source: .remote)))
    #expect(state.timeline.isEmpty, "the load that runs shows it")
    _ = state.take(.failed(feed, "no connection"))
    _ = state.take(.update(feed, Feed(images: images(1...2), source: .remote)))
    #expect(state.timeline.count == 2)
    #expect(!state.isLoading, "there is no next page to wait for")
    let error = RemoteFeedError.connectivity(HTTPError(.connect, host: "a.example"))
    let saved = LoadSource.cache(savedAt: now, age: .zero, reason: error)
    _ = state.take(.update(feed, Feed(images: images(1...2), source: saved)))
    #expect(lines(state)[0].contains("unreachable"))
  }
}
