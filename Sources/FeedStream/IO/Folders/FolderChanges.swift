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
}

extension Folder {
  /// The changes to the folder's entries, without end. Changes within subfolders are not delivered.
  ///
  ///     Folder("Sources").changes(on: loop)
  ///       .debounce(for: .milliseconds(100), scheduler: loop)
  ///       .sink { print($0) } receiveValue: { print("build: \($0)") }
  ///
  /// Losses: equal changes that have not been requested yet are delivered as one; if more than 1,024 changes wait, they
  /// become one ``FolderChange/unknown``. The system silently drops announcements when too many arrive at the same
  /// time. Therefore, the folder is checked every `interval`, and an unannounced change to its list of entries is
  /// delivered as ``FolderChange/unknown``. If the system drops the announcement of a change to an entry's content,
  /// that change goes unnoticed. Network file systems don't announce changes by other machines.
  ///
  /// **Demand:** announcements are collected from the first request on. **Failure:** the system's error; `ENOENT` when
  /// the folder has vanished or another folder has taken its name, which is noticed at once or, if the system didn't
  /// announce it, at the next check. **Cancellation:** ends the watch. **Policy:** holds
  /// each change once, up to 1,024.
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
  public struct FolderChanges: Publisher {
    public typealias Output = FolderChange
    public typealias Failure = SystemError

    let path: String
    let interval: StreamInstant.Stride
    let scheduler: any LoopScheduler

    @_documentation(visibility: internal)
    @inlinable public var _deliversAtHome: Bool { true }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == FolderChange, S.Failure == SystemError {
      subscriber.receive(subscription: ChangesSubscription(self, ErasedSubscriber(subscriber)))
    }
  }
}

private final class ChangesSubscription: GuardedSubscription {
  private static let limit = 1_024

  private var down: ErasedSubscriber<FolderChange, SystemError>?
  private let path: String
  private let interval: StreamInstant.Stride
  private let scheduler: any LoopScheduler
  private var demand = Subscribers.Demand.none
  /// The changes, in the order of their first announcement.
  private var waiting: [FolderChange] = []
  private var isServing = false
  private var watch: (any Cancellable)?
  private var pause: (any Cancellable)?
  private var job: (any Cancellable)?
  private var status: FileStatus?
  /// True if a change to the list of entries was announced since the last check.
  private var isAnnounced = false
  /// True if the folder itself has changed since the running check began.
  private var looksAgain = false

  init(_ changes: Publishers.FolderChanges, _ down: ErasedSubscriber<FolderChange, SystemError>) {
    self.down = down
    path = changes.path
    interval = changes.interval
    scheduler = changes.scheduler
  }

  override func requested(_ demand: Subscribers.Demand) {
    self.demand += demand
    if watch == nil, down != nil { begin() }
    serve()
  }

  private func begin() {
    do throws(SystemError) {
      watch = try scheduler.world("Folder").watch(path) { [weak self] in self?.announced($0) }
      look()
    } catch {
      let error = error
      // Report later, because no failure is delivered during a request.
      job = scheduler.once(after: .zero) { [self] in fail(error) }
    }
  }

  private func announced(_ hint: FolderHint) {
    if hint.kind == .entry { isAnnounced = true }
    // libuv announces a change to the folder itself, such as its deletion, under the folder's own name.
    if hint.kind == .entry, hint.name.map({ path == $0 || path.hasSuffix("/" + $0) }) ?? true { lookNow() }
    switch (hint.name, hint.kind) {
    case (nil, _): add(.unknown)
    case (let name?, .entry): add(.entry(name))
    case (let name?, .content): add(.content(name))
    }
  }

  private func add(_ change: FolderChange) {
    guard !waiting.contains(change), waiting != [.unknown] else { return }
    if waiting.count >= Self.limit { waiting = [.unknown] } else { waiting.append(change) }
    serve()
  }

  private func serve() {
    guard !isServing else { return }
    isServing = true
    while demand > .none, !waiting.isEmpty, let down {
      demand -= 1
      demand += down.receive(waiting.removeFirst())
    }
    isServing = false
  }

  private func lookNow() {
    guard let pause = pause.take() else {
      looksAgain = true
      return
    }
    pause.cancel()
    look()
  }

  /// Checks for unannounced changes to the list of entries.
  private func look() {
    looksAgain = false
    guard down != nil else { return }
    job = scheduler.offload { [files = scheduler.files, path] in
      Result { () throws(SystemError) in try files.status(of: path) }
    } completion: { [self] in
      job = nil
      looked($0)
    }
  }

  private func looked(_ result: Result<FileStatus?, SystemError>) {
    guard down != nil else { return }
    switch result {
    case .failure(let error): return fail(error)
    case .success(nil): return fail(SystemError("watch", path, code: Errno.missing))
    case .success(let now?):
      if let status, status.identity != now.identity {
        return fail(SystemError("watch", path, code: Errno.missing))
      }
      // If the announcement is still in transit, this reports the change twice, but never misses it.
      if let status, status.modified != now.modified, !isAnnounced { add(.unknown) }
      status = now
      isAnnounced = false
    }
    guard down != nil else { return }
    if looksAgain { return look() }
    pause = scheduler.once(after: interval) { [weak self] in self?.look() }
  }

  private func fail(_ error: SystemError) {
    let down = self.down
    release()
    down?.receive(completion: .failure(error))
  }

  deinit { release() }

  override func cancelled() { release() }

  private func release() {
    down = nil
    waiting = []
    for work in [watch.take(), pause.take(), job.take()] { work?.cancel() }
  }
}
