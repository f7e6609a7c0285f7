internal import CCurl
import FeedStream
import Foundation

/// libcurl's multi interface, driven by a loop's watches and timer.
///
/// libcurl is called only from the loop, never from one of its own callbacks. No user code runs during a call: finished
/// requests are collected after each call.
final class CurlMulti {
  /// Called with each finished request and its code; the request has already left the multi handle.
  @exclusivity(unchecked)  // Here and below: used for each event, on one thread.
  var onDone: ((CurlTransfer, CURLcode) -> Void)?

  /// Called after each call to libcurl, when completed requests have been collected.
  @exclusivity(unchecked) var onActed: (() -> Void)?

  let sockets: CurlSockets
  // Owned: made in `init`, cleaned up in `close()`.
  private let multi: UnsafeMutableRawPointer
  private let timer: CurlTimer
  @exclusivity(unchecked) private var isClosed = false
  // True while finished requests are being collected after a call to libcurl.
  @exclusivity(unchecked) private var isActing = false

  init(on loop: EventLoop, maxConnections: Int, maxConnectionsPerHost: Int) {
    CurlLibrary.start()
    guard let multi = curl_multi_init() else {
      preconditionFailure("libcurl: out of memory; raise the limit (ulimit -v)")
    }
    self.multi = multi
    sockets = CurlSockets(on: loop)
    timer = CurlTimer(on: loop)
    timer.onTime = { [weak self] in self?.act(on: CURL_SOCKET_BAD, 0) }
    sockets.onReady = { [weak self] in self?.act(on: $0, $1) }

    // The callbacks run only during calls made here, while both objects exist.
    ccurl_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, Unmanaged.passUnretained(sockets).toOpaque())
    ccurl_multi_set_socket(multi) { _, descriptor, what, sockets, _ in
      Unmanaged<CurlSockets>.fromOpaque(sockets!).takeUnretainedValue().update(descriptor, what)
      return 0
    }
    ccurl_multi_set_pointer(multi, CURLMOPT_TIMERDATA, Unmanaged.passUnretained(timer).toOpaque())
    ccurl_multi_set_timer(multi) { _, milliseconds, timer in
      Unmanaged<CurlTimer>.fromOpaque(timer!).takeUnretainedValue().want(milliseconds)
      return 0
    }
    // Requests don't share a running HTTP/2 connection. libcurl reads it for any of them, and holds the bytes of a
    // paused one itself, up to that stream's window of 10 or 32 MiB; no version has an option for a smaller window.
    ccurl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
    ccurl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, maxConnections)
    ccurl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, maxConnectionsPerHost)
    ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, maxConnections)
  }

  deinit { close() }

  /// Starts a request on the next turn.
  ///
  /// - Returns: false if libcurl has not accepted the request, because there is no memory left.
  func add(_ transfer: CurlTransfer) -> Bool {
    defer { if !isActing { timer.settle() } }
    return curl_multi_add_handle(multi, transfer.easy) == CURLM_OK
  }

  /// Stops a request; an HTTP/1.1 connection that is busy with it is closed before this returns.
  func remove(_ transfer: CurlTransfer) {
    curl_multi_remove_handle(multi, transfer.easy)
    if !isActing { timer.settle() }
  }

  /// Continues the connection of a paused request, except in the directions in `paused` (`CURLPAUSE_RECV`,
  /// `CURLPAUSE_SEND`); bytes of a response that libcurl holds arrive during this call.
  func resume(_ transfer: CurlTransfer, paused: Int32) {
    curl_easy_pause(transfer.easy, paused)
    if !isActing { timer.settle() }
  }

  /// Closes all connections. There must be no requests left.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    curl_multi_cleanup(multi)
    timer.close()
    sockets.closeAll()
  }

  private func act(on descriptor: curl_socket_t, _ ready: Int32) {
    var running: Int32 = 0
    isActing = true
    sockets.turn &+= 1
    curl_multi_socket_action(multi, descriptor, ready, &running)
    var left: Int32 = 0
    // The callback may close the client.
    while !isClosed, let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
      let code = ccurl_message_result(message)
      let transfer = CurlTransfer.of(easy)
      remove(transfer)
      onDone?(transfer, code)
    }
    if !isClosed { onActed?() }
    isActing = false
    if !isClosed { timer.settle() }
  }
}
