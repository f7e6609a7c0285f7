internal import CCurl
import Foundation

/// One of libcurl's easy handles, used for one request after another.
final class CurlTransfer {
  /// The handle. This object owns it; the multi handle uses it while the request runs.
  let easy: UnsafeMutableRawPointer
  /// The current request.
  @exclusivity(unchecked)  // Here and below: used for every line and every piece of a body, on one thread.
  var exchange: HTTPExchange?
  /// The index of this transfer in the client's list of running transfers.
  var index = -1
  @exclusivity(unchecked) private(set) var reader: ResponseReader
  private let sockets: CurlSockets
  private let networkGuard: NetworkGuard
  /// The address in a private network to which this transfer refused to connect.
  private(set) var refused: NetworkAddress?
  private var isGuarded = false
  /// True if there was no file descriptor for this request's connection; libcurl reports only that it could not
  /// connect.
  private(set) var lackedDescriptor = false
  private(set) var hasOpenedSocket = false
  // A turn of the loop, and the number of libcurl's progress reports in it.
  private var steps = (turn: 0, calls: 0)
  private var offersContentCodings = true
  // libcurl writes an error message here when a request fails; it keeps the pointer as long as the handle exists.
  let sentence = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  private var headers: UnsafeMutablePointer<curl_slist>?
  private let names: [String: [String]]
  let signer: RequestSigner?
  private var resolved: UnsafeMutablePointer<curl_slist>?
  /// The request's body.
  var upload: BodyUpload?
  /// The number of times that libcurl has begun to send the request.
  private(set) var sends = 0
  /// True if libcurl was prevented from repeating a request that must not be repeated.
  private(set) var wasKeptFromRepeating = false
  /// True for GET without a body, which needs no further settings.
  var isPlain = true
  private let configuredProxy: HTTPProxy
  private let environment: ProxyVariables
  /// The proxy of the current request; empty if there is none.
  private var proxy = ""
  /// True if no proxy makes the connection.
  var isDirect: Bool { proxy.isEmpty }
  /// The TLS connection whose closing marks the end of the body.
  private var connection: UnsafeMutableRawPointer?
  /// True if that connection ended with `close_notify`.
  private var isConnectionEnded = false

  /// - Returns: `nil` if there is no memory.
  init?(
    _ configuration: CurlHTTPClient.Configuration, _ environment: ProxyVariables, sockets: CurlSockets,
    _ networkGuard: NetworkGuard
  ) {
    CurlLibrary.start()
    guard let easy = curl_easy_init() else { return nil }
    self.easy = easy
    self.sockets = sockets
    self.networkGuard = networkGuard
    names = configuration.addresses
    signer = configuration.signer
    configuredProxy = configuration.proxy ?? (configuration.usesProxies ? .environment : .none)
    self.environment = environment
    reader = ResponseReader(
      maxHeaderBytes: configuration.maxHeaderBytes, maxHeaderLines: configuration.maxHeaderLines)
    sentence.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    setUp(configuration)
    sockets.watch(easy)
  }

  deinit {
    curl_easy_cleanup(easy)
    curl_slist_free_all(headers)
    curl_slist_free_all(resolved)
    sentence.deallocate()
  }

