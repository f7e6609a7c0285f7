internal import CLibUV

/// The error numbers that are ours to give.
enum Errno {
  /// Somebody else reads or writes it.
  static var busy: Int32 { -UV_EBUSY.rawValue }
  /// It is closed.
  static var closed: Int32 { -UV_EBADF.rawValue }
  /// It was closed meanwhile.
  static var cancelled: Int32 { -UV_ECANCELED.rawValue }
}
