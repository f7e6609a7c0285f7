import Foundation
import TestSupport

/// System calls that go wrong in a program under test, by a library that is loaded before all others (`faults.c`).
struct Faults: Sendable {
  /// The fault that a call meets.
  enum Kind: String, Sendable {
    /// The process is killed before the call, or in the middle of it.
    case kill, torn
    /// Half of what was to be written is written.
    case short
    case inputOutput = "EIO"
    case noSpace = "ENOSPC"
    case noPermission = "EACCES"
    case noDescriptor = "EMFILE"

    var isDeadly: Bool { self == .kill || self == .torn }
  }

  /// Which calls are counted.
  enum Calls: String, Sendable {
    /// Those that change files or make them durable.
    case changes
    /// Those that look at files, too.
    case all
  }

  var folder: String
  var calls = Calls.changes
  /// The number of the first call that goes wrong.
  var number: Int
  var kind: Kind
  /// True when all later calls fail as well.
  var lasts = false
  /// Gets a line when a call goes wrong.
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

  /// Which call went wrong; `nil` if the run made fewer.
  var call: String? {
    (try? String(contentsOfFile: log, encoding: .utf8))?.trimmingCharacters(in: .newlines)
  }

  /// The library, built next to the tests with the clang that comes with Swift.
  static let library: String = {
    let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "faults.c").path
    let library = FeedBinary.path(of: "libfaults.so")
    let fresh = "\(library).\(getpid())"
    // Foundation's `Process` loses the end of one now and then.
    let isBuilt = system("clang -shared -fPIC -O1 -Wall -Werror -o '\(fresh)' '\(source)'") == 0
    // Other runs of the tests may be using the old one.
    guard isBuilt, rename(fresh, library) == 0 else {
      preconditionFailure("faults.c could not be built; put the clang that comes with Swift on the PATH")
    }
    return library
  }()
}

/// How far the tests go.
enum Extent {
  /// True when the tests run in full, which takes some minutes: `Scripts/torture`.
  static let isLong = ProcessInfo.processInfo.environment["FEEDSTREAM_LONG"] != nil
}