  /// Sets the options that are the same for every request.
  private func setUp(_ configuration: CurlHTTPClient.Configuration) {
    // The callbacks run only while this object exists, since it owns the handle.
    let this = Unmanaged.passUnretained(self).toOpaque()
    ccurl_set_pointer(easy, CURLOPT_PRIVATE, this)
    ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, sentence)
    ccurl_set_pointer(easy, CURLOPT_WRITEDATA, this)
    ccurl_set_pointer(easy, CURLOPT_HEADERDATA, this)
    ccurl_set_write(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, this in
      let transfer = Unmanaged<CurlTransfer>.fromOpaque(this!).takeUnretainedValue()
      if transfer.reader.isFull { return ccurl_write_pause() }
      let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
      if !transfer.reader.isRedirect { transfer.exchange?.noteArrival() }
      return transfer.reader.body(bytes, announced: { transfer.number(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T) })
        ? bytes.count : 0
    }
    ccurl_set_write(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, this in
      let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
      // Called for each line, so without reference counting: the transfer exists for as long as its handle.
      let isAccepted = Unmanaged<CurlTransfer>.fromOpaque(this!)._withUnsafeGuaranteedRef { $0.take(header: bytes) }
      return isAccepted ? bytes.count : 0
    }
    ccurl_set_pointer(easy, CURLOPT_OPENSOCKETDATA, this)
    ccurl_set_opensocket(easy) { this, _, address in
      let transfer = Unmanaged<CurlTransfer>.fromOpaque(this!).takeUnretainedValue()
      guard transfer.mayConnect(to: address!) else { return -1 }
      let descriptor = transfer.sockets.open(address!.pointee)
      if descriptor < 0, errno == EMFILE || errno == ENFILE { transfer.lackedDescriptor = true }
      if descriptor >= 0 { transfer.hasOpenedSocket = true }
      return descriptor
    }
    ccurl_set_long(easy, CURLOPT_NOSIGNAL, 1)
    // Without this, ending a request during the lookup of its host would block the loop until the lookup ends. With it,
    // the lookup's thread cleans up after itself.
    ccurl_set_long(easy, CURLOPT_QUICK_EXIT, 1)
    ccurl_set_pointer(easy, CURLOPT_PROTOCOLS_STR, "http,https")
    // Redirects are followed in `HTTPExchange`, which determines the fields that may be sent along.
    ccurl_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
    ccurl_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
    ccurl_set_long(easy, CURLOPT_HTTP09_ALLOWED, 0)
    ccurl_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    // Compression is offered and recognized here; the data is decoded in `ContentDecoder`.
    offerContentCodings(true)
    ccurl_set_long(easy, CURLOPT_HTTP_CONTENT_DECODING, 0)
    ccurl_set_pointer(easy, CURLOPT_USERAGENT, configuration.userAgent)
    if let file = configuration.certificateAuthorities {
      ccurl_set_pointer(easy, CURLOPT_CAINFO, file)
      // Otherwise, the certificates in the system's folder would be trusted, too.
      ccurl_set_pointer(easy, CURLOPT_CAPATH, nil)
    }
    if let folder = configuration.certificateFolder { ccurl_set_pointer(easy, CURLOPT_CAPATH, folder) }
    setUpSending(this)
    // libcurl itself must not look for proxies and exceptions in the environment.
    ccurl_set_pointer(easy, CURLOPT_NOPROXY, "")
    apply(proxy)
  }

  private func take(header line: UnsafeRawBufferPointer) -> Bool {
    guard reader.header(line) else { return false }
    if isConsentRefused {
      exchange?.hasConsent = reader.hasConsented
      return false
    }
    if reader.isRedirect {
      // This connection can't be reused, so there is no reason to read the body.
      if reader.endsWithConnection { return false }
      exchange?.skipBody()
    }
    if reader.endsWithConnection, connection == nil { expectEnd() }
    return true
  }

  /// Observes the end of the connection if that is also the end of the body.
  private func expectEnd() {
    guard exchange?.isSecure == true else { return }
    isConnectionEnded = false
    connection = sockets.endings.expect(self)
  }

  /// Called when the server has sent `close_notify`.
  func connectionEnded() { isConnectionEnded = true }

  /// Checks a looked-up address before connecting to it.
  private func mayConnect(to address: UnsafePointer<curl_sockaddr>) -> Bool {
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
  private func judgeConnections(_ isGuarded: Bool) {
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

  private func offerContentCodings(_ offered: Bool) {
    ccurl_set_pointer(easy, CURLOPT_ACCEPT_ENCODING, offered ? ContentCoding.offer : nil)
    offersContentCodings = offered
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
  private func apply(_ proxy: String) {
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

  /// The transfer that owns an easy handle.
  static func of(_ easy: UnsafeMutableRawPointer) -> CurlTransfer {
    var this: UnsafeMutableRawPointer?
    ccurl_get_pointer(easy, CURLINFO_PRIVATE, &this)
    return Unmanaged<CurlTransfer>.fromOpaque(this!).takeUnretainedValue()
  }
}

// MARK: - One request

extension CurlTransfer {
  /// Prepares the handle for `exchange`'s request.
  func prepare(for exchange: HTTPExchange) {
    let request = exchange.request
    reader.begin(request, after: exchange.headerSize, into: exchange.stream)
    // A part of a compressed body could not be decoded.
    let offersCodings = request.decodesContent && !request.has("Range")
    if offersCodings != offersContentCodings { offerContentCodings(offersCodings) }
    sentence.pointee = 0
    lackedDescriptor = false
    hasOpenedSocket = false
    refused = nil
    let proxy = (request.proxy ?? configuredProxy).address(for: request.url, in: environment)
    if proxy != self.proxy { apply(proxy) }
    (sends, wasKeptFromRepeating) = (0, false)
    let isGuarded = request.origin != nil && isDirect || !(request.isRepeatable ?? request.method.isIdempotent)
    if isGuarded != self.isGuarded { judgeConnections(isGuarded) }
    ccurl_set_pointer(easy, CURLOPT_URL, exchange.address)
    if !names.isEmpty { name(request.url) }
    // 0 would mean libcurl's own default of five minutes.
    let connect = max(1, min(request.connectTimeout.nanoseconds / 1_000_000, Int64(Int32.max)))
    ccurl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(connect))
    set(fields(of: request), expectation(of: exchange))
    setMethod(request, exchange.upload)
  }

  /// Sets the addresses that a test provides for a request's host.
  private func name(_ url: URL) {
    guard let host = url.host()?.lowercased(), let addresses = names[host] else { return }
    curl_slist_free_all(resolved)
    resolved = curl_slist_append(nil, "\(host):\(url.portInUse):\(addresses.joined(separator: ","))")
    ccurl_set_pointer(easy, CURLOPT_RESOLVE, resolved)
  }

  private func set(_ fields: [HTTPRequest.Header], _ expectation: String?) {
    guard headers != nil || !fields.isEmpty || expectation != nil else { return }
    curl_slist_free_all(headers)
    headers = nil
    for field in fields {
      // A field without a value ends with a semicolon: with a colon, libcurl would remove it.
      headers = curl_slist_append(headers, field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
    }
    if let expectation { headers = curl_slist_append(headers, expectation) }
    ccurl_set_pointer(easy, CURLOPT_HTTPHEADER, headers)
  }

  /// Releases the received bytes.
  func reset() {
    exchange = nil
    upload = nil
    if let connection = connection.take() { sockets.endings.forget(connection) }
    reader.discard()
  }

  /// The result of `exchange`'s request, which ended with `code`.
  func result(of exchange: HTTPExchange, _ code: CURLcode) -> Result<HTTPResponse, HTTPError> {
    if code == CURLE_OK { reader.end(isCut: connection != nil && !isConnectionEnded) }
    // The body of a response that is followed isn't used, so an error in it doesn't matter.
    guard code == CURLE_OK || reader.isRedirect || isConsentRefused, reader.failure == nil else {
      return .failure(error(of: exchange, code))
    }
    var response = HTTPResponse(
      status: integer(CURLINFO_RESPONSE_CODE), headers: reader.headers, body: reader.takeBody(),
      url: exchange.request.url, redirects: exchange.redirects)
    response.isPrivate = notePeer(of: exchange)
    return .success(response)
  }

  /// The head of the response, once its body arrives.
  func head(of exchange: HTTPExchange) -> HTTPResponse {
    var head = HTTPResponse(
      status: integer(CURLINFO_RESPONSE_CODE), headers: reader.headers, body: Data(), url: exchange.request.url,
      redirects: exchange.redirects)
    head.isPrivate = notePeer(of: exchange)
    return head
  }

  /// Records the sender of the response.
  ///
  /// - Returns: true if the sender is in a private network; `nil` if that is unknown.
  private func notePeer(of exchange: HTTPExchange) -> Bool? {
    guard isDirect else { return nil }
    var text: UnsafePointer<CChar>?
    ccurl_get_string(easy, CURLINFO_PRIMARY_IP, &text)
    return text.flatMap { NetworkAddress(cString: $0) }
      .map { networkGuard.note($0, of: exchange.request, exchange.host) }
  }
}
