/// Turns a value into data; see ``Publisher/encode(encoder:)``.
public protocol TopLevelEncoder<Output> {
  /// What it makes of a value.
  associatedtype Output
  /// Encodes `value`.
  func encode<T: Encodable>(_ value: T) throws -> Output
}

/// Turns data into a value; see ``Publisher/decode(type:decoder:)``.
public protocol TopLevelDecoder<Input> {
  /// What it reads.
  associatedtype Input
  /// Decodes a value of type `type` from `input`.
  func decode<T: Decodable>(_ type: T.Type, from input: Input) throws -> T
}
