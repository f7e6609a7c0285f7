internal import FeedStream

/// The ranges of one field in the bytes of a head.
struct FieldPlace {
  var name: Place
  var value: Place
}

/// The framing of a body (RFC 9112, 6.3).
enum BodyFraming: Equatable {
  case none
  case length(Int)
  case chunked
}

/// The unchanged head of a request: its bytes, and the ranges of its parts.
///
/// This is a class because it is used in many places, and copying a structure would retain each of its parts. After
/// parsing, only the connection changes it: it compacts ``bytes``, and clears ``expectsContinue``.
///
/// Its properties are not checked for exclusive access: no other code runs while one is changed.
final class RequestHead {
  @exclusivity(unchecked) var bytes = Chunk()
  @exclusivity(unchecked) var method = HTTPMethod.get
  @exclusivity(unchecked) var target = Place(0, 0)
  @exclusivity(unchecked) var form = RequestTargetForm.origin
  @exclusivity(unchecked) var path = Place(0, 0)
  @exclusivity(unchecked) var query: Place?
  /// The requested host and port, from the target or the `Host` field.
  @exclusivity(unchecked) var authority: Place?
  /// The minor version of HTTP/1: 0 or 1.
  @exclusivity(unchecked) var minorVersion: UInt8 = 1
  @exclusivity(unchecked) var fields = ContiguousArray<FieldPlace>()
  @exclusivity(unchecked) var framing = BodyFraming.none
  @exclusivity(unchecked) var keepsAlive = true
  @exclusivity(unchecked) var expectsContinue = false
  /// True if there is a `Range` field.
  @exclusivity(unchecked) var asksForPart = false

  func text(_ place: Place) -> String { bytes[place.range].text }

  /// The value of the first field with this name.
  func value(of name: StaticString) -> String? {
    bytes.withUnsafeBytes { bytes in
      let (wanted, count) = (name.utf8Start, name.utf8CodeUnitCount)
      for field in fields where field.name.count == count {
        let start = Int(field.name.start)
        if (0..<count).allSatisfy({ HTTPSyntax.lowercased(bytes[start + $0]) == HTTPSyntax.lowercased(wanted[$0]) }) {
          return String(decoding: bytes[field.value.range], as: UTF8.self)
        }
      }
      return nil
    }
  }
}
