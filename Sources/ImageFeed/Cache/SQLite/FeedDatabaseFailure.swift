import Foundation
import GRDB

/// A failed database call, classified by its remedy.
package struct FeedDatabaseFailure: Error {
  package let cause: FeedStoreError.Cause
  /// True if a reader may succeed by opening the file without writing next to it.
  let mayBeReadFrozen: Bool
  /// True when the file at the path is no longer the one that was opened.
  let hasMoved: Bool
  /// True when the process or the machine had no file descriptors left: a later call may succeed, after others are
  /// closed.
  let isExhaustion: Bool
  /// True if file descriptors may have run out: SQLite doesn't keep the reason why it could not create a file.
  let mayBeExhaustion: Bool

  /// True when the file itself, or its content, is the cause.
  var isDamage: Bool { cause.isDamage }

  package init(_ cause: FeedStoreError.Cause) {
    self.init(cause, systemError: 0)
  }

  private init(_ cause: FeedStoreError.Cause, systemError: Int32) {
    self.cause = cause
    mayBeReadFrozen = false
    hasMoved = false
    isExhaustion = Self.isExhaustion(systemError)
    mayBeExhaustion = false
  }

  /// - Parameter systemError: the `errno` of an I/O error, or 0.
  init(_ error: DatabaseError, systemError: Int32) {
    let message = error.message ?? "code \(error.extendedResultCode.rawValue)"
    hasMoved = error.extendedResultCode == .SQLITE_READONLY_DBMOVED
    isExhaustion = Self.isExhaustion(systemError)
    mayBeExhaustion = error.resultCode == .SQLITE_CANTOPEN && systemError == ENOENT
    mayBeReadFrozen = [.SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_IOERR, .SQLITE_FULL, .SQLITE_PERM]
      .contains(error.resultCode)
    cause =
      switch error.resultCode {
      case .SQLITE_FULL: .diskFull
      case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH: .notPermitted
      case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
      // A plain ERROR means a missing table or column: another program changed the schema.
      case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT, .SQLITE_ERROR, .SQLITE_SCHEMA: .damaged(message)
      case .SQLITE_IOERR, .SQLITE_CANTOPEN:
        // When SQLite fails to open a file, it then looks for missing files and closes unopened ones, which sets
        // `errno`.
        Self.cause(systemError: [ENOENT, EBADF].contains(systemError) ? 0 : systemError) ?? .inputOutput(message)
      default: .other(message)
      }
  }

  /// Classifies any error of a cache file.
  package init(_ error: any Error) {
    switch error {
    case let failure as FeedDatabaseFailure: self = failure
    case let error as DatabaseError: self.init(error, systemError: 0)
    // A value has the wrong type.
    case let error as RowDecodingError: self.init(.damaged("\(error)"))
    case let error as POSIXError:
      let code = error.code.rawValue
      self.init(Self.cause(systemError: code) ?? .inputOutput("\(error.code)"), systemError: code)
    case let error as CocoaError:
      let code = error.underlyingErrors.lazy.compactMap { $0 as? POSIXError }.first?.code.rawValue ?? 0
      self.init(Self.cause(systemError: code) ?? Self.cause(of: error), systemError: code)
    default: self.init(.other("\(error)"))
    }
  }

  private static func cause(of error: CocoaError) -> FeedStoreError.Cause {
    switch error.code {
    case .fileWriteNoPermission, .fileReadNoPermission: .notPermitted
    case .fileWriteVolumeReadOnly: .readOnly
    case .fileWriteOutOfSpace: .diskFull
    default: .inputOutput(error.localizedDescription)
    }
  }

  private static func isExhaustion(_ systemError: Int32) -> Bool { systemError == EMFILE || systemError == ENFILE }

  private static func cause(systemError: Int32) -> FeedStoreError.Cause? {
    switch systemError {
    case ENOSPC, EDQUOT, EFBIG: .diskFull
    case EACCES, EPERM: .notPermitted
    case EROFS: .readOnly
    case 0: nil
    default: .inputOutput(String(cString: strerror(systemError)))
    }
  }
}

extension FeedStoreError.Cause {
  /// True when the file itself, or its content, is the cause.
  var isDamage: Bool { if case .damaged = self { true } else { false } }
}
