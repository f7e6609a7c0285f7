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
    let device: UInt64
    let inode: UInt64
  }

  /// An application's connections to a file.
  private struct Use {
    /// The time at which the file was created. The system gives a removed file's inode to the next file, perhaps before
    /// the removed file's connections are removed here.
    var created: Int64
    var connections = 0
  }

  /// The files that are open in this process, by the applications that use them. No other lock is taken while this one
  /// is held.
  private static let files = Mutex<[Place: [Int: Use]]>([:])

  let path: String
  private let place: Place
  private let applicationID: Int

  private init(_ path: String, _ place: Place, _ applicationID: Int) {
    (self.path, self.place, self.applicationID) = (path, place, applicationID)
  }

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
    let place = Place(device: identity.device, inode: identity.inode)
    let isOurs = files.withLock { files in
      let others = files[place, default: [:]].filter { $0.key != applicationID }
      guard others.allSatisfy({ $0.value.created != identity.created }) else { return false }
      let connections = files[place]?[applicationID]?.connections ?? 0
      files[place, default: [:]][applicationID] = Use(created: identity.created, connections: connections + 1)
      return true
    }
    guard isOurs else { throw FeedDatabaseFailure(.foreign) }
    return OpenFile(file.path, place, applicationID)
  }

  deinit {
    Self.files.withLock { files in
      files[place]?[applicationID]?.connections -= 1
      if files[place]?[applicationID]?.connections == 0 { files[place]?[applicationID] = nil }
      if files[place]?.isEmpty == true { files[place] = nil }
    }
  }

  /// Runs `body`, which may open and close the file, unless SQLite has the file open in this process. SQLite doesn't
  /// open the file in the meantime.
  ///
  /// - Parameter applicationID: the application for which the file is examined; `nil` if it is only created.
  static func unlessOpen<Result: Sendable, Failure: Error>(
    _ file: CacheFile, for applicationID: Int? = nil, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Access<Result> {
    try files.withLock { files throws(Failure) -> Access<Result> in
      if let identity = file.identity, let uses = files[Place(device: identity.device, inode: identity.inode)] {
        if let applicationID, uses[applicationID] != nil { return .open(applicationID: applicationID) }
        if let other = uses.first(where: { $0.value.created == identity.created }) {
          return .open(applicationID: other.key)
        }
      }
      return .accessed(try body())
    }
  }
}
