public import Foundation
import GRDB

extension SQLiteFeedStore: ShownImagesStore {
  public func shownImages(for address: URL) throws(FeedStoreError) -> ShownImages? {
    try read { try $0.shown(for: address) } ?? nil
  }

  public func changeShownImages(
    for address: URL, _ change: (inout ShownImages?) -> Void
  ) throws(FeedStoreError) {
    _ = try write(.insertion, creating: true) { tables, _ in
      let before = try tables.shown(for: address)
      var shown = before
      change(&shown)
      guard shown != before else { return }
      if let shown { try tables.setShown(shown, for: address) } else { try tables.deleteShown(for: address) }
    }
  }
}

extension FeedTables {
  func shown(for address: URL) throws -> ShownImages? {
    let statement = try db.cachedStatement(sql: "SELECT ids FROM shown WHERE address = ?")
    let bytes = try Data.fetchOne(statement, arguments: [address.absoluteString])
    return bytes.map(ShownImages.init)
  }

  func setShown(_ shown: ShownImages, for address: URL) throws {
    try db.cachedStatement(sql: "INSERT OR REPLACE INTO shown (address, ids) VALUES (?, ?)")
      .execute(arguments: [address.absoluteString, shown.bytes])
  }

  func deleteShown(for address: URL) throws {
    try db.cachedStatement(sql: "DELETE FROM shown WHERE address = ?").execute(arguments: [address.absoluteString])
  }
}

extension ShownImages {
  /// For each id, the bytes of its UUID, and then its number as four big-endian bytes.
  fileprivate var bytes: Data {
    var bytes = Data(capacity: ids.count * 20)
    for id in ids {
      withUnsafeBytes(of: id.uuid.uuid) { bytes.append(contentsOf: $0) }
      withUnsafeBytes(of: id.number.bigEndian) { bytes.append(contentsOf: $0) }
    }
    return bytes
  }

  fileprivate init(_ bytes: Data) {
    self.init(
      ids: bytes.withUnsafeBytes { bytes in
        stride(from: 0, to: bytes.count - bytes.count % 20, by: 20).map { start in
          FeedImage.ID(
            UUID(uuid: bytes.loadUnaligned(fromByteOffset: start, as: uuid_t.self)),
            number: UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: start + 16, as: UInt32.self)))
        }
      })
  }
}
