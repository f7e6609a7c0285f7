public import Foundation

extension Publisher where Output == Chunk {
  /// Decodes each line as a JSON value: JSON Lines, the format of many logs and data sets.
  ///
  ///     File("events.jsonl").bytes(on: loop).decodeJSONLines(Event.self)
  ///       .sink { print($0) } receiveValue: { print($0) }
  ///
  ///     upstream    --{"n":1}⏎{"n"--:2}⏎--|
  ///     decodeJSONLines(Event.self)
  ///     downstream  --Event(1)------Event(2)--|
  ///
  /// Chunks may end anywhere, even within a line. Lines end with LF or CR LF, which may be missing after the last line;
  /// blank lines are skipped. To continue after a line that cannot be decoded:
  ///
  ///     File("events.jsonl").bytes(on: loop).decodeJSONLines(Event.self, onInvalid: .skip { print($0) })
  ///       .sink { print($0) } receiveValue: { print($0) }
  ///
  /// **Demand:** requests one chunk at a time, and only when there is demand and the bytes received so far don't
  /// contain another value. **Failure:** upstream's, ``JSONLineError`` for a line that cannot be decoded, and
  /// ``ChunkError/partTooLong(limit:)``; the latter two cancel upstream, unless such lines are skipped.
  /// **Cancellation:** passes through. **Policy:** holds one chunk and one incomplete line; a line that is skipped is
  /// reported.
  ///
  /// - Parameters:
  ///   - type: the type of each line's value.
  ///   - decoder: decodes each line.
  ///   - maxLength: the maximum number of bytes in a line; 1 MiB by default.
  ///   - onInvalid: the reaction to a line that cannot be decoded or is too long. By default, the stream fails.
  public func decodeJSONLines<Value: Decodable>(
    _ type: Value.Type, decoder: JSONDecoder = JSONDecoder(), maxLength: Int = 1 << 20,
    onInvalid: InvalidJSONLines = .fail
  ) -> Publishers.Framed<Self, JSONLineDecoder<Value>, Publishers.Throwing<Failure>> {
    framed(by: JSONLineDecoder(decoder: decoder, maxLength: maxLength, onInvalid: onInvalid))
  }
}

/// The reaction to lines that cannot be decoded: see ``Publisher/decodeJSONLines(_:decoder:maxLength:onInvalid:)``.
public enum InvalidJSONLines {
  /// The stream fails.
  case fail
  /// The line is skipped and reported to the closure, or, if there is none, to ``StreamDiagnostics/onCaughtError(_:)``.
  /// The closure may cancel the stream.
  case skip(_ report: ((JSONLineError) -> Void)? = nil)
}

/// A line that could not be decoded: see ``Publisher/decodeJSONLines(_:decoder:maxLength:onInvalid:)``.
public struct JSONLineError: Error, CustomStringConvertible {
  /// The number of the line, from 1.
  public let line: Int
  /// The decoder's error.
  public let cause: any Error

  public var description: String { "line \(line): \(cause)" }
}

/// Decodes JSON values, one per line: see ``Publisher/decodeJSONLines(_:decoder:maxLength:onInvalid:)``.
public struct JSONLineDecoder<Value: Decodable>: ChunkDecoder {
  public typealias DecodingFailure = any Error

  private let decoder: JSONDecoder
  private var lines: SplittingDecoder
  private let onInvalid: InvalidJSONLines
  private var number = 0
  /// True while the rest of a line that is too long is being skipped.
  private var isSkipping = false

  /// - Precondition: `maxLength` is more than zero.
  public init(
    decoder: JSONDecoder = JSONDecoder(), maxLength: Int = 1 << 20, onInvalid: InvalidJSONLines = .fail
  ) {
    self.decoder = decoder
    self.onInvalid = onInvalid
    lines = SplittingDecoder(separator: 10, maxLength: maxLength)
  }

  public mutating func feed(_ chunk: Chunk) { lines.feed(chunk) }

  public mutating func next() throws -> Value? {
    while let line = try nextLine() {
      if let value = try decode(line) { return value }
    }
    return nil
  }

  public mutating func finish() throws -> Value? { try lines.finish().flatMap { try decode($0) } }

  private mutating func nextLine() throws -> Chunk? {
    while true {
      if isSkipping {
        guard lines.skipPart() else { return nil }
        isSkipping = false
      }
      do {
        return try lines.next()
      } catch {
        number += 1
        try skip(JSONLineError(line: number, cause: error), or: error)
        isSkipping = true
      }
    }
  }

  private mutating func decode(_ line: Chunk) throws -> Value? {
    number += 1
    // A blank line contains only JSON's white space.
    if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return nil }
    do {
      return try decoder.decode(Value.self, from: line.data)
    } catch {
      let error = JSONLineError(line: number, cause: error)
      try skip(error, or: error)
      return nil
    }
  }

  /// Reports a skipped line, or throws `failure` if lines aren't skipped.
  private func skip(_ error: JSONLineError, or failure: any Error) throws {
    guard case .skip(let report) = onInvalid else { throw failure }
    guard let report else { return StreamDiagnostics.caught(error.cause, "decodeJSONLines: line \(error.line)") }
    report(error)
  }
}

extension Chunk {
  /// A copy of the bytes as `Data`. To read the bytes without copying them, use ``bytes`` or ``withUnsafeBytes(_:)``.
  // A `Data` that shared the memory would let its owner change an immutable chunk: Foundation's `bytesNoCopy` doesn't
  // copy before a change.
  public var data: Data { withUnsafeBytes { Data($0) } }
}

extension File {
  /// - Precondition: `url` is a file URL.
  public init(_ url: URL) {
    precondition(url.isFileURL, "File(\(url)): not a file URL; use one, such as URL(filePath: path)")
    self.init(url.path)
  }
}
