public import FeedStream
public import Foundation
public import ImageFeed

/// A place in a call of a ``VirtualDisk`` at which something can go wrong.
public enum DiskStep: Hashable, Sendable, CaseIterable {
  /// Before anything is read: every call that needs what is saved begins so.
  case read
  /// Before the old feed is removed, in a transaction.
  case remove
  /// Before the new feed is written, in the same transaction.
  case write
  /// The transaction is complete and not yet durable.
  case beforeCommit
  /// The transaction is durable, and its caller does not know yet.
  case afterCommit
}

/// What goes wrong.
public enum DiskFault: Hashable, Sendable {
  /// The call fails and has changed nothing. After the commit there is nothing left to fail: it is ignored there.
  case fail(FeedStoreError.Cause)
  /// The machine stops: what is not committed is lost, and nobody hears of the call again.
  case crash
  /// The saved feed goes bad where it lies: it cannot be read until it is replaced or deleted.
  case corrupt
}

/// What a disk was asked for.
public enum DiskCall: Hashable, Sendable {
  case retrieve(URL)
  case replace(URL, CachedFeed)
  case delete(URL, FeedDeletionCondition)
  case summaries
  case deleteAll
}

/// One call and how it ended.
public struct DiskEvent: Sendable {
  public enum Outcome: Sendable {
    case retrieved(CachedFeed?)
    case replaced(FeedReplacement)
    case deleted(Bool)
    case listed
    case emptied
    case failed(FeedStoreError)
    /// The machine stopped meanwhile. `committed` tells whether the change is on the disk all the same.
    case crashed(committed: Bool)
  }

  public var call: DiskCall
  /// When.
  public var time: StreamInstant
  public var outcome: Outcome
}
