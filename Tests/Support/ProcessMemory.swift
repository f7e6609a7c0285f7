import Foundation

/// The memory of a running process, as the kernel counts it.
package enum ProcessMemory {
  /// The figure of this name in `/proc/<process>/status`, such as `VmHWM`, in MiB; 0 when the process has ended.
  package static func mebibytes(_ name: String, of process: pid_t) -> Double {
    let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
    return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) } ?? 0) / 1024
  }
}
