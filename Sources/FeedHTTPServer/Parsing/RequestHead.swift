internal import FeedStream

/// One field's places in the bytes of a head.
struct FieldPlace {
  var name: Place
  var value: Place
}

/// The way in which a body is delimited (RFC 9112, 6.3).
enum BodyFraming: Equatable {
  case none
  case length(Int)
  case chunked
}

/// The head of a request as it came: its bytes, and where everything is in them.
///
/// An object, because many look at it, and a copy would count references to its parts. Its parser alone changes it.
///
/// Its properties are not checked for exclusive access: nothing calls out of here while it changes one.
final class RequestHead {
  @exclusivity(unchecked) var bytes = Chunk()
  @exclusivity(unchecked) var method = HTTPServer.Method.get
  @exclusivity(unchecked) var target = Place(0, 0)
  @exclusivity(unchecked) var form = HTTPServer.TargetForm.origin
  @exclusivity(unchecked) var path = Place(0, 0)
  @exclusivity(unchecked) var query: Place?
  /// The host and port that are requested, of the target or of the field `Host`.
  @exclusivity(unchecked) var authority: Place?
  /// 0 or 1.
  @exclusivity(unchecked) var minorVersion: UInt8 = 1
  @exclusivity(unchecked) var fields = ContiguousArray<FieldPlace>()
  @exclusivity(unchecked) var framing = BodyFraming.none
  @exclusivity(unchecked) var keepsAlive = true
  @exclusivity(unchecked) var expectsContinue = false
  /// It has a field `Range`.
  @exclusivity(unchecked) var asksForPart = false

  func text(_ place: Place) -> String { bytes[place.range].text }
}

/// The reason why a request is refused: the status of the response, and its text.
struct ParseFailure: Error, Equatable {
  let status: HTTPServer.Status
  let reason: StaticString

  init(_ status: HTTPServer.Status, _ reason: StaticString) {
    self.status = status
    self.reason = reason
  }

  init(_ reason: StaticString) { self.init(.badRequest, reason) }

  static func == (a: ParseFailure, b: ParseFailure) -> Bool {
    a.status == b.status && "\(a.reason)" == "\(b.reason)"
  }
}
