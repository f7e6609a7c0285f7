import Foundation
import TestSupport
import Testing

/// System calls that fail in a program under test, by means of a preloaded library (`faults.c`).
struct Faults: Sendable {
  /// The kind of fault.
  enum Kind: String, Sendable {
    /// The process is killed before the call, or in the middle of it.
    case kill, torn
    /// Only half of the bytes are written.
    case short
    case inputOutput = "EIO"
    case noSpace = "ENOSPC"
    case noPermission = "EACCES"
    case noDescriptor = "EMFILE"

    var isDeadly: Bool { self == .kill || self == .torn }
  }

  /// The calls that are counted.
  enum Calls: String, Sendable {
    /// Calls that change files or make them durable.
    case changes
    /// Calls that read files, too.
    case all
  }

  var folder: String
  var calls = Calls.changes
  /// The number of the first call that fails.
  var number: Int
  var kind: Kind
  /// True when all later calls fail as well.
  var lasts = false
  /// The file that gets a line when a call fails.
  var log: String

  /// The environment to start a program with.
  var environment: [String: String] {
    var variables = [
      "LD_PRELOAD": Self.library, "FAULT_FOLDER": folder, "FAULT_CALLS": calls.rawValue, "FAULT_AT": "\(number)",
      "FAULT_KIND": kind.rawValue, "FAULT_LOG": log,
    ]
    if lasts { variables["FAULT_LASTS"] = "1" }
    return variables
  }

  /// The call that failed; `nil` if the run made fewer calls.
  var call: String? {
    (try? String(contentsOfFile: log, encoding: .utf8))?.trimmingCharacters(in: .newlines)
  }

  /// The library, built next to the tests with the clang that comes with Swift.
  static let library: String = {
    let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "faults.c").path
    let library = FeedBinary.path(of: "libfaults.so")
    let fresh = "\(library).\(getpid())"
    // Foundation's `Process` sometimes misses the end of a process.
    let isBuilt = system("clang -shared -fPIC -O1 -Wall -Werror -o '\(fresh)' '\(source)'") == 0
    // Other test runs may be using the old library.
    guard isBuilt, rename(fresh, library) == 0 else {
      preconditionFailure("faults.c could not be built; put the clang that comes with Swift on the PATH")
    }
    return library
  }()
}

/// The extent of the tests.
enum Extent {
  /// True when the tests run in full, which takes some minutes: `Scripts/torture`.
  static let isLong = ProcessInfo.processInfo.environment["FEEDSTREAM_LONG"] != nil
  /// The time after which a test hangs; in full, a busy machine takes many minutes.
  static let limit = TimeLimitTrait.Duration.minutes(isLong ? 30 : 5)
}
