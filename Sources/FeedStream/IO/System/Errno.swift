internal import CLibUV

/// The error numbers that this library reports or checks.
enum Errno {
  /// It is in use by another reader or writer.
  static var busy: Int32 { -UV_EBUSY.rawValue }
  /// It is closed.
  static var closed: Int32 { -UV_EBADF.rawValue }
  /// It was closed meanwhile.
  static var cancelled: Int32 { -UV_ECANCELED.rawValue }
  /// It doesn't exist.
  static var missing: Int32 { -UV_ENOENT.rawValue }
  /// It took too long.
  static var timedOut: Int32 { -UV_ETIMEDOUT.rawValue }
  /// Its name is not UTF-8.
  static var unspellable: Int32 { -UV_EILSEQ.rawValue }
  /// It cannot be read.
  static var unreadable: Int32 { -UV_EIO.rawValue }
  /// The argument is invalid.
  static var invalid: Int32 { -UV_EINVAL.rawValue }
  /// Its reader has closed it.
  static var broken: Int32 { -UV_EPIPE.rawValue }
  /// The system's tables of open files are full.
  static var tooManyFiles: Int32 { -UV_EMFILE.rawValue }
}
