import FeedHTTP
import Foundation
import Synchronization

/// The connection to a SQLite file that several processes share. Opens the file when needed, reopens it when
/// another file takes its path, waits for file descriptors, and recovers from damage.
///
/// The owner is responsible for the contents of the file, and for using it on one thread at a time.
final class SharedFile<Connection: Sendable>: Sendable {
  /// The treatment of a damaged file.
  enum Remedy {
    /// The file is renamed, so that it can be examined; the closure receives its new path.
    case settingAside((String) -> Void)
    /// The file is removed, because all of its content exists elsewhere, too.
    case removing
    /// The file stays, because a part of it that the owner can build again may be the cause.
    case reporting
  }

  let file: CacheFile
  let busyTimeout: Duration
  private let applicationID: Int
  private let opensExclusively: Bool
  private let open: @Sendable (OpenFile) throws -> Connection
  private let current = Mutex<(connection: Connection, identity: CacheFile.Identity)?>(nil)
  /// The identity of a file that was checked when it was opened. If the file's header is damaged later, the file is
  /// then not mistaken for another program's.
  private let ours = Mutex<CacheFile.Identity?>(nil)

  /// - Parameters:
  ///   - applicationID: the application ID in the header of files of this kind. A file with a different ID is refused
  ///     without being opened.
  ///   - busyTimeout: the time that a call waits for other processes, and for file descriptors.
  ///   - opensExclusively: true if `open` changes the file, so that no other process may open it at the same time.
  ///   - open: connects to the file, which exists, and is empty if it is new. Called while the folder lock is held.
  init(
    _ file: CacheFile, applicationID: Int, busyTimeout: Duration, opensExclusively: Bool,
    open: @escaping @Sendable (OpenFile) throws -> Connection
  ) {
    self.file = file
    self.applicationID = applicationID
    self.busyTimeout = busyTimeout
    self.opensExclusively = opensExclusively
    self.open = open
  }

  func close() { current.withLock { $0 = nil } }

  private var identity: CacheFile.Identity? { current.withLock { $0?.identity } }

  /// The connection to the file that is currently at the path; `nil` if there is none and `creating` is false.
  func connect(creating: Bool) throws -> Connection? {
    let present = file.identity
    let known = current.withLock { current -> Connection? in
      if let known = current, known.identity.isSameFile(as: present) { return known.connection }
      current = nil
      return nil
    }
    if let known { return known }
    if let present, !present.isRegular { throw FeedDatabaseFailure(.notAFile) }
    guard present != nil || creating else { return nil }
    if present == nil { try file.createFolder() }
    let isExclusive = opensExclusively || present == nil
    let opened: (Connection, CacheFile.Identity)? = try file.withFolderLock(
      exclusively: isExclusive, patience: busyTimeout
    ) {
      if creating, file.identity == nil {
        file.removeStrayCompanions()
        try file.create()
      }
      guard let identity = file.identity else { return nil }
      guard identity.isRegular else { throw FeedDatabaseFailure(.notAFile) }
      // Refuse the file before SQLite opens it: SQLite would copy its log into it and remove the log.
      let wasOurs = ours.withLock { identity.isSameFile(as: $0) }
      if !wasOurs, file.isForeign(to: applicationID) { throw FeedDatabaseFailure(.foreign) }
      let connection = try open(OpenFile.opening(file, identity, applicationID: applicationID))
      ours.withLock { $0 = identity }
      return (connection, identity)
    }
    current.withLock { $0 = opened }
    return opened?.0
  }

  /// Runs `body`, and runs it again after failures that a new connection or a new file may resolve.
  ///
  /// - Parameter body: may run more than once; its earlier changes were rolled back.
  func recovering<R>(by remedy: Remedy, _ body: () throws -> R) throws(FeedDatabaseFailure) -> R {
    try waitingForDescriptors { () throws(FeedDatabaseFailure) in try recoverOnce(by: remedy, body) }
  }

  private func recoverOnce<R>(by remedy: Remedy, _ body: () throws -> R) throws(FeedDatabaseFailure) -> R {
    var mayReopen = true
    var triesToReplace = if case .reporting = remedy { 0 } else { 2 }
    while true {
      let before = identity ?? file.identity
      do {
        return try body()
      } catch {
        let failure = FeedDatabaseFailure(error)
        let opened = identity ?? before
        close()
        // A connection that was open for a long time may have an outdated view of the file; a new one doesn't. Also, if
        // SQLite can't open a file for writing, it silently opens it for reading only.
        if mayReopen, failure.isDamage || failure.hasMoved || failure.cause.isWriteProtection {
          mayReopen = false
        } else if triesToReplace > 0, failure.isDamage, let opened {
          triesToReplace -= 1
          do {
            try replace(opened, by: remedy)
            triesToReplace = 0
            // The new file may also need a second connection.
            mayReopen = true
          } catch {
            let error = FeedDatabaseFailure(error)
            // As when connecting, a single failure may be temporary.
            guard triesToReplace > 0, error.cause.isWriteProtection else { throw error }
          }
        } else {
          throw failure
        }
      }
    }
  }

  private func replace(_ identity: CacheFile.Identity, by remedy: Remedy) throws {
    switch remedy {
    case .settingAside(let report):
      if let target = try file.setAside(identity, patience: busyTimeout) { report(target) }
    case .removing: try file.remove(identity, patience: busyTimeout)
    case .reporting: break
    }
  }

  /// Repeats `body` while the process has no free file descriptors, but not beyond the busy timeout.
  ///
  /// Most descriptors are used by connections to servers, and those connections are short-lived.
  func waitingForDescriptors<R>(_ body: () throws(FeedDatabaseFailure) -> R) throws(FeedDatabaseFailure) -> R {
    let deadline = ContinuousClock.now + busyTimeout
    var guesses = 3
    while true {
      do throws(FeedDatabaseFailure) {
        return try body()
      } catch {
        if !error.isExhaustion, !Descriptors.areExhausted { guesses -= 1 }
        guard error.isExhaustion || error.mayBeExhaustion && guesses > 0, ContinuousClock.now < deadline else {
          throw error
        }
        usleep(5000)
      }
    }
  }
}
