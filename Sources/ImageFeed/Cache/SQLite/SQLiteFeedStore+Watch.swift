public import FeedStream
import Foundation

extension SQLiteFeedStore: LiveFeedStore {
  /// Watches the folder of the file: each save, by any process, writes to the file or its log (`-wal`). The folder is
  /// created if it is missing. Network file systems don't announce writes by other machines.
  public func watch(
    on scheduler: any LoopScheduler, _ changed: @escaping (Result<Void, FeedStoreError>) -> Void
  ) -> any Cancellable {
    let watch = FileWatch(CacheFile(path: path), on: scheduler, changed)
    watch.begin()
    return watch
  }
}

private final class FileWatch: Cancellable {
  /// The interval at which the folder is checked for changes whose notification was lost.
  private static let interval = StreamInstant.Stride.seconds(60)
  /// The delay before a change is reported a second time, because the log is written before its contents are valid.
  private static let echo = StreamInstant.Stride.milliseconds(50)

  private let file: CacheFile
  private let scheduler: any LoopScheduler
  private var changed: ((Result<Void, FeedStoreError>) -> Void)?
  private var work: (any Cancellable)?
  private var echo: (any Cancellable)?
  /// True if another change was reported during the delay.
  private var isFollowed = false
  /// The folder, if it may have vanished.
  private var doubtful: String?
  /// The check whether the folder is still there.
  private var check: (any Cancellable)?

  init(
    _ file: CacheFile, on scheduler: any LoopScheduler, _ changed: @escaping (Result<Void, FeedStoreError>) -> Void
  ) {
    self.file = file
    self.scheduler = scheduler
    self.changed = changed
  }

  func begin() {
    work = SerialWorker(on: scheduler).perform { [file] () throws(FeedStoreError) -> (folder: String, name: String) in
      do {
        try file.createFolder()
      } catch {
        throw .retrieval(FeedDatabaseFailure(error).cause, place: file.path)
      }
      let place = file.resolved as NSString
      return (place.deletingLastPathComponent, place.lastPathComponent)
    } completion: { [weak self] result in
      switch result {
      case .failure(let error): self?.fail(error)
      case .success(let place): self?.watch(place.folder, for: place.name)
      }
    }
  }

  private func watch(_ folder: String, for name: String) {
    let names = Set([name] + CacheFile.companions.map { name + $0 })
    work = Folder(folder).changes(every: Self.interval, on: scheduler)
      .filter { change in
        switch change {
        case .entry(let name), .content(let name): names.contains(name)
        case .unknown: true
        }
      }
      .sink { [weak self, path = file.path] completion in
        if case .failure(let error) = completion { self?.fail(.retrieval(.inputOutput("\(error)"), place: path)) }
      } receiveValue: { [weak self] change in
        if change == .entry(name) { self?.doubtful = folder }
        self?.announce()
      }
    changed?(.success(()))
  }

  /// Fails if the folder has vanished with the file. The system announces that only after the last process has closed
  /// the file, which may take until the next check.
  private func checkFolder(_ folder: String) {
    check?.cancel()
    check = SerialWorker(on: scheduler).perform {
      CacheFile.identity(of: folder) == nil
    } completion: { [weak self] (result: Result<Bool, Never>) in
      guard let self, result.get() else { return }
      fail(.retrieval(.inputOutput("\(SystemError("watch", folder, code: ENOENT))"), place: file.path))
    }
  }

  private func announce() {
    isFollowed = echo != nil
    if echo == nil { setEcho() }
    changed?(.success(()))
  }

  private func setEcho() {
    echo = scheduler.once(after: Self.echo) { [weak self] in
      guard let self else { return }
      echo = nil
      if let folder = doubtful.take() { checkFolder(folder) }
      if isFollowed { setEcho() }
      isFollowed = false
      changed?(.success(()))
    }
  }

  private func fail(_ error: FeedStoreError) {
    let changed = self.changed
    cancel()
    changed?(.failure(error))
  }

  func cancel() {
    changed = nil
    for one in [work.take(), echo.take(), check.take()] { one?.cancel() }
  }
}
