import FeedStream
import Foundation

/// The part of a response that a private cache stores, and how a 304 renews it (RFC 9111, sections 3 and 4.3.4).
extension CacheRequest {
  /// The head to store with a response; `nil` if the response must not be stored.
  ///
  /// - Parameter isPrivate: true when the response came from a private network. If the user didn't choose the URL, such
  ///   a response is not stored; if the user did, it is stored only for the user's own requests.
  func head(
    of status: Int, _ headers: HTTPHeaders, from url: URL, isPrivate: Bool = false, requested: Date, received: Date
  ) -> HTTPStoredResponse.Head? {
    let control = CacheControl(headers.values(of: "Cache-Control"))
    guard !isBypassing, (200...599).contains(status), status != 206, status != 304 else { return nil }
    if control.has("must-understand") {
      guard Self.isUnderstood(status) else { return nil }
    } else if control.has("no-store") {
      return nil
    }
    let isAllowed =
      control.has("public") || control.has("private") || control.has("max-age") || headers["Expires"] != nil
      || CacheFreshness.isHeuristicallyCacheable(status)
    guard isAllowed, !(isPrivate && isChosenByOthers), var selectors = selectors(for: headers) else { return nil }
    if isPrivate { selectors[Self.privateNetwork] = .some(selector(Self.privateNetwork)) }
    // Such a response is only for requests that follow it.
    if request.skipsRedirectBodies, HTTPRedirect.isRedirect(status, headers) {
      selectors[Self.redirectBody] = .some(selector(Self.redirectBody))
    }
    var kept = headers.endToEnd
    // A cache must add a missing `Date` (RFC 9110, section 6.6.1).
    if kept["Date"] == nil { kept = kept.adding("Date", HTTPDate.text(received)) }
    return HTTPStoredResponse.Head(
      status: status, headers: kept, url: url, requested: requested, received: received, selectors: selectors,
      isDecoded: request.decodesContent)
  }

  /// The statuses of RFC 9110 that a whole stored response can have.
  private static func isUnderstood(_ status: Int) -> Bool {
    switch status {
    case 200...205, 300...303, 305, 307, 308, 400...417, 421, 422, 426, 500...505: true
    default: false
    }
  }

  /// This request, with the conditions to validate `stored` (section 4.3.1); `nil` if there is nothing to compare.
  func validating(_ stored: HTTPStoredResponse.Head) -> HTTPRequest? {
    var conditional = request
    for (condition, name) in [("If-None-Match", "ETag"), ("If-Modified-Since", "Last-Modified")] {
      guard let validator = stored.headers[name]?.asValidator else { continue }
      conditional.headers.append(HTTPRequest.Header(name: condition, value: validator))
    }
    return conditional.headers.count > request.headers.count ? conditional : nil
  }

  /// The head of `stored` after a 304 (sections 3.2 and 4.3.4); `nil` if the 304 refers to a different version.
  func head(
    of stored: HTTPStoredResponse.Head, renewedBy headers: HTTPHeaders, requested: Date, received: Date
  ) -> HTTPStoredResponse.Head? {
    // Without a validator, the 304 refers to the version whose validator was sent.
    if let tag = headers["ETag"], let known = stored.headers["ETag"] {
      guard EntityTag(tag).matches(EntityTag(known)) else { return nil }
    } else if headers["ETag"] == nil, let date = headers["Last-Modified"], let known = stored.headers["Last-Modified"] {
      guard date == known else { return nil }
    }
    let renewing = headers.endToEnd.keeping { !Self.describesBody.contains($0.lowercased()) }
    let names = Set(renewing.map { $0.name.lowercased() })
    // The stored `Age` is that of the old response, and its cookies were set when it arrived.
    let outdated = names.union(["age", "set-cookie"])
    var kept = stored.headers.keeping { !outdated.contains($0.lowercased()) }
    kept = HTTPHeaders(lines: Chunk(joining: [kept.lines, renewing.lines]))
    if !names.contains("date") {
      kept = kept.keeping { $0.lowercased() != "date" }.adding("Date", HTTPDate.text(received))
    }
    var head = stored
    head.headers = kept
    head.requested = requested
    head.received = received
    // The response also depends on the fields that the 304 names. This request's values are right, because the stored
    // response is the one for it.
    head.selectors.merge(selectors(for: kept) ?? [:]) { old, _ in old }
    return head
  }

