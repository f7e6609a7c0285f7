import Foundation

/// The folders of the XDG base directory specification.
enum UserFolders {
  /// The folder for one kind of this program's files; a relative path in the environment is ignored.
  ///
  /// - Parameters:
  ///   - variable: the name of a variable, such as `XDG_CACHE_HOME`.
  ///   - fallback: the folder within the user's home to use if the variable isn't set.
  static func path(
    _ variable: String, else fallback: String, environment: [String: String] = ProcessInfo.processInfo.environment,
    accountHome: @autoclosure () -> String = NSHomeDirectory()
  ) -> String {
    let wanted = environment[variable] ?? ""
    // Use `HOME`, as a shell does for `~`; on Linux, Foundation uses only the account database.
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? accountHome()
    let folder = wanted.hasPrefix("/") ? wanted : "\(home)/\(fallback)"
    return "\(folder)/feedstream"
  }
}
