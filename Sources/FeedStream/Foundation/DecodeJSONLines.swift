public import Foundation

extension Publisher where Output == Chunk {
  /// Decodes each line as a value of JSON: JSON Lines, as logs and data sets are kept.
  ///
  ///     File("events.jsonl").bytes(on: loop).decodeJSONLines(Event.self)
  ///       .sink { print($0) } receiveValue: { print($0) }
  ///
  ///     upstream    --{"n":1}⏎{"n"--:2}⏎--|
  ///     decodeJSONLines(Event.self)
  ///     downstream  --Event(1)------Event(2)--|
  ///
  /// The bytes may be cut anywhere. Lines end with LF or CR LF, the last need not end; blank lines are passed over. To go on
  /// after a line that cannot be decoded, use ``Publisher/lines(maxLength:)`` and decode in a `map`.
  ///
  /// **Demand:** asks for one chunk at a time, and only when a value is wanted and the bytes there are make none.
  /// **Failure:** upstream's, ``JSONLineError`` for a line that is no such value, and ``ChunkError/partTooLong(limit:)``;
  /// these two cancel upstream. **Cancellation:** passes through. **Policy:** holds one chunk, and a line that is not complete.
  ///
  /// - Parameters:
  ///   - type: what a line is.
  ///   - decoder: decodes each line.
  ///   - maxLength: how many bytes a line may have: a mebibyte, unless changed.
  public func decodeJSONLines<Value: Decodable>(
    _ type: Value.Type, decoder: JSONDecoder = JSONDecoder(), maxLength: Int = 1 << 20
  ) -> Publishers.Framed<Self, JSONLineDecoder<Value>, Publishers.Throwing<Failure>> {
    framed(by: JSONLineDecoder(decoder: decoder, maxLength: maxLength))
  }
}

/// A line that could not be decoded: see ``Publisher/decodeJSONLines(_:decoder:maxLength:)``.
public struct JSONLineError: Error, CustomStringConvertible {
  /// Which line, counted from 1.
  public let line: Int
  /// What the decoder says.
  public let cause: any Error

  public var description: String { "line \(line): \(cause)" }
}

/// Values of JSON, one a line: see ``Publisher/decodeJSONLines(_:decoder:maxLength:)``.
public struct JSONLineDecoder<Value: Decodable>: ChunkDecoder {
  public typealias DecodingFailure = any Error

  private let decoder: JSONDecoder
  private var lines: SplittingDecoder
  private var number = 0

  /// - Precondition: `maxLength` is more than zero.
  public init(decoder: JSONDecoder = JSONDecoder(), maxLength: Int = 1 << 20) {
    self.decoder = decoder
    lines = SplittingDecoder(separator: 10, maxLength: maxLength)
  }

  public mutating func feed(_ chunk: Chunk) { lines.feed(chunk) }

  public mutating func next() throws -> Value? {
    while let line = try lines.next() {
      if let value = try decode(line) { return value }
    }
    return nil
  }

  public mutating func finish() throws -> Value? { try lines.finish().flatMap { try decode($0) } }

  private mutating func decode(_ line: Chunk) throws -> Value? {
    number += 1
    // JSON's own white space, which is all that a blank line has.
    if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return nil }
    do {
      return try decoder.decode(Value.self, from: line.data)
    } catch {
      throw JSONLineError(line: number, cause: error)
    }
  }
}

extension Chunk {
  /// The bytes as `Data`, which shows the same memory when there are many.
  public var data: Data {
    guard count >= 4096 else { return withUnsafeBytes { Data($0) } }
    let memory = memory
    return Data(
      bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: count,
      deallocator: .custom { _, _ in withExtendedLifetime(memory) {} })
  }
}

extension File {
  /// - Precondition: `url` is that of a file.
  public init(_ url: URL) {
    precondition(url.isFileURL, "File(\(url)): that is no file; use a URL with the scheme file")
    self.init(url.path)
  }
}
