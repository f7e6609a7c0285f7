import ArgumentParser

/// A choice of whether to show pictures in the terminal.
enum PictureChoice: String, CaseIterable, ExpressibleByArgument {
  /// Where the terminal has graphics: kitty's protocol or sixels.
  case auto
  /// On every terminal, with blocks where it has no graphics, and when output isn't a terminal too.
  case always
  case never
}

/// The options about pictures.
struct PictureOptions: ParsableArguments {
  /// The number of a feed's pictures that are shown; the images after them are shown as text.
  static let most = 200

  @Option(
    help: ArgumentHelp(
      "Show the pictures: where the terminal has graphics, always, or never. (default: auto)",
      valueName: "auto|always|never"))
  var pictures: PictureChoice?

  @Flag(help: "Show the pictures side by side, with their descriptions below them.")
  var grid = false

  /// `--grid` asks for pictures.
  var choice: PictureChoice { pictures ?? (grid ? .always : .auto) }

  func validate() throws {
    if grid, pictures == .never { throw ValidationError("--grid shows pictures: leave out --pictures never.") }
  }

  /// Refuses what has no pictures.
  func check(for format: OutputFormat) throws {
    guard format == .json, pictures == .always || grid else { return }
    throw ValidationError("--pictures and --grid are for people: leave out --format json.")
  }
}
