import FeedStream
import TerminalImages

extension BrowseState {
  /// The time within which a second press belongs to a double-click.
  private static let doubleClick = StreamInstant.Stride.milliseconds(400)

  /// Handles the mouse. A click selects an image, or enlarges it if it is already selected, as a double-click does;
  /// another click returns to the grid. The wheel scrolls.
  mutating func take(_ mouse: TerminalMouse, at instant: StreamInstant) {
    switch mouse.action {
    case .release, .press(1...): return
    case .press, .wheelUp, .wheelDown: break
    }
    (message, isTouched, isTyping) = ("", true, false)
    endShow()
    switch mouse.action {
    case .wheelUp: scroll(by: -1)
    case .wheelDown: scroll(by: 1)
    default: press(mouse, at: instant)
    }
  }

  private mutating func press(_ mouse: TerminalMouse, at instant: StreamInstant) {
    let isSecond = lastPress.map { $0.distance(to: instant) < Self.doubleClick } ?? false
    lastPress = instant
    switch view {
    case .help, .origins: view = viewBefore
    case .single:
      // Ignore the second press of the double-click that enlarged the image.
      if !isSecond { (view, part, near) = (.grid, 0, ImageBox.Near()) }
    case .grid:
      guard let place = layout.place(atRow: mouse.row, column: mouse.column) else { return }
      let index = top * layout.across + place
      guard timeline.indices.contains(index) else { return }
      if index == selected { view = .single } else { selected = index }
      (part, near) = (0, ImageBox.Near())
    }
  }

  /// Scrolls by one row of images. In the grid, the selected image stays selected while it is on the screen. A single
  /// image is replaced by its neighbor, or is moved if it is zoomed and higher than the screen.
  private mutating func scroll(by direction: Int) {
    switch view {
    case .help, .origins: break
    case .single: if !moveNear(x: 0, y: direction) { step(by: direction) }
    case .grid:
      guard !timeline.isEmpty else { return }
      let (across, down) = (layout.across, layout.down)
      let rows = (timeline.count + across - 1) / across
      top = max(0, min(top + direction, rows - down))
      let row = selected / across
      let wanted = min(max(row, top), top + down - 1)
      if wanted != row { selected = min(selected + (wanted - row) * across, timeline.count - 1) }
    }
  }
}
