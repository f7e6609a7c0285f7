import Foundation

/// The clocks of a program under test, which can be set while it runs.
final class Clocks {
  private let path: String
  private let file: FileHandle

  init(_ path: String) throws {
    self.path = path
    try Data(count: 16).write(to: URL(filePath: path))
    file = try FileHandle(forUpdating: URL(filePath: path))
  }

  /// The environment to start the program with.
  var environment: [String: String] { ["LD_PRELOAD": Faults.library, "FAULT_CLOCKS": path] }

  /// Sets both this far from the right time.
  func set(wall: Duration, monotonic: Duration = .zero) {
    let offsets = [wall, monotonic].map { Int64($0 / .nanoseconds(1)) }
    // Eight bytes each, written at once: the program reads them where they lie.
    file.seek(toFileOffset: 0)
    file.write(offsets.withUnsafeBytes { Data($0) })
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
