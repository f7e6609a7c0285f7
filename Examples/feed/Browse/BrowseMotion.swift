import FeedStream
import TerminalImages

/// Ways to move: by screens, from image to image of a post, within a zoomed image, and as a slideshow.
extension BrowseState {
  /// Moves one screen down or up. One row stays visible, so that users don't lose their place.
  mutating func page(by direction: Int) {
    guard !timeline.isEmpty else { return }
    let rows = max(layout.down - 1, 1) * direction
    // The last row may be shorter. At the ends, select the first or the last image.
    selected = min(max(selected + rows * layout.across, 0), timeline.count - 1)
    top = max(top + rows, 0)
    (part, near) = (0, ImageBox.Near())
  }

  /// Moves to the next image of the post, or to the previous one if `count` is -1. Beyond the post's last or first
  /// image, moves to the next or previous post.
  ///
  /// - Parameter wraps: true to begin again after the last image.
  mutating func step(by count: Int, wraps: Bool = false) {
    guard !timeline.isEmpty else { return }
    near = ImageBox.Near()
    if parts.indices.contains(part + count) {
      part += count
      return
    }
    let target = selected + count
    guard timeline.indices.contains(target) || wraps else { return }
    selected = timeline.indices.contains(target) ? target : 0
    part = count < 0 ? parts.count - 1 : 0
  }

  /// - Returns: false for a key that doesn't move a zoomed image.
  mutating func moveNear(_ key: TerminalKey) -> Bool {
    switch key {
    case .left: moveNear(x: -1, y: 0)
    case .right: moveNear(x: 1, y: 0)
    case .up: moveNear(x: 0, y: -1)
    case .down: moveNear(x: 0, y: 1)
    default: false
    }
  }

  /// Moves a zoomed image by quarters of the screen, up to its edges.
  ///
  /// - Returns: false if the image can't move in that direction or the opposite one.
  mutating func moveNear(x: Int, y: Int) -> Bool {
    guard near.isNear, let entry = current, var whole = imageBox else { return false }
    whole.near = ImageBox.Near()
    switch drawings[ImageKey(entry, url: currentURL, box: whole)] {
    case .failure: return false
    case .success(let drawing):
      let limit = (x: near.limit(drawing.columns, in: whole.columns), y: near.limit(drawing.rows, in: whole.rows))
      guard x != 0 && limit.x > 0 || y != 0 && limit.y > 0 else { return false }
      near.move(x: x, y: y, within: limit)
    case nil: near.move(x: x, y: y)
    }
    return true
  }

  mutating func startShow() {
    guard current != nil else { return }
    (isShow, view, part, near) = (true, .single, 0, ImageBox.Near())
    message = "Slideshow: press any key to end it."
  }

  /// - Returns: false if no slideshow was running.
  @discardableResult
  mutating func endShow() -> Bool {
    guard isShow else { return false }
    isShow = false
    message = "The slideshow has ended."
    return true
  }

  mutating func save() -> [BrowseAction] {
    guard let entry = current, let url = currentURL else { return [] }
    message = "Saving…"
    return [.save(url, of: entry.address, isPrivate: entry.isFromPrivateNetwork)]
  }
}
