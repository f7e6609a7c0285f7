/// Decodes the pairs of a form or a query (`a=b&c=d`) into a flat value: a structure of strings, numbers, Booleans and
/// raw values. Names that occur more than once become arrays of such values.
struct FormDecoder {
  func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
    var fields: [String: [String]] = [:]
    for pair in Percent.pairs(text) {
      guard let name = Percent.decoded(pair.name, isQuery: true),
        let value = Percent.decoded(pair.value, isQuery: true)
      else {
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "an escape is malformed"))
      }
      fields[name, default: []].append(value)
    }
    return try Value(from: FieldsDecoder(fields: fields))
  }
}

/// Decodes all fields, into a value with named properties.
private struct FieldsDecoder: Decoder {
  let fields: [String: [String]]
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Fields<Key>(fields: fields))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw flat }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw flat }

  private var flat: DecodingError {
    .typeMismatch(
      [String: String].self,
      .init(codingPath: [], debugDescription: "a form has named fields, so decode it as a type with properties"))
  }
}

private struct Fields<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let fields: [String: [String]]
  let codingPath: [any CodingKey] = []

  var allKeys: [Key] { fields.keys.compactMap { Key(stringValue: $0) } }
  func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }
  func decodeNil(forKey key: Key) -> Bool { !contains(key) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    guard let values = fields[key.stringValue] else {
      throw DecodingError.keyNotFound(key, .init(codingPath: [], debugDescription: "missing"))
    }
    return try Value(from: FieldDecoder(values: values, codingPath: [key]))
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    throw DecodingError.typeMismatch(type, .init(codingPath: [key], debugDescription: "form fields can't be nested"))
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try FieldDecoder(values: fields[key.stringValue] ?? [], codingPath: [key]).unkeyedContainer()
  }

  func superDecoder() -> any Decoder { FieldsDecoder(fields: fields) }
  func superDecoder(forKey key: Key) -> any Decoder {
    FieldDecoder(values: fields[key.stringValue] ?? [], codingPath: [key])
  }
}

/// Decodes the values of one name.
private struct FieldDecoder: Decoder, SingleValueDecodingContainer {
  let values: [String]
  let codingPath: [any CodingKey]
  let userInfo: [CodingUserInfoKey: Any] = [:]

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw DecodingError.typeMismatch(
      type, .init(codingPath: codingPath, debugDescription: "form fields can't be nested"))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { FieldValues(values: values, codingPath: codingPath) }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
  func decodeNil() -> Bool { values.isEmpty }

  private func value<Value: LosslessStringConvertible>(_ type: Value.Type) throws -> Value {
    guard values.count == 1, let value = Value(values[0]) else {
      throw DecodingError.typeMismatch(type, .init(codingPath: codingPath, debugDescription: "not a \(type)"))
    }
    return value
  }

  func decode(_ type: Bool.Type) throws -> Bool { try value(type) }
  func decode(_ type: String.Type) throws -> String { try value(type) }
  func decode(_ type: Double.Type) throws -> Double { try value(type) }
  func decode(_ type: Float.Type) throws -> Float { try value(type) }
  func decode(_ type: Int.Type) throws -> Int { try value(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try value(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try value(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try value(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try value(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try value(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try value(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try value(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try value(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try value(type) }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: self) }
}

/// Decodes the values of one name, one after another.
private struct FieldValues: UnkeyedDecodingContainer {
  let values: [String]
  let codingPath: [any CodingKey]
  var currentIndex = 0

  init(values: [String], codingPath: [any CodingKey]) {
    self.values = values
    self.codingPath = codingPath
  }

  var count: Int? { values.count }
  var isAtEnd: Bool { currentIndex >= values.count }
  mutating func decodeNil() -> Bool { false }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        type, .init(codingPath: codingPath, debugDescription: "there are no more values"))
    }
    defer { currentIndex += 1 }
    return try Value(from: FieldDecoder(values: [values[currentIndex]], codingPath: codingPath))
  }

  mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw DecodingError.typeMismatch(
      type, .init(codingPath: codingPath, debugDescription: "form fields can't be nested"))
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw DecodingError.typeMismatch(
      [String].self, .init(codingPath: codingPath, debugDescription: "form fields can't be nested"))
  }

  mutating func superDecoder() -> any Decoder { FieldDecoder(values: values, codingPath: codingPath) }
}
