internal import CLibUV
import CLibrary

/// The processors that this process may use: those in its affinity mask, limited by its control group's quota.
enum Processors {
  /// The number of processors when this was first read, at least 1.
  static let available: Int = {
    #if os(Linux)
      let allowed = Int(clibuv_allowed_processors())
      let shares = controlGroups.compactMap { share(ofQuota: textOfSystemFile(at: $0 + "/cpu.max")) }
      return max(1, min(allowed, shares.min() ?? allowed))
    #else
      return max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    #endif
  }()

  /// The number of processors that a control group's quota allows, rounded up; `nil` if there is no quota.
  ///
  /// - Parameter text: a `cpu.max` of control groups v2: "max 100000", or a quota and a period, both in microseconds.
  static func share(ofQuota text: String) -> Int? {
    let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
    guard numbers.count == 2, numbers[0] > 0, numbers[1] > 0 else { return nil }
    return Int((numbers[0] / numbers[1]).rounded(.up))
  }

  /// The folders of the process's control group and of its parents.
  static func folders(ofMembership text: String) -> [String] {
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else { return [] }
    var path = line.dropFirst(3)
    var folders: [String] = []
    while true {
      while path.hasSuffix("/") { path = path.dropLast() }
      folders.append("/sys/fs/cgroup\(path)")
      guard let slash = path.lastIndex(of: "/") else { return folders }
      path = path[..<slash]
    }
  }

  private static var controlGroups: [String] { folders(ofMembership: textOfSystemFile(at: "/proc/self/cgroup")) }
}

/// The first 4 KiB of a small file of the system, such as one in `/proc`; empty if there is none.
func textOfSystemFile(at path: String) -> String {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return "" }
  defer { close(descriptor) }
  return String(unsafeUninitializedCapacity: 4096) { max(0, read(descriptor, $0.baseAddress, $0.count)) }
}
