internal import CCurl
import Foundation

/// Methods, fields and bodies.
extension CurlTransfer {
  /// Sets the callbacks with which libcurl reads a body. They run only while this object exists, because it owns the
  /// handle.
  func setUpSending(_ this: UnsafeMutableRawPointer) {
    ccurl_set_pointer(easy, CURLOPT_READDATA, this)
    ccurl_set_read(easy) { room, size, count, this in
      let transfer = Unmanaged<CurlTransfer>.fromOpaque(this!).takeUnretainedValue()
      return transfer.read(into: UnsafeMutableRawBufferPointer(start: room, count: size * count))
    }
    ccurl_set_pointer(easy, CURLOPT_SEEKDATA, this)
    ccurl_set_seek(easy) { this, offset, _ in
      let transfer = Unmanaged<CurlTransfer>.fromOpaque(this!).takeUnretainedValue()
      return offset == 0 && transfer.rewind() ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
    }
  }

  private func read(into room: UnsafeMutableRawBufferPointer) -> Int {
    guard let upload else { return 0 }
    let read = upload.read(into: room)
    if upload.wantsMore { exchange?.client.uploads.append(upload) }
    switch read {
    case .bytes(let count): return count
    case .nothing: return ccurl_read_pause()
    case .end: return 0
    }
  }

  /// Restarts the body from the beginning, if possible.
  private func rewind() -> Bool {
    guard let exchange, let upload, upload.isBegun else { return true }
    guard exchange.request.canBeRepeated else { return false }
    upload.restart()
    // The client cancels the replaced read after the call to libcurl.
    exchange.client.uploads.append(upload)
    return true
  }

  /// The directions that stay paused when the transfer continues.
  var paused: Int32 {
    (exchange?.stream?.isPaused == true ? CURLPAUSE_RECV : 0) | (upload?.isPaused == true ? CURLPAUSE_SEND : 0)
  }

  /// The fields of a request, including those that its body needs, and its signature.
  func fields(of request: HTTPRequest) -> [HTTPRequest.Header] {
    var fields = request.headers
    if let type = request.body?.contentType, !request.has("Content-Type") {
      fields.append(HTTPRequest.Header(name: "Content-Type", value: type))
    }
    if let signer, !request.has("Signature") { fields += signer.fields(for: request.url) }
    return fields
  }

  func set(_ fields: [HTTPRequest.Header], _ expectation: String?) {
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

  /// The `Expect` line, without which libcurl would wait for the server's consent before every body.
  func expectation(of exchange: HTTPExchange) -> String? {
    guard sendsLength(exchange.request, exchange.upload), !exchange.request.has("Expect") else { return nil }
    return exchange.awaitsConsent ? "Expect: 100-continue" : "Expect:"
  }

  /// True if the server has refused only to give its consent. The transfer ends there, because libcurl would send the
  /// request again with the same `Expect` line; ``HTTPExchange`` sends it again without one.
  var isConsentRefused: Bool { reader.isRefusal && exchange?.awaitsConsent == true }

  private func sendsLength(_ request: HTTPRequest, _ upload: BodyUpload?) -> Bool {
    upload != nil || request.method == .post || request.method == .put || request.method == .patch
  }

  func setMethod(_ request: HTTPRequest, _ upload: BodyUpload?) {
    self.upload = upload
    let isPlain = request.method == .get && upload == nil
    guard !isPlain || !self.isPlain else { return }
    self.isPlain = isPlain
    ccurl_set_pointer(easy, CURLOPT_CUSTOMREQUEST, nil)
    // This also resets `UPLOAD` and `NOBODY`.
    ccurl_set_long(easy, CURLOPT_HTTPGET, 1)
    guard !isPlain else { return }
    guard request.method != .head else {
      ccurl_set_long(easy, CURLOPT_NOBODY, 1)
      return
    }
    if sendsLength(request, upload) {
      ccurl_set_long(easy, CURLOPT_UPLOAD, 1)
      ccurl_set_off(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(upload.map { $0.sentLength ?? -1 } ?? 0))
    }
    ccurl_set_pointer(easy, CURLOPT_CUSTOMREQUEST, request.method.rawValue)
  }
}
