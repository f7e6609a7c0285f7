import CLibrary

/// A stack as text: the name of each call, and its position in the file for `addr2line`.
struct StackText {
  /// The calls, innermost first, up to the loop's `run`; at most 24.
  private(set) var lines: [String] = []
  /// The innermost call in code outside of this package and the system's libraries: the call that holds up the loop.
  private(set) var culprit = ""
  /// The readable name of that call; `nil` if it isn't known.
  private(set) var culpritName: String?
  /// True if the loop itself waits for events. When a signal interrupts that wait, libuv forgets how long it has lasted,
  /// and the wait looks like a part of the turn.
  private(set) var isWaiting = false
  /// True if only this package and the system's libraries hold up the loop, up to its `run`. On a busy machine, the
  /// start of libuv's threads does that, for example.
  private(set) var isOwn = false

  init(_ frames: [UInt]) {
    var (isInWait, isOwnSoFar) = (false, true)
    for symbol in SymbolTable.symbols(at: frames) {
      let name = symbol.name.map(Self.readable)
      // Leave out the callers of `run`, which are the same for every turn.
      if let name, name.hasPrefix("FeedStream.EventLoop.run(") || name == "uv_run" {
        (isWaiting, isOwn) = (isInWait, isOwnSoFar)
        break
      }
      if !Self.isOwn(symbol) { isOwnSoFar = false }
      isInWait = lines.isEmpty ? name?.hasPrefix("epoll_") == true : isInWait && symbol.file.contains("libuv")
      lines.append("\(name ?? "?") (\(symbol.file)+0x\(String(symbol.offset, radix: 16)))")
      if let mangled = symbol.name, mangled.hasPrefix("$s"), culprit.isEmpty, !Self.isOurs(mangled) {
        (culprit, culpritName) = (mangled, name)
      }
    }
    // If no call qualifies, because of inlining for example, use the outermost line.
    if culprit.isEmpty { culprit = lines.last ?? "" }
    lines = Array(lines.prefix(24))
  }

  /// True for names from this package, the standard library, Dispatch and Foundation.
  private static func isOurs(_ mangled: String) -> Bool { ours.contains(where: mangled.hasPrefix) }

  private static func isOwn(_ symbol: SymbolTable.Symbol) -> Bool {
    if let name = symbol.name, name.hasPrefix("$s") { return isOurs(name) }
    return systemLibraries.contains(where: symbol.file.hasPrefix)
  }

  private static let systemLibraries = [
    "ld-linux", "libc.so", "libdispatch", "libFoundation", "lib_Foundation", "libgcc", "libm.so", "libstdc++",
    "libswift", "libuv",
  ]

  private static let ours = [
    "$sS", "$ss", "$s10Foundation", "$s20FoundationEssentials", "$s8Dispatch", "$s10FeedStream", "$s8FeedHTTP",
    "$s14FeedHTTPServer", "$s13FeedWebSocket", "$s9FeedRedis", "$s9ImageFeed",
  ]

  private static func readable(_ mangled: String) -> String {
    guard mangled.hasPrefix("$s"), let text = swiftDemangle(mangled, UInt(mangled.utf8.count), nil, nil, 0) else {
      return mangled
    }
    defer { free(text) }
    return String(cString: text)
  }
}

// Exported by the standard library for backtraces.
@_silgen_name("swift_demangle")
private func swiftDemangle(
  _ name: UnsafePointer<CChar>, _ length: UInt, _ buffer: UnsafeMutablePointer<CChar>?,
  _ size: UnsafeMutablePointer<UInt>?,
  _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
