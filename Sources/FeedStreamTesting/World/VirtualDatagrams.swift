import FeedStream

/// A datagram socket in virtual time.
final class VirtualDatagrams: DatagramPort {
  let address: SocketAddress
  private weak var network: VirtualInternet?
  private var deliver: ((Result<Datagram, SystemError>) -> Void)?
  private var isReading = false
  private var waiting = FIFO<Datagram>()
  /// The number of bytes in `waiting`.
  private var held = 0

  init(_ address: SocketAddress, _ network: VirtualInternet) {
    self.address = address
    self.network = network
  }

  /// - Returns: false if there is no room for the datagram.
  func receive(_ datagram: Datagram) -> Bool {
    guard held + datagram.bytes.count <= network?.datagramBuffer ?? 0 else { return false }
    waiting.append(datagram)
    held += datagram.bytes.count
    deliverWaiting()
    return true
  }

  private func deliverWaiting() {
    while isReading, let deliver, let datagram = waiting.popFirst() {
      held -= datagram.bytes.count
      deliver(.success(datagram))
    }
  }

  func startReading(_ deliver: @escaping (Result<Datagram, SystemError>) -> Void) {
    self.deliver = deliver
    isReading = true
    guard !waiting.isEmpty else { return }
    turn = network?.soon { [weak self] in self?.deliverWaiting() }
  }

  private var turn: (any Cancellable)?

  func stopReading() { isReading = false }

  func send(_ datagram: Datagram, _ done: @escaping (SystemError?) -> Void) -> Bool {
    let code: Int32? =
      if case .internet = datagram.address.kind {
        datagram.address.problem ?? (datagram.bytes.count <= 65_507 ? nil : 90)  // EMSGSIZE
      } else {
        22  // EINVAL
      }
    if let code {
      let error = SystemError("send to", "\(datagram.address)", code: code)
      turn = network?.soon { done(error) }
      return false
    }
    network?.carry(datagram, from: address)
    return true
  }

  func close() {
    deliver = nil
    turn.take()?.cancel()
    network?.close(self)
  }
}
