public import FeedHTTP
public import FeedStream
public import Foundation

/// Keeps the responses of a private HTTP cache in one SQLite file, which several processes may share.
///
///     let client = CurlHTTPClient(on: loop).cached(in: SQLiteHTTPCache(path: "http.db", on: loop))
///
/// Creating this object doesn't touch the file. The file is opened on first use; storing the first response creates it,
/// readable only by the current user. When the responses exceed ``capacity`` bytes, the least recently used ones are
/// deleted. While another process uses the file, calls wait on the thread pool.
///
/// The cache needs its own file: a file with other content, such as saved feeds, is refused and never changed. A
/// damaged file is renamed to `<file>.corrupt-<time>`, and a new one is created.
public final class SQLiteHTTPCache: HTTPCacheStore {
  /// The default capacity: 50 MB.
  public static let defaultCapacity = 50_000_000

  /// The absolute path of the file.
  public let path: String
  /// The maximum number of bytes kept, as `HTTPStoredResponse.byteCount` counts them.
  public let capacity: Int
  private let database: TableFile
  private let worker: SerialWorker
  private let now: @Sendable () -> Date

  /// Creates a store for a file, which need not exist yet.
  ///
  /// - Parameters:
  ///   - path: absolute, or relative to the current directory at the time of this call.
  ///   - scheduler: delivers the results; its thread pool runs the calls.
  ///   - capacity: the maximum number of bytes kept; 50 MB by default.
  ///   - busyTimeout: the time that a call waits for other processes before it fails as busy.
  ///   - now: the wall clock, for the time of each response's last use.
  ///   - onSetAside: receives the new path of a damaged file that was renamed, on a thread of the scheduler's pool.
  public init(
    path: String, on scheduler: any LoopScheduler, capacity: Int = SQLiteHTTPCache.defaultCapacity,
    busyTimeout: Duration = .seconds(10), now: @escaping @Sendable () -> Date = { Date() },
    onSetAside: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.capacity = capacity
    self.now = now
    worker = SerialWorker(on: scheduler)
    database = TableFile(path: path, HTTPCacheTables.kind, busyTimeout: busyTimeout, onSetAside: onSetAside)
    self.path = database.path
  }

  /// Closes the file, which removes the temporary files next to it; the next call opens it again.
  public func close() { database.close() }

  public func responses(
    for key: String, where isWanted: @escaping @Sendable (HTTPStoredResponse.Head) -> Bool
  ) -> AnyPublisher<[HTTPStoredResponse], HTTPCacheError> {
    worker.publisher { [database, capacity, now] () throws(HTTPCacheError) in
      try Self.use(database, capacity, creating: false) { try $0.responses(for: key, where: isWanted, at: now()) } ?? []
    }
  }

  public func change(
    _ key: String, where isMeant: @escaping @Sendable (HTTPStoredResponse.Head) -> Bool, to change: HTTPCacheChange
  ) -> AnyPublisher<Never, HTTPCacheError> {
    let isSaving = if case .save = change { true } else { false }
    return worker.publisher { [database, capacity, now] () throws(HTTPCacheError) in
      _ = try Self.use(database, capacity, creating: isSaving) {
        try $0.apply(change, to: key, where: isMeant, at: now())
      }
    }
    .ignoreOutput()
    .eraseToAnyPublisher()
  }

  private static func use<R: Sendable>(
    _ database: TableFile, _ capacity: Int, creating: Bool, _ body: @Sendable (HTTPCacheTables) throws -> R
  ) throws(HTTPCacheError) -> R? {
    do throws(FeedDatabaseFailure) {
      return try database.use(creating: creating) { try body(HTTPCacheTables(db: $0, capacity: capacity)) }
    } catch {
      throw HTTPCacheError("\(database.path): \(error.cause)")
    }
  }
}
