internal import FeedStream

/// One field's places in the bytes of a head.
struct FieldPlace {
  var name: Place
  var value: Place
}

/// How a body is delimited (RFC 9112, 6.3).
enum BodyFraming: Equatable {
  case none
  case length(Int)
  case chunked
}

/// The head of a request as it came: its bytes, and where everything is in them.
struct RequestHead {
  var bytes = Chunk()
  var method = HTTPServer.Method.get
  var target = Place(0, 0)
  var form = HTTPServer.TargetForm.origin
  var path = Place(0, 0)
  var query: Place?
  /// The host and port that are asked for, of the target or of the field `Host`.
  var authority: Place?
  /// 0 or 1.
  var minorVersion: UInt8 = 1
  var fields = ContiguousArray<FieldPlace>()
  var framing = BodyFraming.none
  var keepsAlive = true
  var expectsContinue = false
  /// It has a field `Range`.
  var asksForPart = false

  func text(_ place: Place) -> String { bytes[place.range].text }
}

/// Why a request is refused: the status of the answer, and its text.
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
