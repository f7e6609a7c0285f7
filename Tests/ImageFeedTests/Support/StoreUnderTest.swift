import FeedFleet
import FeedStreamTesting
import Foundation
import GRDB
import ImageFeed
import ImageFeedTesting
import RedisTestSupport
import Synchronization
import TestSupport
import Testing

/// The stores that the specification tests.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
  case memory, sqlite, virtual, redis

  var testDescription: String { rawValue }

  func make() -> any StoreUnderTest {
    switch self {
    case .memory: MemoryUnderTest()
    case .sqlite: SQLiteUnderTest()
    case .virtual: VirtualUnderTest(on: VirtualTimeScheduler())
    case .redis: RedisUnderTest()
    }
  }
}

/// A store, and a way to make one step of it fail from outside.
protocol StoreUnderTest {
  var store: any FeedStore { get }
  /// The cause of a step's failure.
  var told: FeedStoreError.Cause { get }
  /// True when a replacement deletes the old feed in a separate step.
  var replacesInTwoSteps: Bool { get }
  func fail(_ step: FeedStoreError.Step) throws
  func recover() throws
}

extension StoreUnderTest {
  var told: FeedStoreError.Cause { .other("as told") }
  var replacesInTwoSteps: Bool { true }
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

/// The real store: a second connection, like another process's, adds triggers that fail, or damages rows.
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

/// A real server: another client withdraws our client's permissions, or damages values.
final class RedisUnderTest: StoreUnderTest {
  private let server: RedisServer
  private let redis: RedisFeedStore
  var store: any FeedStore { redis }
  let told = FeedStoreError.Cause.notPermitted
  let replacesInTwoSteps = false

  init() {
    do {
      server = try RedisServer()
      redis = try RedisFeedStore(server.address)
    } catch {
      preconditionFailure("\(error)")
    }
  }

  deinit { redis.close() }

  func fail(_ step: FeedStoreError.Step) throws {
    switch step {
    case .retrieval: try each("redis.call('HSET', k, 'kept', redis.call('HGET', k, 'd'), 'd', 'spoiled')")
    case .insertion: try server.cli("ACL", "SETUSER", "default", "-hset")
    case .deletion: try server.cli("ACL", "SETUSER", "default", "-hdel")
    }
  }

  func recover() throws {
    try server.cli("ACL", "SETUSER", "default", "+@all")
    try each("local d = redis.call('HGET', k, 'kept') if d then redis.call('HSET', k, 'd', d) end")
  }

  private func each(_ step: String) throws {
    try server.cli("EVAL", "for _, k in ipairs(redis.call('KEYS', 'fs{0}:f:*')) do \(step) end", "0")
  }
}

/// Gives a value of a strict table the wrong type, as a flipped bit in its file may. No other connection may be open.
///
/// - Parameter change: SQL that changes the value.
func damage(_ path: String, table: String, _ change: String) throws {
  let schema = """
    PRAGMA writable_schema = ON;
    UPDATE sqlite_master SET sql = replace(replace(replace(sql, 'STRICT, ', ''), 'STRICT', ''), 'NOT NULL', '')
    WHERE name = '\(table)'
    """
  for statements in [schema, change] {
    // A new connection reads the changed schema.
    let database = try DatabaseQueue(path: path)
    try database.writeWithoutTransaction { try $0.execute(sql: statements) }
    try database.close()
  }
}
