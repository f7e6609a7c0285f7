public import FeedStream
public import Foundation

/// The body of a request: bytes, a file, a stream of chunks, or several of these in turn.
///
///     var request = HTTPRequest(.post, url)
///     request.body = try .json(["title": "Milk"])
///
/// A body of known length is sent with `Content-Length`. Any other body is sent in chunks (HTTP/1.1) or frames
/// (HTTP/2).
public struct HTTPBody: Sendable, Hashable {
  enum Part: Sendable, Hashable {
    case bytes(Chunk)
    case file(String)
    case stream(HTTPBodyStream)
  }

  var parts: [Part]
  /// The value of `Content-Type`, unless the request has that field; `nil` to send no such field.
  public var contentType: String?

  init(_ parts: [Part], type: String?) {
    self.parts = parts
    contentType = type
  }

  /// A body with these bytes.
  public static func bytes(_ bytes: Chunk, type: String? = "application/octet-stream") -> HTTPBody {
    HTTPBody([.bytes(bytes)], type: type)
  }

  /// A body with the bytes in `data`.
  public static func bytes(_ data: Data, type: String? = "application/octet-stream") -> HTTPBody {
    .bytes(data.withUnsafeBytes { Chunk(copying: $0) }, type: type)
  }

  /// A body with text in UTF-8.
  public static func text(_ text: String, type: String? = "text/plain; charset=utf-8") -> HTTPBody {
    .bytes(Chunk(text), type: type)
  }

  /// A value, encoded as JSON immediately.
  ///
  /// - Throws: the encoder's error.
  public static func json(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws -> HTTPBody {
    .bytes(try encoder.encode(value), type: "application/json")
  }

  /// Fields, encoded as an HTML form sends them (`application/x-www-form-urlencoded`, WHATWG URL standard, section
  /// 5.2).
  public static func form(_ fields: KeyValuePairs<String, String>) -> HTTPBody {
    let pairs = fields.map { FormText.encoded($0.key) + "=" + FormText.encoded($0.value) }
    return .bytes(Chunk(pairs.joined(separator: "&")), type: "application/x-www-form-urlencoded")
  }

  /// A file, which is read off the loop while it is being sent. Its length is read just before the request is sent; if
  /// the file changes after that, the request fails.
  public static func file(_ path: String, type: String? = "application/octet-stream") -> HTTPBody {
    HTTPBody([.file(path)], type: type)
  }

  /// The chunks of a publisher. Each chunk is requested when the connection has room for it.
  ///
  /// The publisher is subscribed to once: a request that has begun to send this body cannot be repeated. The publisher
  /// is used on the thread that calls this method, which must be the client's thread; use on another thread traps.
  ///
  /// - Parameter length: the number of bytes that the publisher delivers, if known. If it delivers more or fewer, the
  ///   request fails.
  public static func stream<P: Publisher>(
    _ publisher: P, length: Int? = nil, type: String? = "application/octet-stream"
  ) -> HTTPBody where P.Output == Chunk {
    let erased = publisher.eraseFailureType().eraseToAnyPublisher()
    return HTTPBody([.stream(HTTPBodyStream(length: length, isRepeatable: false) { erased })], type: type)
  }

  /// The chunks of a publisher that is made each time the body is sent, so that the request can be repeated.
  ///
  /// `make` is called on the thread that calls this method, which must be the client's thread; use on another thread
  /// traps.
  ///
  /// - Parameter length: the number of bytes that the publisher delivers, if known. If it delivers more or fewer, the
  ///   request fails.
  public static func repeatable<P: Publisher>(
    length: Int? = nil, type: String? = "application/octet-stream", _ make: @escaping () -> P
  ) -> HTTPBody where P.Output == Chunk {
    let stream = HTTPBodyStream(length: length, isRepeatable: true) { make().eraseFailureType().eraseToAnyPublisher() }
    return HTTPBody([.stream(stream)], type: type)
  }

  /// True when the body can be sent from the beginning. False only for a publisher that has been subscribed to.
  public var canBeSent: Bool {
    parts.allSatisfy { if case .stream(let stream) = $0 { stream.canBeOpened } else { true } }
  }

  /// The body's bytes; `nil` if part of the body is a file or a stream.
  package var wholeBytes: Chunk? {
    var chunks: [Chunk] = []
    for part in parts {
      guard case .bytes(let bytes) = part else { return nil }
      chunks.append(bytes)
    }
    return Chunk(joining: chunks)
  }
}

// MARK: - Sending

extension HTTPBody {
  /// The reason why a body cannot be sent as it is.
  package enum Problem: Error, CustomStringConvertible {
    case length(announced: Int, delivered: Int)
    case taken
    case noFile(String)

    package var description: String {
      switch self {
      case .length(let announced, let delivered) where delivered < announced:
        "it ended after \(delivered) of \(announced) \(announced == 1 ? "byte" : "bytes")"
      case .length(let announced, _):
        "it has more than the announced \(announced) \(announced == 1 ? "byte" : "bytes")"
      case .taken: "it can be read only once, and has already been read; use a body that can be sent again"
      case .noFile(let path): "\(path) does not exist"
      }
    }
  }

