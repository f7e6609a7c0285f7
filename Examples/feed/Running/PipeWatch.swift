import FeedStream
import Foundation

/// A second open file description for a pipe that other processes share, so that this program's writes don't block, but
/// those of the other processes still do.
final class PipeWatch: Cancellable {
  /// The descriptor, which this object owns.
  let descriptor: Int32
  private let handle: PollHandle
  private var readerGone: (() -> Void)?
  private var waiter: ((_ isClosed: Bool) -> Void)?

  /// Opens the pipe again; `nil` for a descriptor that isn't a pipe, or can't be reopened.
  init?(on loop: EventLoop, of shared: Int32) {
    guard Output.isPipe(shared) else { return nil }
    let own = open("/proc/self/fd/\(shared)", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
    guard own >= 0 else { return nil }
    guard let handle = try? PollHandle(on: loop, fileDescriptor: own) else {
      close(own)
      return nil
    }
    descriptor = own
    self.handle = handle
    handle.keepsLoopAlive = false
  }

  deinit {
    handle.close()
    close(descriptor)
  }

  /// Calls `gone` when the reader is gone. This watch doesn't keep the loop alive.
  func watchReader(_ gone: @escaping () -> Void) {
    readerGone = gone
    watch()
  }

  /// Calls `then` once, when the pipe is writable or the reader is gone.
  func wait(_ then: @escaping (_ isClosed: Bool) -> Void) {
    waiter = then
    watch()
  }

  /// - Returns: true if a wait was ended.
  @discardableResult func stopWaiting() -> Bool {
    guard waiter != nil else { return false }
    waiter = nil
    watch()
    return true
  }

  func cancel() {
    (readerGone, waiter) = (nil, nil)
    handle.close()
  }

  private func watch() {
    guard !handle.isClosed else { return }
    handle.keepsLoopAlive = waiter != nil
    guard waiter != nil || readerGone != nil else { return handle.stop() }
    try? handle.start(waiter == nil ? .disconnect : [.disconnect, .writable]) { [weak self] events, error in
      self?.happened(isClosed: error != nil || events.contains(.disconnect))
    }
  }

  private func happened(isClosed: Bool) {
    let waiter = waiter.take()
    // An error has already ended the watch.
    if isClosed { readerGone?() } else { watch() }
    waiter?(isClosed)
  }
}
