import ArgumentParser
import FeedFormats

/// The names of folders, as given with `--folder`.
enum FolderNames {
  static func check(_ names: [String]) throws {
    if names.contains(where: { plainLine($0).isEmpty }) {
      throw ValidationError("A folder's name needs at least one visible character; for no folder, leave out --folder.")
    }
  }
}