  /// The total length that is known without a lookup, and the files whose lengths must be looked up.
  private var known: (bytes: Int?, files: [String]) {
    var bytes: Int? = 0
    var files: [String] = []
    for part in parts {
      switch part {
      case .bytes(let chunk): bytes = bytes.map { $0 + chunk.count }
      case .file(let path): files.append(path)
      case .stream(let stream): bytes = stream.length.flatMap { length in bytes.map { $0 + length } }
      }
    }
    return (bytes, files)
  }

  /// Determines the length, immediately unless the body has files; `nil` if the length isn't known in advance.
  ///
  /// - Returns: a cancellable that cancels the lookup, if there is one.
  package func measure(
    on scheduler: any LoopScheduler, _ done: @escaping (Result<Int?, any Error>) -> Void
  ) -> (any Cancellable)? {
    let (bytes, files) = known
    guard !files.isEmpty else {
      done(.success(bytes))
      return nil
    }
    let system = scheduler.files
    return scheduler.offload {
      var sum = 0
      for path in files {
        do {
          guard let status = try system.status(of: path) else { return .failure(Problem.noFile(path)) }
          guard status.isRegular, try Self.ends(path, at: status.size, in: system) else { return .success(nil) }
          sum += Int(status.size)
        } catch {
          return .failure(error)
        }
      }
      return .success(sum)
    } completion: { (size: Result<Int?, any Error>) in
      done(size.map { size in size.flatMap { size in bytes.map { $0 + size } } })
    }
  }

  /// False for a file with fewer or more bytes than the system reports, such as those in `/sys` and `/proc`.
  private static func ends(_ path: String, at size: Int64, in system: any FileSystem) throws -> Bool {
    let file = try system.open(path, .reading)
    return try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1) {
      try file.read(into: $0, at: max(size - 1, 0)) == min(size, 1)
    }
  }

  /// True if part of the body is a publisher, whose length is certain only when it has completed.
  var hasStream: Bool { parts.contains { if case .stream = $0 { true } else { false } } }

  /// The body's bytes, from the beginning. **Demand:** passes through to one part after another.
  package func open(on scheduler: any LoopScheduler) -> AnyPublisher<Chunk, any Error> {
    guard parts.count != 1 else { return Self.open(parts[0], on: scheduler) }
    return parts.publisher.setFailureType(to: (any Error).self)
      .flatMap(maxPublishers: .max(1)) { Self.open($0, on: scheduler) }
      .eraseToAnyPublisher()
  }

  private static func open(_ part: Part, on scheduler: any LoopScheduler) -> AnyPublisher<Chunk, any Error> {
    switch part {
    case .bytes(let chunk): Just(chunk).setFailureType(to: (any Error).self).eraseToAnyPublisher()
    case .file(let path): File(path).bytes(on: scheduler).eraseFailureType().eraseToAnyPublisher()
    case .stream(let stream): stream.open()
    }
  }
}
