import Foundation
import GRDB
import GRDBSQLite

/// A prepared statement that is bound and read column by column, directly through SQLite.
///
/// The pointer refers to a statement in GRDB's cache, and is valid while its connection is open. Use it only inside the
/// transaction that requested it.
struct RawStatement {
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) {
    self.handle = handle
  }

  func step() -> Int32 { sqlite3_step(handle) }
  func reset() { sqlite3_reset(handle) }

  /// Resets the statement and releases its parameters.
  func clear() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  // MARK: Parameters, counted from 1

  func bind(_ value: Int64, at index: Int32) { sqlite3_bind_int64(handle, index, value) }

  func bind(_ value: Int64?, at index: Int32) {
    if let value { bind(value, at: index) } else { sqlite3_bind_null(handle, index) }
  }

  func bind(_ value: Double?, at index: Int32) {
    if let value { sqlite3_bind_double(handle, index, value) } else { sqlite3_bind_null(handle, index) }
  }

  /// Binds bytes without copying them: they must stay valid until the next step has ended.
  func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
    sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(bytes.count), nil)
  }

  func bind(_ bytes: [UInt8], at index: Int32) {
    // SQLite copies the bytes.
    _ = bytes.withUnsafeBytes { sqlite3_bind_blob(handle, index, $0.baseAddress, Int32($0.count), Self.transient) }
  }

  func bind(_ text: String?, at index: Int32) {
    guard var text else {
      sqlite3_bind_null(handle, index)
      return
    }
    // Pass the length, so that a NUL in the text doesn't end it. SQLite copies the text.
    _ = text.withUTF8 { utf8 in
      utf8.withMemoryRebound(to: CChar.self) { bytes in
        // An empty buffer may have a null pointer, which would bind NULL.
        guard let start = bytes.baseAddress else { return sqlite3_bind_text(handle, index, "", 0, Self.transient) }
        return sqlite3_bind_text(handle, index, start, Int32(bytes.count), Self.transient)
      }
    }
  }

  // MARK: Columns, counted from 0

  /// The value in a column; `nil` if the column has another type.
  func integer(_ column: Int32) -> Int? {
    sqlite3_column_type(handle, column) == SQLITE_INTEGER ? Int(sqlite3_column_int64(handle, column)) : nil
  }

  /// The value in a column; `nil` if the column has another type.
  func real(_ column: Int32) -> Double? {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_FLOAT, SQLITE_INTEGER: sqlite3_column_double(handle, column)
    default: nil
    }
  }

  func imageID(_ column: Int32) -> FeedImage.ID? {
    let bytes = blob(column)
    return bytes.count == 20 ? FeedImage.ID(stored: bytes) : nil
  }

  func text(_ column: Int32) -> String? {
    utf8(column).map { String(decoding: $0, as: UTF8.self) }
  }

  /// True when the column holds these bytes.
  func holds(_ bytes: UnsafeRawBufferPointer, at column: Int32) -> Bool {
    let held = blob(column)
    guard held.count == bytes.count else { return false }
    guard let one = held.baseAddress, let other = bytes.baseAddress else { return bytes.isEmpty }
    return memcmp(one, other, bytes.count) == 0
  }

  /// The column's bytes; empty for NULL. Valid until the next step.
  func blob(_ column: Int32) -> UnsafeRawBufferPointer {
    // SQLite requires this order: first the value, then its length.
    let start = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
  }

  /// The column's text; `nil` for NULL. Valid until the next step.
  func utf8(_ column: Int32) -> UnsafeBufferPointer<UInt8>? {
    guard let bytes = sqlite3_column_text(handle, column) else { return nil }
    return UnsafeBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// SQLite's `SQLITE_TRANSIENT`, a macro that Swift does not import: the value -1 instead of a destructor.
  private static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}

extension Database {
  /// The only column of the only row that `sql` selects.
  func integer(_ sql: String) throws -> Int {
    let row = RawStatement(try cachedStatement(sql: sql).sqliteStatement)
    defer { row.clear() }
    return try step(row, expecting: SQLITE_ROW) ? row.integer(0) ?? 0 : 0
  }

  /// - Returns: true when the statement returned `expected`, false when it is done.
  @discardableResult func step(_ row: RawStatement, expecting expected: Int32) throws -> Bool {
    let code = row.step()
    if code == expected { return true }
    if code == SQLITE_DONE { return false }
    throw DatabaseError(resultCode: ResultCode(rawValue: code), message: lastErrorMessage)
  }
}
