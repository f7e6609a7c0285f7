import Foundation

extension ImageDecoder {
  /// The path of `image-decoder`: next to the running program, or in a `libexec` folder near it.
  ///
  /// For `/usr/bin/feed`, it is the first of `/usr/bin/image-decoder`, `/usr/libexec/image-decoder` and
  /// `/usr/libexec/feed/image-decoder` that is executable. Symbolic links to the program are resolved first. `nil` if
  /// there is none. `PATH` is not searched, because only the decoder that comes with the program may decode untrusted
  /// images.
  public static func findProgram() -> String? {
    guard let program = runningProgram else { return nil }
    return findProgram(for: program)
  }

  static func findProgram(for program: URL) -> String? {
    let folder = program.deletingLastPathComponent()
    let libexec = folder.deletingLastPathComponent().appending(path: "libexec")
    return [folder, libexec, libexec.appending(path: program.lastPathComponent)]
      .map { $0.appending(path: "image-decoder").path }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  private static var runningProgram: URL? {
    #if os(Linux)
      if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
        return URL(filePath: path)
      }
    #endif
    return Bundle.main.executableURL?.resolvingSymlinksInPath()
  }
}
