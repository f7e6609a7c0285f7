import FeedStreamTesting
import Foundation
import GRDB
import ImageFeed
import ImageFeedTesting
import Synchronization
import Testing

/// The stores that the specification is run over.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
  case memory, sqlite, virtual

  var testDescription: String { rawValue }

  func make() -> any StoreUnderTest {
    switch self {
    case .memory: MemoryUnderTest()
    case .sqlite: SQLiteUnderTest()
    case .virtual: VirtualUnderTest(on: VirtualTimeScheduler())
    }
  }
}

/// A store, and a way to make one step of it fail from outside.
protocol StoreUnderTest {
  var store: any FeedStore { get }
  func fail(_ step: FeedStoreError.Step) throws
  func recover() throws
}

struct MemoryUnderTest: StoreUnderTest {
  private final class Fault: Sendable {
    let step = Mutex<FeedStoreError.Step?>(nil)
  }

  private let fault: Fault
  let store: any FeedStore

  init() {
    let fault = Fault()
    self.fault = fault
    store = InMemoryFeedStore { step in fault.step.withLock { $0 == step ? .other("as told") : nil } }
  }

  func fail(_ step: FeedStoreError.Step) { fault.step.withLock { $0 = step } }
  func recover() { fault.step.withLock { $0 = nil } }
}

/// A virtual disk whose every step of one kind fails.
struct VirtualUnderTest: StoreUnderTest {
  private let disk: VirtualDisk
  var store: any FeedStore { disk }

  init(on time: VirtualTimeScheduler) { disk = VirtualDisk(on: time) }

  func fail(_ step: FeedStoreError.Step) {
    disk.setFaults { at, _ in
      let isMeant =
        switch step {
        case .retrieval: at == .read
        case .deletion: at == .remove
        case .insertion: at == .write
        }
      return isMeant ? .fail(.other("as told")) : nil
    }
  }

  func recover() { disk.setFaults { _, _ in nil } }
}

/// The real thing: a second connection, as another process would have, puts triggers in the way or spoils rows.
struct SQLiteUnderTest: StoreUnderTest {
  let folder = TemporaryFolder()
  let path: String
  let store: any FeedStore

  init() {
    path = folder.file()
    store = SQLiteFeedStore(path: path)
  }

  func fail(_ step: FeedStoreError.Step) throws {
    let sql =
      switch step {
      case .retrieval: "UPDATE feed SET images = images + 1"
      case .deletion:
        """
        CREATE TRIGGER no_delete BEFORE DELETE ON pack BEGIN SELECT RAISE(ABORT, 'as told'); END;
        CREATE TRIGGER no_delete_feed BEFORE DELETE ON feed BEGIN SELECT RAISE(ABORT, 'as told'); END
        """
      case .insertion:
        """
        CREATE TRIGGER no_insert AFTER INSERT ON pack WHEN new.part = 0 BEGIN SELECT RAISE(ABORT, 'as told'); END
        """
      }
    try execute(sql)
  }

  func recover() throws {
    try execute(
      """
      UPDATE feed SET images = (SELECT coalesce(sum(count), 0) FROM pack WHERE pack.feed = feed.id);
      DROP TRIGGER IF EXISTS no_delete; DROP TRIGGER IF EXISTS no_delete_feed; DROP TRIGGER IF EXISTS no_insert
      """)
  }

  private func execute(_ sql: String) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
    try queue.close()
  }
}