  /// The fields that describe the stored body, and so are not updated.
  private static let describesBody: Set<String> = ["content-encoding", "content-length", "content-range"]
}

// MARK: - The caller's conditions

extension CacheRequest {
  /// The response to this request from a fresh stored one: 304 if the caller already has it (section 4.3.2).
  func evaluated(_ stored: HTTPStoredResponse, at now: Date) -> HTTPResponse {
    let whole = stored.unvalidated(at: now)
    guard stored.head.status == 200, isKnown(stored.head) else { return whole }
    // The fields of a 304 (RFC 9110, section 15.4.5).
    var names: Set<String> = ["age", "cache-control", "content-location", "date", "etag", "expires", "vary"]
    if whole.headers["ETag"] == nil { names.insert("last-modified") }
    let headers = whole.headers.keeping { names.contains($0.lowercased()) }
    return HTTPResponse(status: 304, headers: headers, body: Data(), url: whole.url)
  }

  private func isKnown(_ head: HTTPStoredResponse.Head) -> Bool {
    let tags = request.values(of: "If-None-Match")
    guard tags.isEmpty else { return EntityTag.names(head.headers["ETag"], in: tags, strongly: false) }
    let dates = request.values(of: "If-Modified-Since")
    guard dates.count == 1, let since = HTTPDate.parse(dates[0], now: head.received) else { return false }
    let changed = head.headers["Last-Modified"] ?? head.headers["Date"] ?? ""
    return (HTTPDate.parse(changed, now: head.received) ?? head.received) <= since
  }
}

// MARK: - Responses

extension HTTPResponse {
  /// Status 504: nothing stored may be used, and the server has failed or must not be contacted.
  static func gatewayTimeout(from url: URL, at now: Date) -> HTTPResponse {
    let headers = HTTPHeaders([("Date", HTTPDate.text(now)), ("Content-Length", "0")])
    return HTTPResponse(status: 504, headers: headers, body: Data(), url: url)
  }
}

extension HTTPStoredResponse {
  /// The stored response as delivered without validation: with its age, and without fields that need validation.
  func unvalidated(at now: Date) -> HTTPResponse {
    let freshness = CacheFreshness(head)
    // Cookies were set when the response arrived. Setting them again would undo later changes, such as a login.
    let hidden = freshness.hiddenFields.union(["age", "set-cookie"])
    let age = min(freshness.age(at: now), 2_147_483_648).rounded(.down)
    let headers = head.headers.keeping { !hidden.contains($0.lowercased()) }
    return response(headers.adding("Age", "\(Int(age))"))
  }

  /// The stored response as delivered after its validation.
  var validated: HTTPResponse { response(head.headers) }

  private func response(_ headers: HTTPHeaders) -> HTTPResponse {
    var response = HTTPResponse(status: head.status, headers: headers, body: body, url: head.url)
    response.isPrivate = head.selectors[CacheRequest.privateNetwork] != nil
    return response
  }
}

extension HTTPHeaders {
  /// The fields without those that concern only one connection (RFC 9110, section 7.6.1) or a proxy.
  package var endToEnd: HTTPHeaders {
    var hidden = Self.hopByHop
    hidden.formUnion(values(of: "Connection").flatMap(\.listMembers).map { $0.lowercased() })
    return keeping { !hidden.contains($0.lowercased()) }
  }

  private static let hopByHop: Set<String> = [
    "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    "proxy-connection", "te", "transfer-encoding", "upgrade",
  ]
}

extension String {
  /// This validator if it can be sent back unchanged: it is nonempty, at most 4 KiB long, without control characters,
  /// and valid UTF-8.
  package var asValidator: String? {
    let isASCII = utf8.allSatisfy { $0 < 0x80 }
    let isSendable =
      utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } && (isASCII || !unicodeScalars.contains("\u{FFFD}"))
    return isSendable && !isEmpty && utf8.count <= 4096 ? self : nil
  }
}
