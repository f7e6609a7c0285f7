import Foundation
import TestSupport
import Testing

/// The parts of `Scripts/install` that don't build; `Scripts/test-install` tests the others.
@Suite(.settled) struct InstallScriptTests {
  private static let script = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Scripts/install").path

  @Test func `uninstalling removes the program, and fails if it can't`() async throws {
    try await withFolder { folder in
      let program = folder.appendingPathComponent("bin/feed")
      try FileManager.default.createDirectory(
        at: program.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data().write(to: program)
      let uninstall = "exec '\(Self.script)' --uninstall --prefix '\(folder.path)'"
      let removed = try await FeedBinary.shell(uninstall)
      #expect(removed.status == 0 && removed.output.hasPrefix("Removed from \(folder.path)"))
      #expect(!FileManager.default.fileExists(atPath: program.path))

      try FileManager.default.createDirectory(at: program, withIntermediateDirectories: false)
      let failed = try await FeedBinary.shell(uninstall)
      #expect(failed.status == 1 && failed.output == "")
    }
  }

  @Test func `the help of the install script is printed to standard output, and nothing is uninstalled`() async throws {
    try await withFolder { folder in
      let program = folder.appendingPathComponent("bin/feed")
      try FileManager.default.createDirectory(
        at: program.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data().write(to: program)
      let help = try await FeedBinary.shell("exec '\(Self.script)' --uninstall --prefix '\(folder.path)' --help")
      #expect(help.status == 0 && help.output.contains("Scripts/install --uninstall"))
      #expect(FileManager.default.fileExists(atPath: program.path))
    }
  }
}
