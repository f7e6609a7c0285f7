import CLibrary

// Renamed, because methods below have the same names as the calls.
private let systemOpen: @Sendable (Int32, UnsafePointer<CChar>, Int32, mode_t) -> Int32 = { openat($0, $1, $2, $3) }
private let systemRead: @Sendable (Int32, UnsafeMutableRawPointer?, Int) -> Int = { read($0, $1, $2) }
private let systemClose: @Sendable (Int32) -> Int32 = { close($0) }
private let systemStatus: @Sendable (Int32, UnsafeMutablePointer<stat>) -> Int32 = { fstat($0, $1) }

/// The system's calls, repeated if a signal interrupts them.
enum System {
  /// The error number of a call that has just failed.
  static var code: Int32 { errno }

  /// - Parameter folder: an open folder, in which a relative path is looked up.
  static func open(
    _ path: String, _ flags: Int32, permissions: UInt16 = 0, in folder: Int32 = AT_FDCWD
  ) -> Int32 {
    retrying { Int(systemOpen(folder, path, flags | O_CLOEXEC, mode_t(permissions))) }.code
  }

  /// - Parameter offset: the position to read from; `nil` means the descriptor's current position.
  static func read(_ descriptor: Int32, into room: UnsafeMutableBufferPointer<UInt8>, at offset: Int64?) -> Int {
    retrying {
      if let offset { return pread(descriptor, room.baseAddress, room.count, off_t(offset)) }
      return systemRead(descriptor, room.baseAddress, room.count)
    }
  }

  static func close(_ descriptor: Int32) { _ = systemClose(descriptor) }

  static func status(_ descriptor: Int32) -> stat? {
    var status = stat()
    return systemStatus(descriptor, &status) == 0 ? status : nil
  }

  /// True for a pipe without writers, from which a read doesn't block.
  static func hasNoWriters(_ descriptor: Int32) -> Bool {
    guard let status = status(descriptor), status.st_mode & S_IFMT == S_IFIFO else { return false }
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&polled, 1, 0) > 0 && polled.revents & Int16(POLLHUP) != 0
  }

  /// Writes all bytes of `chunks`, several chunks per call.
  ///
  /// - Returns: the number of bytes written, and the error number if not all were written.
  static func write(_ descriptor: Int32, _ chunks: [Chunk]) -> (written: Int, code: Int32?) {
    // The chunks retain the memory until the end of this function.
    var parts = chunks.compactMap { chunk in
      chunk.isEmpty
        ? nil
        : chunk.withUnsafeBytes {
          iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
        }
    }[...]
    var total = 0
    while !parts.isEmpty {
      let count = retrying {
        parts.prefix(1024).withUnsafeBufferPointer { writev(descriptor, $0.baseAddress, Int32($0.count)) }
      }
      guard count > 0 else { return (total, count < 0 ? errno : EIO) }
      total += count
      var left = count
      while let part = parts.first, part.iov_len <= left {
        left -= part.iov_len
        parts.removeFirst()
      }
      guard left > 0, let part = parts.popFirst() else { continue }
      parts.insert(iovec(iov_base: part.iov_base! + left, iov_len: part.iov_len - left), at: parts.startIndex)
    }
    withExtendedLifetime(chunks) {}
    return (total, nil)
  }

  private static func retrying(_ call: () -> Int) -> Int {
    while true {
      let result = call()
      if result >= 0 || errno != EINTR { return result }
    }
  }

  /// Ignores `SIGPIPE`, unless the process handles it, so that writing to a pipe without a reader fails instead of
  /// ending the process. Child processes get the signal's default action.
  static let ignoresBrokenPipes: Void = {
    var action = sigaction()
    if sigaction(SIGPIPE, nil, &action) == 0, action.isDefault { signal(SIGPIPE, SIG_IGN) }
  }()
}

extension Int {
  fileprivate var code: Int32 { Int32(truncatingIfNeeded: self) }
}
