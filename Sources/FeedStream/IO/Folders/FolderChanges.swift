/// A change in a folder.
///
/// A change is a hint to check the folder; it doesn't describe the current state. The system may announce one change
/// several times, or a change that has been undone.
public enum FolderChange: Hashable, Sendable {
  /// An entry with this name appeared, vanished, or was renamed.
  case entry(String)
  /// The content or the status of the entry with this name changed.
  case content(String)
  /// Unknown changes, because announcements were lost: check all entries.
  case unknown

  /// Compares names byte by byte, because as `String`s, the names of different entries may be equal.
  public static func == (one: FolderChange, other: FolderChange) -> Bool {
    switch (one, other) {
    case (.entry(let name), .entry(let otherName)), (.content(let name), .content(let otherName)):
      name.utf8.elementsEqual(otherName.utf8)
    case (.unknown, .unknown): true
    default: false
    }
  }
}

extension Folder {
  /// The changes to the folder's entries, without end. Changes within subfolders are not delivered: to watch these, too,
  /// find them with ``entries(recursively:skipsUnreadable:on:)``, and merge their changes. This doesn't include
  /// subfolders that are created later.
  ///
  ///     Folder("Sources/App").changes(on: loop)
  ///       .debounce(for: .milliseconds(100), scheduler: loop)
  ///       .sink { print($0) } receiveValue: { print("build: \($0)") }
  ///
  /// Losses: equal changes that have not been requested yet are delivered as one; if more than 1,024 changes wait, they
  /// become one ``FolderChange/unknown``. The system silently drops announcements when too many arrive at the same
  /// time, and one queue holds the announcements for all folders that are watched on the loop. Therefore, if there are
  /// 1,024 or more in one turn of the loop, ``FolderChange/unknown`` follows for each of these folders. The folder is
  /// also checked after announcements and every `interval`, and an unannounced change to its list of entries is
  /// delivered as ``FolderChange/unknown``. If the system drops the announcement of a change to an entry's content,
  /// that change may go unnoticed. Network file systems don't announce changes by other machines.
  ///
  /// **Demand:** announcements are collected from the first request on. **Failure:** the system's error; `ENOSPC` when
  /// the user watches too many folders (`fs.inotify.max_user_watches`), and `EMFILE` when too many loops watch folders
  /// (`fs.inotify.max_user_instances`); `ENOENT` when the folder has vanished or another folder has taken its name,
  /// which is noticed at once or, if the system didn't announce it, at the next check. The system may give the other
  /// folder the identity of the old one: then the stream continues with ``FolderChange/unknown``. **Cancellation:**
  /// ends the watch. **Policy:** holds each change once, up to 1,024.
  ///
  /// - Parameters:
  ///   - interval: the time between two checks; five seconds by default.
  ///   - scheduler: an ``EventLoop``, or virtual time in a test.
  /// - Precondition: `interval` is more than zero.
  public func changes(
    every interval: StreamInstant.Stride = .seconds(5), on scheduler: any LoopScheduler
  ) -> Publishers.FolderChanges {
    precondition(
      interval > .zero, "Folder.changes(every: \(interval)): the interval is zero or less; use more than zero")
    return Publishers.FolderChanges(path: path, interval: interval, scheduler: scheduler)
  }
}

extension Publishers {
  /// See ``Folder/changes(every:on:)``.
  public struct FolderChanges: Publisher, _DeliversAtHome {
    public typealias Output = FolderChange
    public typealias Failure = SystemError

    let path: String
    let interval: StreamInstant.Stride
    let scheduler: any LoopScheduler

    public func receive<S: Subscriber>(subscriber: S) where S.Input == FolderChange, S.Failure == SystemError {
      let subscription = HintSubscription(
        ErasedSubscriber(subscriber), on: scheduler, merging: FolderWatcher.merge
      ) { subscription throws(SystemError) in try FolderWatcher(self, for: subscription) }
      subscriber.receive(subscription: subscription)
    }
  }
}

/// Watches a folder for one subscription, and checks it for unannounced changes.
private final class FolderWatcher: Cancellable {
  private static let limit = 1_024

  private weak var subscription: HintSubscription<FolderChange>?
  private let path: String
  private let interval: StreamInstant.Stride
  private let scheduler: any LoopScheduler
  private var watch: (any Cancellable)?
  private var pause: (any Cancellable)?
  private var job: (any Cancellable)?
  private var status: FileStatus?
  /// True if a change to the list of entries was announced since the last check began.
  private var isAnnounced = false
  /// True if such a change was announced before the running check began, and after the check before it.
  private var wasAnnounced = false
  private var isLooking = false
  /// True if the list of entries or the folder itself has changed since the running check began.
  private var looksAgain = false

  init(_ changes: Publishers.FolderChanges, for subscription: HintSubscription<FolderChange>) throws(SystemError) {
    self.subscription = subscription
    path = changes.path
    interval = changes.interval
    scheduler = changes.scheduler
    try start()
    look()
  }

  /// Adds a change to those that wait.
  static func merge(_ waiting: inout [FolderChange], _ change: FolderChange) {
    guard waiting != [.unknown] else { return }
    if waiting.count >= limit { waiting = [.unknown] } else { waiting.append(change) }
  }

  private func start() throws(SystemError) {
    // Start the new watch before the old one ends, so that nothing is missed in between.
    let old = watch
    watch = try scheduler.world("Folder").watch(path) { [weak self] in self?.announced($0) }
    old?.cancel()
  }

  private func announced(_ hint: FolderHint) {
    if hint.kind == .entry {
      isAnnounced = true
      // Afterwards, the check knows the status that was announced.
      lookNow()
    }
    // libuv announces a change to the folder itself, such as its deletion, under the folder's own name. Another folder
    // may have taken the name, even with the same identity, so watch that one. Such an announcement may also be lost.
    let isFolder = hint.kind == .entry && hint.name.map { path == $0 || path.hasSuffix("/" + $0) } ?? true
    if isFolder { do throws(SystemError) { try start() } catch { return fail(error) } }
    if isFolder || hint.name == nil { subscription?.add(.unknown) }
    guard let name = hint.name else { return }
    subscription?.add(hint.kind == .entry ? .entry(name) : .content(name))
  }

  private func lookNow() { if isLooking { looksAgain = true } else { look() } }

  /// Checks for unannounced changes to the list of entries.
  private func look() {
    pause.take()?.cancel()
    (isLooking, looksAgain) = (true, false)
    (wasAnnounced, isAnnounced) = (isAnnounced, false)
    job = scheduler.offload { [files = scheduler.files, path] in
      Result { () throws(SystemError) in try files.status(of: path) }
    } completion: { [self] in
      job = nil
      isLooking = false
      looked($0)
    }
  }

  private func looked(_ result: Result<FileStatus?, SystemError>) {
    switch result {
    case .failure(let error): return fail(error)
    case .success(let now?) where now.identity == (status ?? now).identity:
      // If the announcement is still in transit, this reports the change twice, but never misses it.
      let isUnannounced = now.modified != (status ?? now).modified && !isAnnounced && !wasAnnounced
      status = now
      if isUnannounced { subscription?.add(.unknown) }
    case .success: return fail(SystemError("watch", path, code: Errno.missing))
    }
    guard watch != nil else { return }
    if looksAgain { return look() }
    pause = scheduler.once(after: interval) { [weak self] in self?.look() }
  }

  private func fail(_ error: SystemError) { subscription?.fail(error) }

  deinit { cancel() }

  func cancel() {
    for work in [watch.take(), pause.take(), job.take()] { work?.cancel() }
  }
}
