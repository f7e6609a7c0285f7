internal import CCurl
import FeedStream
import Foundation

/// The sockets that libcurl uses, each with a watch on the loop.
///
/// A watch exists for as long as its connection: between requests, the watch is only stopped. That takes one system
/// call instead of four, and a stopped watch does not keep the loop running.
final class CurlSockets {
  private struct Socket {
    var watch: PollHandle?
    /// The events that libcurl waits for.
    var wanted: PollHandle.Events = []
    /// True for a connection's socket. libcurl reports when it closes such a socket, but not when it closes one of the
    /// sockets with which it wakes itself.
    var isConnection = false
  }

  /// The number of turns in which libcurl was called.
  @exclusivity(unchecked) var turn = 0

  /// The number of open connections.
  var count: Int { sockets.count { $0.isConnection } }

  /// Called on the loop when a socket is ready: with `CURL_CSELECT_…`, or 0 if libcurl must check the socket itself.
  @exclusivity(unchecked)  // Here and below: used for each event, on one thread.
  var onReady: ((Int32, Int32) -> Void)?

  let endings = TLSEndings()
  private let loop: EventLoop
  // Indexed by descriptor: the kernel always uses the lowest free number.
  @exclusivity(unchecked) private var sockets: [Socket] = []

  init(on loop: EventLoop) { self.loop = loop }

  /// Observes the connections that `easy` closes. This object must outlive those connections.
  func watch(_ easy: UnsafeMutableRawPointer) {
    endings.watch(easy)
    let this = Unmanaged.passUnretained(self).toOpaque()
    ccurl_set_pointer(easy, CURLOPT_CLOSESOCKETDATA, this)
    ccurl_set_closesocket(easy) { this, descriptor in
      Unmanaged<CurlSockets>.fromOpaque(this!).takeUnretainedValue().close(descriptor)
      return Foundation.close(descriptor)
    }
  }

  /// Watches `descriptor` for the events that libcurl requests: one of `CURL_POLL_…`.
  func update(_ descriptor: Int32, _ what: Int32) {
    switch what {
    case CURL_POLL_IN: wait(for: .readable, on: descriptor)
    case CURL_POLL_OUT: wait(for: .writable, on: descriptor)
    case CURL_POLL_INOUT: wait(for: [.readable, .writable], on: descriptor)
    default: rest(descriptor)
    }
  }

  func closeAll() {
    for socket in sockets { socket.watch?.close() }
    sockets = []
    onReady = nil
  }

  /// Opens a connection's socket, or returns -1 with the reason in `errno`.
  func open(_ address: curl_sockaddr) -> Int32 {
    // Child processes must not keep the connection open.
    let descriptor = socket(address.family, address.socktype | Int32(SOCK_CLOEXEC.rawValue), address.protocol)
    guard descriptor >= 0 else { return -1 }
    makeRoom(for: descriptor)
    sockets[Int(descriptor)].isConnection = true
    return descriptor
  }

  private func makeRoom(for descriptor: Int32) {
    while sockets.count <= Int(descriptor) { sockets.append(Socket()) }
  }

  private func wait(for events: PollHandle.Events, on descriptor: Int32) {
    makeRoom(for: descriptor)
    let index = Int(descriptor)
    if let watch = sockets[index].watch {
      guard sockets[index].wanted != events else { return }
      sockets[index].wanted = events
      try? watch.start(events)
      return
    }
    // The kernel refuses a watch if it has no memory for it; the request then fails at its deadline.
    guard let watch = try? PollHandle(on: loop, fileDescriptor: descriptor) else { return }
    sockets[index].watch = watch
    sockets[index].wanted = events
    try? watch.start(events) { [weak self] events, error in self?.isReady(descriptor, events, failed: error != nil) }
  }

  private func rest(_ descriptor: Int32) {
    let index = Int(descriptor)
    guard index < sockets.count, let watch = sockets[index].watch else { return }
    guard sockets[index].isConnection else { return close(descriptor) }
    sockets[index].wanted = []
    watch.stop()
  }

  private func close(_ descriptor: Int32) {
    guard Int(descriptor) < sockets.count else { return }
    let watch = sockets[Int(descriptor)].watch
    sockets[Int(descriptor)] = Socket()
    watch?.close()
  }

  private func isReady(_ descriptor: Int32, _ events: PollHandle.Events, failed: Bool) {
    var ready: Int32 = 0
    if events.contains(.readable) { ready |= CURL_CSELECT_IN }
    if events.contains(.writable) { ready |= CURL_CSELECT_OUT }
    // On an error, pass 0: libcurl then finds the error itself. With `CURL_CSELECT_ERR` it gives up without checking,
    // even if the server has only closed an idle connection and the request can be sent over another.
    onReady?(descriptor, ready)
    // An error stops the watch. Restart it if libcurl is still waiting for events.
    guard failed, Int(descriptor) < sockets.count else { return }
    let socket = sockets[Int(descriptor)]
    if !socket.wanted.isEmpty { try? socket.watch?.start(socket.wanted) }
  }
}
