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

  /// Sets both clocks to these differences from the correct time.
  func set(wall: Duration, monotonic: Duration = .zero) {
    let offsets = [wall, monotonic].map { Int64($0 / .nanoseconds(1)) }
    // Eight bytes each, in a single write: the program reads them from the mapped file.
    file.seek(toFileOffset: 0)
    file.write(offsets.withUnsafeBytes { Data($0) })
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
