import Foundation

/// Two connected descriptors that no other child inherits.
struct Channel {
  let reading: Int32
  let writing: Int32

  static func pipe() throws -> Channel {
    var ends: [Int32] = [-1, -1]
    guard Foundation.pipe(&ends) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return Channel(reading: ends[0], writing: ends[1])
  }

  /// A terminal; reading from it reads its screen.
  static func terminal() throws -> Channel {
    var (screen, program): (Int32, Int32) = (-1, -1)
    guard openpty(&screen, &program, nil, nil, nil) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    for descriptor in [screen, program] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    return Channel(reading: screen, writing: program)
  }
}
