import Foundation

/// Overwrites the secrets among this process's arguments, as curl does, because every user of the machine can see
/// arguments in process listings. Until this happens, the secrets are visible there.
enum HiddenArguments {
  /// The options whose values are secrets.
  private static let secret = ["--user", "--header", "--token"]

  /// Overwrites the secrets. Call this only once the arguments have been copied, because afterward, not even this
  /// process can read the secrets from its arguments.
  static func hide() {
    guard let place = place else { return }
    // This is safe: the system has put the arguments there for this process, which may write to them (proc(5),
    // arg_start), and no other code reads them at this point.
    let bytes = UnsafeMutableRawBufferPointer(
      start: UnsafeMutableRawPointer(bitPattern: place.lowerBound), count: place.count)
    var isValue = false
    var start = 0
    for end in bytes.indices where bytes[end] == 0 {
      // Search the bytes: text would have more of them wherever they aren't UTF-8.
      let argument = Array(bytes[start..<end])
      for range in secrets(in: argument, isValue: isValue) {
        for index in range { bytes[start + index] = UInt8(ascii: "x") }
      }
      isValue = secret.contains { argument.elementsEqual($0.utf8) }
      start = end + 1
    }
  }

  /// The byte offsets of an argument's secrets.
  ///
  /// - Parameter isValue: true if the argument before this one is an option whose value is a secret.
  static func secrets(in bytes: [UInt8], isValue: Bool) -> [Range<Int>] {
    if isValue { return [0..<bytes.count] }
    if let option = secret.first(where: { bytes.starts(with: "\($0)=".utf8) }) {
      return [option.utf8.count + 1..<bytes.count]
    }
    // The password in a URL.
    guard let scheme = bytes.indices.first(where: { bytes[$0...].starts(with: "://".utf8) }) else { return [] }
    let host = scheme + 3
    let end = bytes[host...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.count
    guard let at = bytes[host..<end].lastIndex(of: UInt8(ascii: "@")),
      let colon = bytes[host..<at].firstIndex(of: UInt8(ascii: ":"))
    else { return [] }
    return [colon + 1..<at]
  }

  /// The memory that the system shows as this process's arguments; `nil` if unknown.
  private static var place: Range<Int>? {
    // Fields 48 and 49, counted after the program's name, which may contain spaces and parentheses: proc(5).
    guard let stat = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
      let name = stat.lastIndex(of: ")")
    else { return nil }
    let fields = stat[name...].split(separator: " ")
    guard fields.count > 47, let start = Int(fields[46]), let end = Int(fields[47]), 0 < start, start < end else {
      return nil
    }
    return start..<end
  }
}
