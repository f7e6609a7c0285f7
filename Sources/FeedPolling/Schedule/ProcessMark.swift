import Foundation

/// Distinguishes one process from all others, even from earlier ones with the same process number, in notes that
/// outlive it.
enum ProcessMark {
  /// This process: its machine, its number, and its start time, if that can be read. Never empty, because a host
  /// without a holder isn't held.
  static let own = mark(of: getpid()) ?? mark(withoutStartOf: getpid())

  /// A mark without a start time, for systems without /proc: the process never counts as ended.
  static func mark(withoutStartOf number: pid_t) -> String { "\(machine) \(number)" }

  /// True if the process that a mark identifies has definitely ended; a process on another machine, or in another
  /// container, may still be alive.
  static func hasEnded(_ mark: String) -> Bool {
    let parts = mark.split(separator: " ")
    guard parts.count == 3, parts[0] == machine, let number = pid_t(parts[1]) else { return false }
    if let present = self.mark(of: number) { return present != mark }
    // The start time may be hidden (proc(5), hidepid), while a signal's error still tells whether the process exists.
    return kill(number, 0) != 0 && errno == ESRCH
  }

  /// The host's name, and the namespace of process numbers: two containers may have the same host name.
  private static let machine = ProcessInfo.processInfo.hostName.filter { !$0.isWhitespace } + namespace

  /// For example: `pid:[4026531836]`; empty if there are no such namespaces.
  private static var namespace: String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")) ?? ""
  }

  private static func mark(of number: pid_t) -> String? {
    #if os(Linux)
      // Field 22, counted after the name, which may contain spaces and parentheses: proc(5).
      guard let stat = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8),
        let name = stat.lastIndex(of: ")")
      else { return nil }
      let fields = stat[name...].split(separator: " ")
      guard fields.count > 20 else { return nil }
      return "\(machine) \(number) \(fields[20])"
    #else
      return kill(number, 0) == 0 || errno == EPERM ? "\(machine) \(number) 0" : nil
    #endif
  }
}
