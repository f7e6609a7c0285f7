import Foundation

/// JSON with its keys in alphabetical order, usually with `feed_url` for `feedURL`, and with dates in ISO 8601.
func encoded(
  _ value: some Encodable, keys: JSONEncoder.KeyEncodingStrategy = .convertToSnakeCase
) -> String {
  let encoder = JSONEncoder()
  encoder.keyEncodingStrategy = keys
  encoder.dateEncodingStrategy = .iso8601
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  // Values of these types can always be encoded.
  return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
}
