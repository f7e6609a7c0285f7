import FeedStream
import Foundation
import TerminalImages

extension BrowseState {
  /// The keys, for the help screen: no more lines than a screen of 16 rows can show, each no wider than 80 columns.
  static let keys: [(keys: String, meaning: String)] = [
    ("← ↑ ↓ →, h j k l", "move"),
    ("Page Up, Page Down, Space", "a screen up or down, minus one row"),
    ("Home, End", "the first image, the last image"),
    ("Enter", "enlarge; Enter again, or Esc: back"),
    ("← →, ↑ ↓ when enlarged", "the next image, the next post"),
    ("+ − 0", "zoom in, zoom out, fit; arrows move the zoomed image"),
    ("O, I, c", "open the post, the image; copy the post's URL"),
    ("*, d", "star (keep); save the image in the current folder"),
    ("/, s", "search; start a slideshow"),
    ("Tab, F", "the next feed, the next folder"),
    ("S, n", "only starred items, only new ones; Esc: all"),
    ("r, i", "reload; show each feed's source and age"),
    ("?, q, Ctrl-L, Ctrl-Z", "this help, quit, redraw the screen, suspend"),
    ("click, wheel", "select, again: enlarge; scroll (Shift: select text)"),
  ]

  mutating func take(_ key: TerminalKey) -> [BrowseAction] {
    (message, isTouched) = ("", true)
    if endShow(), key == .character("s") { return [] }
    if isTyping, key != .control("c"), key != .control("z"), key != .control("l") { return type(key) }
    if view == .help || view == .origins {
      switch key {
      case .control("c"), .control("z"), .control("l"): break
      default:
        view = viewBefore
        return []
      }
    }
    if view == .single, moveNear(key) { return [] }
    switch key {
    case .left, .character("h"): view == .single ? step(by: -1) : move(by: -1)
    case .right, .character("l"): view == .single ? step(by: 1) : move(by: 1)
    case .up, .character("k"): move(by: view == .single ? -1 : -layout.across)
    case .down, .character("j"): move(by: view == .single ? 1 : layout.across)
    case .pageUp, .character("b"): view == .single ? move(by: -1) : page(by: -1)
    case .pageDown, .character(" "): view == .single ? move(by: 1) : page(by: 1)
    case .home, .character("g"): select(0)
    case .end, .character("G"): select(timeline.count - 1)
    case .enter, .character("e"):
      if current != nil { (view, part, near) = (view == .single ? .grid : .single, 0, ImageBox.Near()) }
    case .escape where view == .grid && filter.isActive: return change { $0 = Filter() }
    case .escape, .backspace: (view, part, near) = (.grid, 0, ImageBox.Near())
    case .character("*"): return toggleStar()
    case .character("s"): startShow()
    case .character("+"), .character("="): if view == .single { near.zoom(by: 1) }
    case .character("-"): if view == .single { near.zoom(by: -1) }
    case .character("0"): near = ImageBox.Near()
    case .character("d"): return save()
    case .character("/"):
      (isTyping, view) = (true, .grid)
    case .character("S"): return change { $0.isStarred.toggle() }
    case .character("n"): return change { $0.isNew.toggle() }
    case .tab, .character("f"): return showNextFeed()
    case .character("F"): return showNextFolder()
    case .character("?"), .function(1): open(.help)
    case .character("i"): open(.origins)
    case .character("O"), .character("o"): return openInBrowser(current?.image.link ?? currentURL)
    case .character("I"): return openInBrowser(currentURL)
    case .character("c"), .character("y"):
      return (current?.image.post.linkText ?? currentURL?.absoluteString).map { [.copy($0)] } ?? []
    case .character("r"): return refresh()
    case .control("l"): return [.redraw]
    case .control("z"): return [.suspend]
    case .character("q"): return [.quit]
    case .control("c"): return [.interrupt]
    default: break
    }
    return []
  }

  private mutating func open(_ overlay: View) {
    viewBefore = view
    view = overlay
  }

  /// Moves the selection by a number of images, at most to the first or the last one. A move by rows that begins in the
  /// first or the last row has no effect.
  private mutating func move(by count: Int) {
    let target = selected + count
    let isInLastRow = selected / layout.across == (timeline.count - 1) / layout.across
    let isBeyond = count < -1 && target < 0 || count > 1 && target >= timeline.count && isInLastRow
    select(isBeyond ? selected : target)
  }

  /// Selects the image at an index, or the nearest one.
  private mutating func select(_ index: Int) {
    guard !timeline.isEmpty else { return }
    (selected, part, near) = (min(max(index, 0), timeline.count - 1), 0, ImageBox.Near())
  }

  private mutating func openInBrowser(_ url: URL?) -> [BrowseAction] {
    guard let url else { return [] }
    message = Self.opening
    return [.open(url)]
  }

  private mutating func refresh() -> [BrowseAction] {
    (reloaded, message) = (0, Self.reloading)
    for index in sources.indices {
      (sources[index].isLoading, sources[index].isRefreshing) = (true, true)
      if sources[index].isUnread { (sources[index].isUnread, sources[index].hasKept) = (false, true) }
    }
    // Load the images again that failed; the loader remembers the responses of servers for a while.
    forgetFailures { _, _ in true }
    return [.refresh]
  }
}
