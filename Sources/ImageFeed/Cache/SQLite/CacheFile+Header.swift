import Foundation

extension CacheFile {
  /// True if the file has content that this program didn't write: it isn't a database, or it belongs to another
  /// program. Examines the header and the log without SQLite.
  ///
  /// A damaged file of this program still has the program's number in the header or the log; an empty file has nothing
  /// to lose. SQLite keeps the application's number at byte 68 of the first page. The first transaction of this program
  /// writes that page, which stays in the log until a checkpoint.
  func isForeign(to applicationID: Int) -> Bool {
    switch header(for: applicationID) {
    case .open(let known): known != applicationID
    case .accessed(let header): isForeign(to: applicationID, header: header)
    }
  }

  /// Decides based on a header that was read earlier. Another process may since have copied the log into the file and
  /// removed the log. In that case, the number is in neither `header` nor the log, but in the file's new header.
  func isForeign(to applicationID: Int, header: [UInt8]?) -> Bool {
    guard seemsForeign(to: applicationID, header: header) else { return false }
    return switch self.header(for: applicationID) {
    case .open(let known): known != applicationID
    case .accessed(let header): header?.bigEndian(at: 68) != applicationID
    }
  }

  /// The part of the header that identifies the program that wrote the file; `nil` if the header can't be read. A file
  /// that is open in this process isn't read: its connection has checked it.
  private func header(for applicationID: Int) -> OpenFile.Access<[UInt8]?> {
    OpenFile.unlessOpen(self, for: applicationID) { identity?.isRegular == true ? read(path, from: 0, 72) : nil }
  }

  private func seemsForeign(to applicationID: Int, header: [UInt8]?) -> Bool {
    guard let header, !header.isEmpty else { return false }
    guard header.starts(with: "SQLite format 3\0".utf8) else { return lastApplicationInLog != applicationID }
    let number = header.bigEndian(at: 68)
    if number == applicationID { return false }
    guard number == 0 else { return true }
    // Without a log, our number is missing only in a file without tables, or while a rollback journal holds the first
    // page.
    guard hasLog else {
      let page = header.bigEndian(at: 14) & 0xFFFF
      let isNew = (identity?.size ?? 0) <= (page > 1 ? page : 65_536) && header.bigEndian(at: 60) == 0
      return !isNew && Self.identity(of: resolved + "-journal") == nil
    }
    // A file that we have just created has one page until the log contains our first transaction, which writes that
    // page again.
    return lastApplicationInLog.map { $0 != applicationID } ?? (header.bigEndian(at: 28) > 1)
  }

  /// The application's number in the log's latest copy of the first page; `nil` when the log has no first page. SQLite
  /// has no locks on the log itself, so the log may always be opened.
  private var lastApplicationInLog: Int? {
    let path = resolved + "-wal"
    guard let header = read(path, from: 0, 32), header.count == 32 else { return nil }
    let page = header.bigEndian(at: 8)
    guard (512...65_536).contains(page) else { return nil }
    var last: Int?
    // Each page follows a header of 24 bytes, which begins with the page's number.
    var place = 32
    while let frame = read(path, from: place, 24 + 72), frame.count == 24 + 72 {
      if frame.bigEndian(at: 0) == 1 { last = frame.bigEndian(at: 24 + 68) }
      place += 24 + page
    }
    return last
  }

  private func read(_ path: String, from place: Int, _ count: Int) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: count)
    let length = pread(descriptor, &bytes, count, off_t(place))
    return length < 0 ? nil : Array(bytes.prefix(length))
  }
}

extension [UInt8] {
  /// Four bytes as a number; 0 if some are missing.
  fileprivate func bigEndian(at place: Int) -> Int {
    guard count >= place + 4 else { return 0 }
    return self[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
  }
}
