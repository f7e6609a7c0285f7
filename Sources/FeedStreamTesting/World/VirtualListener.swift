import FeedStream

/// A socket that waits for connections in virtual time.
final class VirtualListener: ListeningSocket {
  let address: SocketAddress
  var onReady: (() -> Void)?
  /// Has no effect: virtual time runs as long as there is work.
  var keepsLoopAlive = false
  private let backlog: Int
  private var waiting: [VirtualChannel] = []
  private var queueing: [(attempt: VirtualInternet.Attempt, proceed: () -> Void)] = []
  /// True when others may listen on the same address.
  let isShared: Bool
  private var onClose: ((VirtualListener) -> Void)?

  init(_ address: SocketAddress, backlog: Int, isShared: Bool, onClose: @escaping (VirtualListener) -> Void) {
    self.address = address
    self.isShared = isShared
    self.backlog = max(backlog, 1)
    self.onClose = onClose
  }

  /// Makes an attempt wait while the backlog is full, as if the system ignored it and the client tried again.
  func whenThereIsRoom(for attempt: VirtualInternet.Attempt, _ proceed: @escaping () -> Void) {
    queueing.append((attempt, proceed))
    admit()
  }

  private func admit() {
    while waiting.count < backlog, !queueing.isEmpty {
      let (attempt, proceed) = queueing.removeFirst()
      if !attempt.isCancelled { proceed() }
    }
  }

  func add(_ channel: VirtualChannel) {
    waiting.append(channel)
    onReady?()
  }

  func accept() -> (any ByteChannel)? {
    guard !waiting.isEmpty else { return nil }
    let channel = waiting.removeFirst()
    admit()
    return channel
  }

  func close() {
    onReady = nil
    onClose.take()?(self)
    let queued = queueing
    queueing = []
    for (attempt, _) in queued { attempt.retry.take()?() }
    let left = waiting
    waiting = []
    for channel in left { channel.lose(104) }  // ECONNRESET
  }
}
