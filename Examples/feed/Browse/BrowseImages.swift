import TerminalImages

/// The images to load, and those to keep.
extension BrowseState {
  /// The images that the screen shows, and then those that it will show next.
  var wanted: [ImageKey] { wanted(in: shownView) }

  private func wanted(in view: View) -> [ImageKey] {
    guard let box = imageBox(in: view) else { return [] }
    let places: [Int]
    if view == .single {
      var whole = box
      whole.near = ImageBox.Near()
      // A zoomed image can move as far as its drawing as a whole shows.
      let boxes = near.isNear ? [box, whole] : [whole]
      let shown = current.map { entry in boxes.map { ImageKey(entry, url: currentURL, box: $0) } } ?? []
      return shown
        + [selected + 1, selected - 1, selected + 2].filter(timeline.indices.contains)
        .map { ImageKey(timeline[$0], box: whole) }
    } else {
      let (first, count) = (top * layout.across, layout.perScreen)
      places = Array(first..<first + 2 * count) + Array(first - count..<first)
    }
    return places.filter(timeline.indices.contains).map { ImageKey(timeline[$0], box: box) }
  }

  /// The view behind the help or the origins.
  var shownView: View { view == .help || view == .origins ? viewBefore : view }

  var imageBox: ImageBox? { imageBox(in: shownView) }

  private func imageBox(in view: View) -> ImageBox? {
    guard let abilities else { return nil }
    let (columns, rows) = view == .single ? layout.single : layout.tile
    guard columns >= 4, rows >= 2 else { return nil }
    return ImageBox(
      columns: columns, rows: rows, mode: abilities.mode, cell: abilities.cell ?? .usual,
      near: view == .single ? near : ImageBox.Near(), isEnlarged: view == .single && !abilities.mode.isGraphic)
  }

  /// Loads images again that couldn't be loaded, if they are still wanted.
  mutating func forgetFailures(where isForgotten: (ImageKey, NoImage) -> Bool) {
    drawings = drawings.filter { key, result in
      guard case .failure(let error) = result else { return true }
      return !isForgotten(key, error)
    }
  }

  mutating func take(_ result: Result<Drawing, NoImage>, for key: ImageKey) {
    drawings[key] = result
    guard case .success = result else { return }
    // The same image at another size may have failed earlier.
    forgetFailures { other, _ in (other.url, other.feed, other.isPrivate) == (key.url, key.feed, key.isPrivate) }
  }

  /// Drops all images except the wanted ones, if together they take more than six screens. An enlarged image takes a
  /// whole screen. The grid's images are kept, too, so that Esc shows them at once.
  mutating func forgetDrawings() {
    let area = drawings.values.reduce(0) { sum, drawing in
      guard case .success(let drawing) = drawing else { return sum }
      return sum + drawing.columns * drawing.rows
    }
    guard area > 6 * size.columns * size.rows || drawings.count > 6 * layout.perScreen + 16 else { return }
    let kept = Set(wanted + wanted(in: .grid))
    drawings = drawings.filter { kept.contains($0.key) }
  }
}
