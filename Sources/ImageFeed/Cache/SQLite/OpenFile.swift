import FeedStream
import Synchronization

/// A SQLite file that this process has open. Every connection holds one for as long as it is open.
///
/// Only SQLite may open and close such a file. Locks of files belong to the process (`fcntl(2)`): when the process
/// closes *any* descriptor of a file, the system also releases SQLite's locks on that file. Another process then
/// removes the log into which this process continues to write. So open a path where a database may be only in
/// ``unlessOpen(_:_:)``.
final class OpenFile: Sendable {
  /// The result of an access to a file.
  enum Access<Result: Sendable>: Sendable {
    /// The file wasn't opened, because SQLite has it open in this process, as a file of that application.
    case open(applicationID: Int)
    case accessed(Result)
  }

  private struct Place: Hashable {
    private let device: UInt64
    private let inode: UInt64
    /// The system gives a removed file's inode to the next file, perhaps before the removed file's entry here is
    /// removed.
    private let created: Int64

    init(_ file: CacheFile, _ identity: CacheFile.Identity) {
      (device, inode) = (identity.device, identity.inode)
      created = SystemFiles.shared.created(file.path)
    }
  }

  /// The files that are open in this process, and the number of their connections. No other lock is taken while this
  /// one is held.
  private static let files = Mutex<[Place: (applicationID: Int, connections: Int)]>([:])

  let path: String
  private let place: Place

  private init(_ path: String, _ place: Place) { (self.path, self.place) = (path, place) }

  /// Notes that SQLite is about to open a file.
  ///
  /// - Parameters:
  ///   - identity: the identity of the file, which belongs to the application. Check that first
  ///     (``CacheFile/isForeign(to:)``).
  ///   - applicationID: the application ID of the connection.
  /// - Throws: if the file is already open as another application's.
  static func opening(
    _ file: CacheFile, _ identity: CacheFile.Identity, applicationID: Int
  ) throws(FeedDatabaseFailure) -> OpenFile {
    let place = Place(file, identity)
    let isOurs = files.withLock { files in
      guard let known = files[place] else {
        files[place] = (applicationID, 1)
        return true
      }
      guard known.applicationID == applicationID else { return false }
      files[place] = (applicationID, known.connections + 1)
      return true
    }
    guard isOurs else { throw FeedDatabaseFailure(.foreign) }
    return OpenFile(file.path, place)
  }

  deinit {
    Self.files.withLock { files in
      guard let known = files[place] else { return }
      files[place] = known.connections > 1 ? (known.applicationID, known.connections - 1) : nil
    }
  }

  /// Runs `body`, which may open and close the file, unless SQLite has the file open in this process. SQLite doesn't
  /// open the file in the meantime.
  static func unlessOpen<Result: Sendable, Failure: Error>(
    _ file: CacheFile, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Access<Result> {
    try files.withLock { files throws(Failure) -> Access<Result> in
      if let identity = file.identity, let known = files[Place(file, identity)] {
        return .open(applicationID: known.applicationID)
      }
      return .accessed(try body())
    }
  }
}
