public import FeedFormats
public import FeedStream
import Foundation

extension SubscriptionFile {
  /// The list, delivered after each change by this program, by another program, or in an editor.
  ///
  /// The file's folder is watched, and also checked every second. The list is read a tenth of a second after the
  /// file's last change.
  /// **Demand:** the latest list is held until it is requested. **Failure:** none; a list that cannot be read is
  /// delivered as a failed result, and the removal of the file is delivered as `nil`. **Cancellation:** ends the watch.
  ///
  /// - Parameters:
  ///   - known: the list that the caller has read; the list is delivered first only if the file differs.
  ///   - requests: triggers an immediate read, such as after a signal.
  ///   - scheduler: an `EventLoop`, or virtual time in a test.
  public func changes(
    since known: OPML?, lookingAfter requests: some Publisher<Void, Never>, on scheduler: some LoopScheduler
  ) -> AnyPublisher<Result<OPML?, SubscriptionFileError>, Never> {
    let worker = SerialWorker(on: scheduler)
    let place = URL(fileURLWithPath: resolvedPath)
    let (folder, name) = (place.deletingLastPathComponent().path, place.lastPathComponent)
    let announced = Folder(folder).changes(every: .seconds(1), on: scheduler)
      .filter { change in
        switch change {
        case .entry(let changed), .content(let changed): changed == name
        case .unknown: true
        }
      }
      .map { _ in }
      // Read the list each time the watch begins: a folder that was replaced may have another list.
      .prepend(())
      .retry(.constant(.seconds(1)), scheduler: scheduler)
      .catch { _ in Empty<Void, Never>() }
      .debounce(for: .milliseconds(100), scheduler: scheduler)
    return
      announced
      .merge(with: requests)
      .buffer(size: 1, prefetch: .keepFull, whenFull: .dropNewest)
      .flatMap(maxPublishers: .max(1)) { _ in
        worker.publisher { Result { () throws(SubscriptionFileError) in try read() } }
      }
      .prepend(.success(known))
      .removeDuplicates()
      .dropFirst()
      .eraseToAnyPublisher()
  }
}
