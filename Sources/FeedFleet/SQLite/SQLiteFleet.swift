public import FeedStream
public import Foundation
import GRDB
import ImageFeed
import Synchronization

/// A fleet's work, updates and feeds in one SQLite file, for the processes of one machine: no server is needed.
///
/// Nothing happens on creation. The file is for this user alone, and of its own kind: one that holds anything else, such as
/// saved feeds, is refused and never touched; a damaged one is renamed to `<file>.corrupt-<time>`. Calls run on the thread pool and wait for
/// other processes. Lives on its scheduler's thread.
public final class SQLiteFleet {
  /// The absolute path of the file.
  public var path: String { file.path }

  private let file: TableFile
  private let worker: SerialWorker
  private let scheduler: any LoopScheduler
  private let creates: Bool
  private let logDuration: Duration
  private let pause: Duration
  private let now: @Sendable () -> Date
  private let uptime: @Sendable () -> Duration
  private let told = Told()

  /// The time as it was told last, and when.
  private final class Told: Sendable {
    let value = Mutex<(clock: Double, at: Duration)?>(nil)
  }

  /// - Parameters:
  ///   - path: relative to the current directory at this moment, or absolute.
  ///   - creates: begins a fleet where there is no file; otherwise calls fail with ``FleetError/noFeeds(_:)`` there.
  ///   - logDuration: how long the log keeps updates: an hour by default.
  ///   - pause: how long a reader of the log that has everything waits before it looks again: 200 milliseconds by default.
  ///   - busyTimeout: how long a call waits for other processes before it fails as busy.
  ///   - uptime: a clock that nobody sets: the machine's unless changed.
  ///   - now: the wall clock, which the processes share, and which may be set.
  ///   - onSetAside: receives the new path of a damaged file, on a thread of the pool.
  public init(
    path: String, on scheduler: any LoopScheduler, creates: Bool = false,
    keeping logDuration: Duration = .seconds(3600), pause: Duration = .milliseconds(200),
    busyTimeout: Duration = .seconds(10), uptime: @escaping @Sendable () -> Duration = { MachineTime.now },
    now: @escaping @Sendable () -> Date = { Date() },
    onSetAside: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.scheduler = scheduler
    self.creates = creates
    self.logDuration = logDuration
    self.pause = pause
    self.now = now
    self.uptime = uptime
    worker = SerialWorker(on: scheduler)
    file = TableFile(path: path, FleetTables.kind, busyTimeout: busyTimeout, onSetAside: onSetAside)
  }

  /// Closes the file; the next call opens it again.
  public func close() { file.close() }

  private func call<Value: Sendable>(
    _ step: FeedStoreError.Step = .insertion, _ body: @escaping @Sendable (FleetTables) throws -> Value
  ) -> AnyPublisher<Value, FleetError> {
    worker.publisher { [file, creates, logDuration, now, uptime, told] () throws(FleetError) -> Value in
      let value: Value?
      do throws(FeedDatabaseFailure) {
        value = try file.use(creating: creates) { db in
          var tables = FleetTables(db: db, logDuration: logDuration)
          try tables.update()
          let sight = told.value.withLock { $0 }
            .map { FleetTime.Sight(told: $0.clock, since: (uptime() - $0.at) / .milliseconds(1)) }
          let time = try tables.time(at: Double(now().milliseconds), sight, notes: step != .retrieval)
          told.value.withLock { $0 = (time.clock, uptime()) }
          tables.now = Int64(time.clock)
          return try body(tables)
        }
      } catch {
        if case .newerSchema(let version) = error.cause { throw .newerSchema(file.path, version) }
        throw .file(FeedStoreError(step, error.cause, place: file.path))
      }
      guard let value else { throw .noFeeds(file.path) }
      return value
    }
  }
}

extension SQLiteFleet: WorkQueue {
  public func claim(_ wish: WorkClaim) -> AnyPublisher<WorkGrant, FleetError> { call { try $0.claim(wish) } }

  public func extend(_ lease: WorkLease, by duration: Duration) -> AnyPublisher<Bool, FleetError> {
    call { try $0.extend(lease.host, lease.nonce, by: duration) }
  }

  public func complete(_ completion: WorkCompletion) -> AnyPublisher<WorkVerdict, FleetError> {
    call { try $0.complete(completion) }
  }

  public func visit(
    _ host: String, with lease: WorkLease, by worker: String, for duration: Duration
  ) -> AnyPublisher<WorkVisit, FleetError> {
    call { try $0.visit(host, lease.nonce, by: worker, for: duration) }
  }

  public func endVisit(of host: String, with lease: WorkLease, gap: Duration) -> AnyPublisher<Void, FleetError> {
    call { try $0.endVisit(of: host, lease.nonce, gap: gap) }
  }

  public func add(_ feeds: [NewFeed]) -> AnyPublisher<Int, FleetError> { call { try $0.add(feeds) } }

  public func remove(_ address: URL) -> AnyPublisher<Bool, FleetError> {
    call(.deletion) { try $0.remove(address.absoluteString) }
  }

  public func pause(
    _ host: String, for duration: Duration?, because reason: String
  ) -> AnyPublisher<Void, FleetError> {
    call { try $0.pause(host, for: duration, because: reason) }
  }

  public func resume(_ host: String) -> AnyPublisher<Bool, FleetError> { call { try $0.resume(host) } }
}

extension SQLiteFleet: UpdateLog {
  public func append(_ update: FeedUpdate) -> AnyPublisher<UpdateCursor, FleetError> {
    call { UpdateCursor("\(try $0.append(update))") }
  }

  public func end() -> AnyPublisher<UpdateCursor, FleetError> {
    call(.retrieval) { UpdateCursor("\(try $0.last())") }
  }

  public func latest(_ count: Int) -> AnyPublisher<[LoggedUpdate], FleetError> {
    call(.retrieval) { try $0.latest(count) }
  }

  public func holds(_ cursor: UpdateCursor) -> AnyPublisher<Bool, FleetError> {
    call(.retrieval) { try $0.holds(cursor) }
  }

  public func updates(after cursor: UpdateCursor) -> AnyPublisher<LoggedUpdate, FleetError> {
    LogPages(after: cursor, every: pause, on: scheduler) { [self] last in
      call(.retrieval) { try $0.updates(after: last, 512) }
    }
    .eraseToAnyPublisher()
  }

  /// Forgets all but the latest `count` updates.
  public func trim(to count: Int) -> AnyPublisher<Void, FleetError> { call(.deletion) { try $0.trim(to: count) } }
}

extension SQLiteFleet: FeedLibrary {
  public func feeds(_ addresses: [URL], withImages: Bool) -> AnyPublisher<[FleetFeed?], FleetError> {
    call(.retrieval) { tables in try addresses.map { try tables.feed($0, withImages: withImages) } }
  }

  public func edition() -> AnyPublisher<String, FleetError> { call(.retrieval) { "\(try $0.edition())" } }

  public func addresses() -> AnyPublisher<[URL], FleetError> {
    func page(after last: String) -> AnyPublisher<[String], FleetError> {
      call(.retrieval) { try $0.addresses(after: last, 1000) }
    }
    return page(after: "")
      .expand { $0.last.map { page(after: $0) } ?? Empty().eraseToAnyPublisher() }
      .map { $0.compactMap { URL(string: $0) } }
      .eraseToAnyPublisher()
  }
}
