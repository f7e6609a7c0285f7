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
    return bytes?.withUnsafeBytes { bytes in
      ShownImages(
        ids: stride(from: 0, through: bytes.count - 20, by: 20).map {
          FeedImage.ID(stored: UnsafeRawBufferPointer(rebasing: bytes[$0..<$0 + 20]))
        })
    }
  }

  func setShown(_ shown: ShownImages, for address: URL) throws {
    var ids: [UInt8] = []
    for id in shown.ids { id.append(to: &ids) }
    try db.cachedStatement(sql: "INSERT OR REPLACE INTO shown (address, ids) VALUES (?, ?)")
      .execute(arguments: [address.absoluteString, Data(ids)])
  }

  func deleteShown(for address: URL) throws {
    try db.cachedStatement(sql: "DELETE FROM shown WHERE address = ?").execute(arguments: [address.absoluteString])
  }
}
