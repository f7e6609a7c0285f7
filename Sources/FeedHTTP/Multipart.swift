import FeedStream
import Foundation

/// A field of a form that may contain files (RFC 7578).
public struct MultipartField: Sendable, Hashable {
  public var name: String
  /// The file's name, if the field is a file.
  public var fileName: String?
  /// The value. Its ``HTTPBody/contentType`` is sent with it.
  public var body: HTTPBody

  public init(_ name: String, fileName: String? = nil, _ body: HTTPBody) {
    self.name = name
    self.fileName = fileName
    self.body = body
  }

  /// A text field.
  public static func text(_ name: String, _ value: String) -> MultipartField {
    MultipartField(name, .text(value, type: nil))
  }

  /// The file at a path, named after the path's last part.
  public static func file(
    _ name: String, _ path: String, type: String = "application/octet-stream"
  ) -> MultipartField {
    MultipartField(name, fileName: split(path).name, .file(path, type: type))
  }

  /// The lines before the value.
  fileprivate var header: String {
    var text = "Content-Disposition: form-data; name=\"\(Self.quoted(name))\""
    if let fileName { text += "; filename=\"\(Self.quoted(fileName))\"" }
    // A content type must not contain a line break.
    let type = body.contentType.map { $0.filter { !$0.isNewline } }
    return text + (type.map { "\r\nContent-Type: \($0)" } ?? "") + "\r\n\r\n"
  }

  /// The text as browsers escape it (WHATWG HTML, section 4.10.21.8).
  private static func quoted(_ text: String) -> String {
    var quoted = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "%22"
      case "\r": quoted += "%0D"
      case "\n": quoted += "%0A"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted
  }
}

extension HTTPBody {
  /// A form with files (`multipart/form-data`, RFC 7578). Its length is known if the lengths of its values are.
  ///
  /// - Parameter boundary: separates the fields, and must not occur in any of them; random by default.
  public static func multipart(_ fields: [MultipartField], boundary: String? = nil) -> HTTPBody {
    let boundary = boundary ?? "FeedStream-" + String(UInt64.random(in: .min ... .max), radix: 36)
    var parts: [Part] = []
    for field in fields {
      parts.append(.bytes(Chunk("--\(boundary)\r\n\(field.header)")))
      parts += field.body.parts + [.bytes(Chunk("\r\n"))]
    }
    parts.append(.bytes(Chunk("--\(boundary)--\r\n")))
    // A boundary may have characters that a parameter may only have in quotes (RFC 2045, section 5.1).
    let value = HTTPSyntax.isToken(boundary) ? boundary : "\"\(boundary)\""
    return HTTPBody(parts, type: "multipart/form-data; boundary=\(value)")
  }
}

/// The text of a form's names and values (WHATWG URL standard, section 5.2).
enum FormText {
  static func encoded(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"):
        bytes.append(byte)
      case 0x20: bytes.append(UInt8(ascii: "+"))
      default: bytes += escape(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A byte as a percent sign and two digits.
  static func escape(_ byte: UInt8) -> [UInt8] { [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)] }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
}
