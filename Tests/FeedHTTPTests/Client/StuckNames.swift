import Foundation

/// Hosts whose lookups are stuck for as long as a test wants.
///
/// All lookups of the process come here, because an executable's functions take precedence over its libraries'. Lookups
/// of other names are passed on to the system's function.
enum StuckNames {
  static let domain = "stuck.test"

  private static let condition = NSCondition()
  // Both are used only while `condition` is locked.
  nonisolated(unsafe) private static var isStuck = false
  nonisolated(unsafe) private static var inside = 0

  /// The number of stuck lookups.
  static var waiting: Int { condition.withLock { inside } }

  static func begin() { condition.withLock { isStuck = true } }

  static func end() {
    condition.withLock {
      isStuck = false
      condition.broadcast()
    }
  }

  fileprivate static func wait() {
    condition.withLock {
      inside += 1
      while isStuck { condition.wait() }
      inside -= 1
    }
  }
}

@_cdecl("getaddrinfo")
public func lookUp(
  _ name: UnsafePointer<CChar>?, _ service: UnsafePointer<CChar>?, _ hints: UnsafePointer<addrinfo>?,
  _ result: UnsafeMutablePointer<UnsafeMutablePointer<addrinfo>?>?
) -> Int32 {
  typealias LookUp =
    @convention(c) (
      UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<addrinfo>?,
      UnsafeMutablePointer<UnsafeMutablePointer<addrinfo>?>?
    ) -> Int32
  if let name, String(cString: name).hasSuffix(StuckNames.domain) {
    StuckNames.wait()
    return EAI_NONAME
  }
  // RTLD_NEXT: the function of the same type that this one hides.
  return unsafeBitCast(dlsym(UnsafeMutableRawPointer(bitPattern: -1), "getaddrinfo")!, to: LookUp.self)(
    name, service, hints, result)
}
