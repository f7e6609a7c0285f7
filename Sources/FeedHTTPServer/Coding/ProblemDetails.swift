internal import FeedStream

/// An error as a JSON response that describes the problem (RFC 9457, `application/problem+json`).
///
///     throw ProblemDetails(.unprocessableContent, detail: "A title has at least one character.")
public struct ProblemDetails: Error, ResponseError, Hashable, Sendable, CustomStringConvertible {
  public var status: HTTPStatus
  /// The kind of problem: the URI of a page about it. `nil`, the default, if the status is enough.
  public var type: String?
  /// A short summary of the kind of problem; by default, the status's phrase.
  public var title: String?
  /// A description of this request's error.
  public var detail: String?
  /// A URI that identifies this occurrence of the problem.
  public var instance: String?
  /// Additional members, such as the invalid fields.
  public var members: [String: String] = [:]
  /// Header fields of the response, such as `Retry-After`.
  public var headers: HTTPHeaders = [:]

  public init(_ status: HTTPStatus, detail: String? = nil, type: String? = nil, title: String? = nil) {
    self.status = status
    self.type = type
    self.title = title
    self.detail = detail
  }

  public var description: String { detail.map { "\(status): \($0)" } ?? "\(status)" }

  public static func == (a: Self, b: Self) -> Bool {
    a.status == b.status && a.document == b.document && a.headers == b.headers
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(status)
    hasher.combine(document)
  }

  private var document: [String: String] {
    var document = members
    document["type"] = type
    document["title"] = title ?? status.reason
    document["detail"] = detail
    document["instance"] = instance
    return document
  }

  private struct Encoded: Encodable {
    struct Name: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    let status: Int
    let texts: [String: String]

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Name.self)
      for (name, text) in texts where name != "status" { try container.encode(text, forKey: Name(stringValue: name)) }
      try container.encode(status, forKey: Name(stringValue: "status"))
    }
  }

  /// The response with this problem.
  public var response: ServerResponse {
    var headers = headers
    headers["Content-Type"] = "application/problem+json"
    // Encoding strings and a number can't fail.
    let problem = try? ServerResponse.json(
      Encoded(status: status.code, texts: document), status, headers: headers)
    return problem ?? ServerResponse(status, headers: headers, body: "{}")
  }
}
