/// Turns a value into data; see ``Publisher/encode(encoder:)``.
public protocol TopLevelEncoder<Output> {
  /// The type of the encoded data.
  associatedtype Output
  /// Encodes `value`.
  func encode<T: Encodable>(_ value: T) throws -> Output
}

/// Turns data into a value; see ``Publisher/decode(type:decoder:)``.
public protocol TopLevelDecoder<Input> {
  /// The type of the data that the decoder reads.
  associatedtype Input
  /// Decodes a value of type `type` from `input`.
  func decode<T: Decodable>(_ type: T.Type, from input: Input) throws -> T
}
