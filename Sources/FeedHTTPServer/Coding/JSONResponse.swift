internal import FeedStream
public import Foundation

extension ServerResponse {
  /// A value as JSON, with its members in alphabetical order by default.
  ///
  ///     routes.get("/todos") { _ in try .json(todos) }
  ///
  /// - Throws: the encoder's error.
  public static func json(
    _ value: some Encodable, _ status: HTTPStatus = .ok, headers: HTTPHeaders = [:],
    encoder: JSONEncoder? = nil
  ) throws -> ServerResponse {
    let bytes = try (encoder ?? sorted).encode(value)
    var response = ServerResponse(status, headers: headers, body: bytes.withUnsafeBytes { Chunk(copying: $0) })
    if response.headers["Content-Type"] == nil { response.headers.add("Content-Type", "application/json") }
    return response
  }

  /// Sorts keys, so that equal values have equal bytes, and equal tags in caches.
  private static var sorted: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }
}
