import Foundation

/// Hosts whose addresses cannot be found out for as long as a test wants.
///
/// The lookups of the whole process come here, because an executable's functions go before its libraries'; those of other
/// names go on to the system's.
enum StuckNames {
  static let domain = "stuck.test"

  private static let condition = NSCondition()
  // Both are touched with `condition` locked.
  nonisolated(unsafe) private static var isStuck = false
  nonisolated(unsafe) private static var inside = 0

  /// How many lookups are stuck.
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
  // RTLD_NEXT: the one that this one hides, of the same type.
  return unsafeBitCast(dlsym(UnsafeMutableRawPointer(bitPattern: -1), "getaddrinfo")!, to: LookUp.self)(
    name, service, hints, result)
}
