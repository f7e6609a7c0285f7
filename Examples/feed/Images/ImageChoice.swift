import ArgumentParser

/// A choice of when to show images in the terminal.
enum ImageChoice: String, CaseIterable, ExpressibleByArgument {
  /// Only if the terminal supports graphics: kitty's protocol or sixels.
  case auto
  /// On every terminal, with blocks if it doesn't support graphics, and even if output isn't a terminal.
  case always
  case never
}

/// The options for images.
struct ImageOptions: ParsableArguments {
  /// The maximum number of a feed's items that are shown with images; the others are shown as text.
  static let most = 200

  @Option(
    help: ArgumentHelp(
      "When to show images: auto (if the terminal supports graphics), always, or never. "
        + "(default: auto; with --grid, always)",
      valueName: "auto|always|never"))
  var images: ImageChoice?

  @Flag(help: "Show images side by side, with their descriptions below.")
  var grid = false

  /// The choice; `--grid` implies that images are shown.
  var choice: ImageChoice { images ?? (grid ? .always : .auto) }

  func validate() throws {
    if grid, images == .never { throw ValidationError("--grid shows images; leave out --images never.") }
  }

  /// Refuses formats that can't have images.
  func check(for format: OutputFormat) throws {
    guard format == .json, images == .always || grid else { return }
    throw ValidationError("--images always and --grid have no JSON output; leave out --format json.")
  }
}
