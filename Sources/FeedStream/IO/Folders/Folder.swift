/// A folder whose entries and changes are available as streams.
///
///     Folder("photos").entries(recursively: true, on: loop)
///       .filter { $0.name.hasSuffix(".jpg") }
///       .sink { print($0) } receiveValue: { print($0) }
public struct Folder: Hashable, Sendable {
  /// The path, unchanged.
  public let path: String

  public init(_ path: String) { self.path = path }

  /// The entries of the folder, in the system's order.
  ///
  /// A subfolder is delivered before its entries; links are delivered but not followed, even if one has replaced a
  /// subfolder that was delivered, or a folder between that and the requested one. Links in the requested path itself
  /// are followed. Entries that appear or vanish while the folder is being read may or may not be delivered. Only one
  /// folder is kept open at a time.
  ///
  /// **Demand:** system calls run on the thread pool and read up to 64 entries ahead; without demand, nothing is read.
  /// **Failure:** the system's error, with the folder that could not be read; `EILSEQ` for a subfolder whose name is
  /// not UTF-8. A subfolder that has vanished in the meantime is skipped. **Cancellation:** closes the folder.
  /// **Policy:** holds up to 64 entries, and the paths of the subfolders that were found but not read yet.
  ///
  /// - Parameters:
  ///   - recursively: true to include the entries of subfolders.
  ///   - skipsUnreadable: true to skip subfolders that can't be read, or whose name is not UTF-8.
  ///   - scheduler: an ``EventLoop``, or virtual time in a test.
  public func entries(
    recursively: Bool = false, skipsUnreadable: Bool = false, on scheduler: any LoopScheduler
  ) -> Publishers.FolderEntries {
    Publishers.FolderEntries(
      path: path, isRecursive: recursively, skipsUnreadable: skipsUnreadable, scheduler: scheduler)
  }
}

/// An entry in a folder.
public struct FolderEntry: Hashable, Sendable, CustomStringConvertible {
  public enum Kind: Hashable, Sendable {
    case file
    case folder
    /// A symbolic link, whatever its target.
    case link
    /// A socket, a pipe or a device.
    case other
  }

  /// The path of the requested folder, a slash, and the entry's path in that folder.
  public let path: String
  public let kind: Kind
  /// False if the name is not UTF-8, which the system allows. ``path`` then contains U+FFFD, and is not the path of a
  /// file.
  public let isExact: Bool

  package init(path: String, kind: Kind, isExact: Bool = true) {
    self.path = path
    self.kind = kind
    self.isExact = isExact
  }

  /// The last part of the path.
  public var name: String { split(path).name }

  public var description: String { kind == .folder ? path + "/" : path }
}

extension Publishers {
  /// See ``Folder/entries(recursively:skipsUnreadable:on:)``.
  public struct FolderEntries: Publisher, _DeliversAtHome {
    public typealias Output = FolderEntry
    public typealias Failure = SystemError

    let path: String
    let isRecursive: Bool
    let skipsUnreadable: Bool
    let scheduler: any LoopScheduler

    public func receive<S: Subscriber>(subscriber: S) where S.Input == FolderEntry, S.Failure == SystemError {
      PullSubscription("Folder.entries", subscriber, EntriesSource(self)).begin()
    }
  }
}

private final class EntriesSource: PullSource {
  private let scheduler: any LoopScheduler
  private let reader: FolderReader
  private var isReading = false
  private var job: (any Cancellable)?

  init(_ entries: Publishers.FolderEntries) {
    scheduler = entries.scheduler
    reader = FolderReader(entries, of: scheduler.files)
  }

  func wanted(by subscription: PullSubscription<FolderEntry, SystemError>) -> Bool {
    guard !isReading else { return false }
    isReading = true
    job = scheduler.offload { [reader] in
      reader.next()
    } completion: { [self] result in
      isReading = false
      switch result {
      case .success(let entries) where entries.isEmpty: subscription.end(.finished)
      case .success(let entries):
        for entry in entries { subscription.hold(entry) }
        subscription.serve()
      case .failure(let error): subscription.end(.failure(error))
      }
    }
    return !isReading
  }

  func cancelled(_ subscription: PullSubscription<FolderEntry, SystemError>) { job.take()?.cancel() }
}

/// Reads a folder and its subfolders, one after another.
// @unchecked: used by one piece of work at a time; the next starts after the previous one has ended.
private final class FolderReader: @unchecked Sendable {
  private let files: any FileSystem
  private let path: String
  private let isRecursive: Bool
  private let skipsUnreadable: Bool
  private var folder: (any OpenFolder)?
  /// The folders to read next, in reverse order.
  private var upcoming: [FolderEntry]
  private var isFirst = true

  init(_ entries: Publishers.FolderEntries, of files: any FileSystem) {
    self.files = files
    path = entries.path
    isRecursive = entries.isRecursive
    skipsUnreadable = entries.skipsUnreadable
    upcoming = [FolderEntry(path: path, kind: .folder)]
  }

  /// The next entries; empty at the end. Blocks.
  func next() -> Result<[FolderEntry], SystemError> {
    Result { () throws(SystemError) in
      while true {
        if let folder {
          let entries = try folder.next(64)
          if isRecursive { upcoming += entries.lazy.filter { $0.kind == .folder }.reversed() }
          if !entries.isEmpty { return entries }
          self.folder = nil
        }
        guard let next = upcoming.popLast() else { return [] }
        do throws(SystemError) {
          guard next.isExact else {
            throw SystemError("read the folder", "\(next.path), whose name is not UTF-8", code: Errno.unspellable)
          }
          folder = try files.openFolder(next.path, below: isFirst ? nil : path)
        } catch {
          guard !isFirst, error.code == Errno.missing || skipsUnreadable else { throw error }
        }
        isFirst = false
      }
    }
  }
}
