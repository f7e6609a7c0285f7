import Foundation
import TestSupport
import Testing

/// The reference page that is generated from the commands' declarations.
@Suite(.settled) struct CommandReferenceTests {
  private static let package = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test func `the command reference in docs matches the declarations`() async throws {
    let script = Self.package.appendingPathComponent("Packaging/reference").path
    let check = try await FeedBinary.shell("exec python3 '\(script)' \"$FEED\" --check")
    #expect(check.status == 0, "\(check.errors)")
  }

  @Test func `the command reference contains every command`() throws {
    let page = try String(contentsOf: Self.package.appendingPathComponent("docs/CommandReference.md"), encoding: .utf8)
    for command in ["work", "fleet status", "store copy", "subscriptions add", "cache images clear", "watch"] {
      #expect(page.contains("# feed \(command)\n"), "\(command)")
    }
  }
}
