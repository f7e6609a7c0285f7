internal import CLibUV

/// An operation of the event loop that the operating system rejected.
public struct EventLoopError: Error, Hashable, Sendable {
  /// The operations that the system may reject.
  public enum Operation: String, Hashable, Sendable {
    case watchDescriptor = "watch a file descriptor"
    case watchSignal = "watch a signal"
    case startThread = "start a thread"
    case openHandle = "open a socket or a file"
  }

  /// The rejected operation.
  public let operation: Operation
  /// The system's error number (`EBADF`, `EMFILE` …), which is positive.
  public let errno: Int32

  init(_ operation: Operation, code: Int32) {
    self.operation = operation
    errno = abs(code)
  }

  /// Runs a call to libuv, which returns a negative error number on failure.
  static func check(_ operation: Operation, _ code: Int32) throws(EventLoopError) {
    guard code >= 0 else { throw EventLoopError(operation, code: code) }
  }
}

extension EventLoopError: CustomStringConvertible {
  public var description: String { "cannot \(operation.rawValue): \(String(cString: uv_strerror(-errno)))" }
}
