internal import CCurl
import Foundation

/// The connections that a request may use: to a permitted address, directly or through a proxy.
extension CurlTransfer {
  /// Checks a looked-up address before connecting to it.
  func mayConnect(to address: UnsafePointer<curl_sockaddr>) -> Bool {
    guard let exchange, isDirect else { return true }
    // libcurl reserves room after this struct for socket addresses longer than `sockaddr`.
    let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr)!
    let place = UnsafeRawPointer(address) + offset
    guard let peer = NetworkAddress(place, count: Int(address.pointee.addrlen)) else { return true }
    if networkGuard.allows(exchange.request, peer) { return true }
    refused = peer
    return false
  }

  /// Checks the connection before the request is sent, because a connection opened by another request is not checked
  /// when connecting.
  func judgeConnections(_ isGuarded: Bool) {
    self.isGuarded = isGuarded
    ccurl_set_pointer(easy, CURLOPT_PREREQDATA, isGuarded ? Unmanaged.passUnretained(self).toOpaque() : nil)
    ccurl_set_prereq(easy, nil)
    guard isGuarded else { return }
    ccurl_set_prereq(easy) { this, peer, _, _, _ in
      let transfer = Unmanaged<CurlTransfer>.fromOpaque(this!).takeUnretainedValue()
      guard transfer.mayBeSentAgain() else {
        // An address that was refused while connecting again isn't the reason.
        transfer.refused = nil
        return CURL_PREREQFUNC_ABORT
      }
      guard transfer.isDirect, let exchange = transfer.exchange,
        let peer = peer.flatMap({ NetworkAddress(cString: $0) }),
        !transfer.networkGuard.allows(exchange.request, peer)
      else {
        // Another of the host's addresses was allowed, so a later error doesn't come from the refusal.
        transfer.refused = nil
        return CURL_PREREQFUNC_OK
      }
      transfer.refused = peer
      return CURL_PREREQFUNC_ABORT
    }
  }

  /// Counts libcurl's attempts to send. If a reused connection turns out to be closed, libcurl sends again; this is
  /// prevented for requests that can't be repeated. A response, such as 417, proves that the first attempt had no
  /// effect.
  private func mayBeSentAgain() -> Bool {
    sends += 1
    guard sends > 1, let exchange, reader.headerSize == exchange.headerSize else { return true }
    guard exchange.request.isRepeatable ?? exchange.request.method.isIdempotent else {
      wasKeptFromRepeating = true
      return false
    }
    return true
  }

  /// Sends requests through `proxy`, or directly if it is empty.
  func apply(_ proxy: String) {
    self.proxy = proxy
    ccurl_set_pointer(easy, CURLOPT_PROXY, proxy)
    // Limits the response that a proxy sends before it connects. libcurl (7.88) reads that response byte by byte,
    // without a limit, and doesn't return to the loop while more arrives. The callback slows down every request, so it
    // is set only if there is a proxy.
    ccurl_set_long(easy, CURLOPT_NOPROGRESS, isDirect ? 1 : 0)
    guard !isDirect else { return }
    ccurl_set_pointer(easy, CURLOPT_XFERINFODATA, Unmanaged.passUnretained(self).toOpaque())
    ccurl_set_progress(easy) { this, _, _, _, _ in
      Unmanaged<CurlTransfer>.fromOpaque(this!).takeUnretainedValue().isStuck ? 1 : 0
    }
  }

  /// True if libcurl has taken more steps than any response needs without returning to the loop; called at every step.
  private var isStuck: Bool {
    if steps.turn != sockets.turn { steps = (sockets.turn, 0) }
    steps.calls += 1
    return steps.calls > 256 << 10
  }

  /// Records the sender of the response.
  ///
  /// - Returns: true if the sender is in a private network; `nil` if that is unknown.
  func notePeer(of exchange: HTTPExchange) -> Bool? {
    guard isDirect else { return nil }
    var text: UnsafePointer<CChar>?
    ccurl_get_string(easy, CURLINFO_PRIMARY_IP, &text)
    return text.flatMap { NetworkAddress(cString: $0) }
      .map { networkGuard.note($0, of: exchange.request, exchange.host) }
  }
}
