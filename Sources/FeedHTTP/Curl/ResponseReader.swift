import FeedStream
import Foundation
import PlainText

/// Reads a response as it arrives, within the request's limits.
///
/// The reader does not depend on libcurl, whose callbacks pass lines and bytes to it.
struct ResponseReader: ~Copyable {
  /// The first error in the response.
  var failure: HTTPError.Kind?
  /// The cause, if the kind doesn't imply it.
  var cause = ""
  /// The lines of the current response's header.
  private var lines: [UInt8] = []
  private var headerBytes = 0
  private var headerLines = 0
  private(set) var isHeaderWhole = false
  private(set) var status = 0
  /// True if a response had status 417: libcurl never again waits for consent in this transfer.
  private(set) var hasRefusedExpectation = false
  /// True if the server has given its consent to a body (status 100).
  private(set) var hasConsented = false
  /// True if the response is a redirect that the client or its caller follows, whose body isn't needed.
  private(set) var isRedirect = false
  /// True if the last line belongs to a field that delimits the body.
  private var isFramingLine = false
  /// True if the header may have a `Content-Encoding`.
  private var mayBeCoded = false
  /// True if the header specifies how the body is delimited.
  private var isFramed = false
  /// The value of `Content-Length`.
  private var length: Int?
  /// True if the header is complete and the body ends with the connection (RFC 9112, section 6.3).
  private(set) var endsWithConnection = false
  private var skipsRedirectBodies = false
  /// True if the response has no body, whatever its fields say.
  private var isHead = false
  var coding = ""
  var decoder: (any ContentDecoder)?
  var received = 0
  var body = BodyBuffer()
  /// The destination of the body as it arrives, if the body is not collected in `body`.
  var stream: BodyStream?
  var maxBodyBytes = 0
  private var decodesContent = true
  private let maxHeaderBytes: Int
  private let maxHeaderLines: Int

  init(maxHeaderBytes: Int, maxHeaderLines: Int) {
    self.maxHeaderBytes = maxHeaderBytes
    self.maxHeaderLines = maxHeaderLines
  }

  /// Resets the reader for the next request.
  ///
  /// - Parameters:
  ///   - size: the header lines and bytes of the redirects that led to the response.
  ///   - stream: the destination of the body as it arrives; if there is none, the body is collected.
  mutating func begin(_ request: HTTPRequest, after size: (lines: Int, bytes: Int), into stream: BodyStream?) {
    discard()
    maxBodyBytes = max(0, request.maxBodyBytes)
    skipsRedirectBodies = request.skipsRedirectBodies
    decodesContent = request.decodesContent
    isHead = request.method == .head
    (headerLines, headerBytes) = size
    self.stream = stream
    stream?.begin(limit: maxBodyBytes)
    lines.reserveCapacity(512)
  }

  /// Releases the received bytes.
  mutating func discard() {
    failure = nil
    cause = ""
    lines = []
    headerBytes = 0
    headerLines = 0
    isHeaderWhole = false
    status = 0
    hasConsented = false
    isRedirect = false
    mayBeCoded = false
    isFramingLine = false
    isFramed = false
    length = nil
    endsWithConnection = false
    coding = ""
    decoder = nil
    received = 0
    body.discard()
    stream = nil
  }

  /// The size of the header so far, including the headers of redirects.
  var headerSize: (lines: Int, bytes: Int) { (headerLines, headerBytes) }

  /// True if the server refuses what the request expects of it (RFC 9110, section 15.5.18).
  var isRefusal: Bool { isHeaderWhole && status == 417 }

  /// The fields of the current response's header.
  var headers: HTTPHeaders { HTTPHeaders(lines: Chunk(lines)) }

  /// Returns the response's body and releases it.
  mutating func takeBody() -> Data { body.takeData() }

  /// True if the bytes waiting to be read fill the stream. The connection is then paused, which the stream records.
  var isFull: Bool {
    guard let stream, stream.isFull else { return false }
    stream.isPaused = true
    return true
  }

  /// Records that libcurl considers the response complete. libcurl accepts a closed connection as the end of a header,
  /// and doesn't check that compressed data is complete.
  ///
  /// - Parameter isCut: true if the connection was closed without `close_notify`.
  mutating func end(isCut: Bool) {
    guard failure == nil else { return }
    if isCut { _ = fail(.truncated, "the TLS connection was closed without a close_notify alert") }
    if !isHeaderWhole { _ = fail(.truncated, "its header is cut off") }
    if let decoder, !decoder.isComplete { _ = fail(.truncated, "the \(coding) data is cut off") }
  }

  /// - Returns: false, to end the request.
  mutating func fail(_ kind: HTTPError.Kind, _ cause: String) -> Bool {
    failure = kind
    self.cause = cause
    return false
  }
}

// MARK: - Header

