internal import CLibUV

/// A failed call to the operating system: the operation, its object, and the system's reason.
public struct SystemError: Error, Hashable, Sendable {
  /// The attempted operation, in words that follow "cannot": `read`, `connect to` …
  public let operation: String
  /// The object of the operation, such as a path or an address.
  public let subject: String
  /// The system's error number, positive (`ENOENT`, `ECONNREFUSED` …), or libuv's if the system has none.
  public let code: Int32

  /// - Parameter code: an error number: positive, or negative as libuv returns it.
  public init(_ operation: String, _ subject: String, code: Int32) {
    self.operation = operation
    self.subject = subject
    self.code = abs(code)
  }

  /// The system's name for ``code``, such as `ENOENT`.
  public var name: String { String(cString: uv_err_name(-code)) }
}

extension SystemError: CustomStringConvertible {
  public var description: String {
    "cannot \(operation) \(subject): \(String(cString: uv_strerror(-code))) (\(name))"
  }
}
