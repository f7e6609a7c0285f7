public import FeedPolling
public import FeedStream
public import Foundation
public import ImageFeed

/// A point in a call to a ``VirtualDisk`` at which a fault can occur.
public enum DiskStep: Hashable, Sendable, CaseIterable {
  /// Before anything is read: every call that needs the saved feed begins here.
  case read
  /// Before the old feed is removed, in a transaction.
  case remove
  /// Before the new feed is written, in the same transaction.
  case write
  /// The transaction is complete but not yet durable.
  case beforeCommit
  /// The transaction is durable, but its caller hasn't been informed.
  case afterCommit
}

/// A fault of the disk.
public enum DiskFault: Hashable, Sendable {
  /// The call fails and changes nothing. After the commit, nothing can fail anymore, and this fault is ignored.
  case fail(FeedStoreError.Cause)
  /// The machine stops: uncommitted changes are lost, and the call never returns a result.
  case crash
  /// The saved feed is damaged: it cannot be read until it is replaced or deleted.
  case corrupt
}

/// A call to the disk.
public enum DiskCall: Hashable, Sendable {
  case retrieve(URL)
  case replace(URL, CachedFeed)
  case summary(URL)
  case renew(URL, FeedRenewal)
  case health([URL])
  case hostHealth(String)
  case claim(PollClaim)
  case complete(URL, PollCompletion.Change?)
  case visit(String)
  case release(HostHealth)
  case leaseLost(URL)
  case decisions(URL)
  case delete(URL, FeedDeletionCondition)
  case summaries
  case deleteAll

  /// True if the call may change something.
  var writes: Bool {
    switch self {
    case .retrieve, .summary, .health, .hostHealth, .decisions, .summaries: false
    case .replace, .renew, .claim, .complete, .visit, .release, .leaseLost, .delete, .deleteAll: true
    }
  }
}

/// A call and its result.
public struct DiskEvent: Sendable {
  public enum Outcome: Sendable {
    case retrieved(CachedFeed?)
    case replaced(FeedReplacement)
    case summarized(CachedFeedSummary?)
    /// The result of a renewal; `nil` when there was no such feed.
    case renewed(FeedReplacement?)
    case deleted(Bool)
    /// A call about polling that succeeded.
    case polling
    case listed
    case emptied
    case failed(FeedStoreError)
    /// The machine stopped during the call. `committed` is true when the change is on the disk anyway.
    case crashed(committed: Bool)
  }

  public var call: DiskCall
  /// The time of the call.
  public var time: StreamInstant
  public var outcome: Outcome
}