extension ResponseReader {
  /// Reads one line of a response's header, or of its trailers.
  ///
  /// The limits apply to everything that arrives for one request, including informational responses, redirects and
  /// trailers.
  ///
  /// - Returns: true to continue.
  mutating func header(_ line: UnsafeRawBufferPointer) -> Bool {
    headerBytes += line.count
    headerLines += 1
    guard headerBytes <= maxHeaderBytes, headerLines <= maxHeaderLines else {
      return fail(.headersTooLarge, "more than \(maxHeaderLines) lines or \(maxHeaderBytes.byteSize)")
    }
    // Trailers are ignored (RFC 9110, section 6.5.1), even those of an empty body, and even if they look like the
    // status line of another response, which may follow only a response that isn't the last.
    guard received == 0, !isHeaderWhole || !isLast && line.begins(with: "http/") else { return true }
    let continuesFraming = isFramingLine
    isFramingLine = false
    // The first character rules out most lines.
    switch line.first {
    case UInt8(ascii: "H"), UInt8(ascii: "h"):
      guard line.begins(with: "http/") else { break }
      lines.removeAll(keepingCapacity: true)
      coding = ""
      isHeaderWhole = false
      isRedirect = false
      mayBeCoded = false
      // HTTP/2 and later delimit bodies with frames.
      isFramed = !line.begins(with: "http/1")
      length = nil
      endsWithConnection = false
      status = Self.status(in: line)
      if status == 417 { hasRefusedExpectation = true }
      if status == 100 { hasConsented = true }
      return true
    case UInt8(ascii: "C"), UInt8(ascii: "c"):
      if decodesContent, line.begins(with: "content-encoding") { mayBeCoded = true }
      // libcurl ignores a length with more than 18 digits, and then reads until the connection ends.
      if line.begins(with: "content-length:") {
        isFramingLine = true
        isFramed = isFramed || line.count { 0x30...0x39 ~= $0 } <= 18
        let digits = line.filter { 0x30...0x39 ~= $0 }.reduce(0) { 10 &* $0 &+ Int($1 - 0x30) }
        // libcurl would use the last value, but two values are an error (RFC 9112, section 6.3).
        if let length, length != digits { return fail(.notHTTP, "two different Content-Length values") }
        length = digits
      }
    case UInt8(ascii: "T"), UInt8(ascii: "t"):
      if line.begins(with: "transfer-encoding:") {
        isFramingLine = true
        isFramed = isFramed || String(decoding: line, as: UTF8.self).lowercased().contains("chunked")
      }
    case 0x20, 0x09:
      // libcurl would delimit the body by the first line alone.
      if continuesFraming { return fail(.notHTTP, "Content-Length or Transfer-Encoding continues on another line") }
      unfold()
    case 0x0D, 0x0A:
      readFields()
      isHeaderWhole = true
      endsWithConnection =
        !isFramed && !isHead && status >= 200 && status != 204 && status != 304
    default: break
    }
    lines.append(contentsOf: line)
    return true
  }

  /// True if no other response may follow this one: it isn't informational, and libcurl doesn't respond to it itself.
  private var isLast: Bool { status >= 200 && ![401, 407, 417].contains(status) }

  /// True if the header is complete, and no other response may follow.
  var hasFinalHeader: Bool { isHeaderWhole && isLast }

  /// The number after the first space.
  private static func status(in line: UnsafeRawBufferPointer) -> Int {
    guard let space = line.firstIndex(of: 0x20) else { return 0 }
    return line[(space + 1)...].prefix(3).reduce(0) { 0x30...0x39 ~= $1 ? 10 * $0 + Int($1 - 0x30) : $0 }
  }

  /// Joins the next line to the one before it (RFC 9112, section 5.2).
  private mutating func unfold() {
    while let last = lines.last, last == 0x0A || last == 0x0D { lines.removeLast() }
  }

  /// Reads the fields that decide what happens to the body as `HTTPHeaders` does: a value may continue on another line,
  /// and a space may follow a name. Otherwise, a response could be delivered and then followed as a redirect.
  private mutating func readFields() {
    // The status rules most responses out, and reading the header takes longer.
    if skipsRedirectBodies, HTTPRedirect.statuses.contains(status) {
      isRedirect = HTTPRedirect.isRedirect(status, headers)
    }
    guard mayBeCoded else { return }
    let names = headers.values(of: "Content-Encoding").flatMap { value in
      value.lowercased().split { $0.isWhitespace || $0 == "," }
    }
    coding = names.filter { $0 != "identity" }.joined(separator: ",")
  }
}

extension UnsafeRawBufferPointer {
  /// True when this line begins with `text`, in upper or lower case.
  fileprivate func begins(with text: StaticString) -> Bool {
    count >= text.utf8CodeUnitCount && strncasecmp(baseAddress!, text.utf8Start, text.utf8CodeUnitCount) == 0
  }
}
