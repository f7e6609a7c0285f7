internal import CLibUV

/// The error numbers that this library reports or checks.
enum Errno {
  /// Another reader or writer uses the object.
  static var busy: Int32 { -UV_EBUSY.rawValue }
  /// The object is closed.
  static var closed: Int32 { -UV_EBADF.rawValue }
  /// The object was closed during the operation.
  static var cancelled: Int32 { -UV_ECANCELED.rawValue }
  /// The object doesn't exist.
  static var missing: Int32 { -UV_ENOENT.rawValue }
  /// The operation took too long.
  static var timedOut: Int32 { -UV_ETIMEDOUT.rawValue }
  /// The name is not UTF-8.
  static var unspellable: Int32 { -UV_EILSEQ.rawValue }
  /// The object cannot be read.
  static var unreadable: Int32 { -UV_EIO.rawValue }
  /// The argument is invalid.
  static var invalid: Int32 { -UV_EINVAL.rawValue }
  /// The reader has closed the pipe or connection.
  static var broken: Int32 { -UV_EPIPE.rawValue }
}
