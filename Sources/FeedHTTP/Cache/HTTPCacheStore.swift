public import FeedStream
public import Foundation

/// Keeps the responses of a private HTTP cache in memory (``MemoryHTTPCache``) or in a file.
///
/// A store doesn't interpret HTTP: it keeps several responses per key, up to a maximum number of bytes, and deletes the
/// least recently used first. Like a stream, it must be used on one thread. Its publishers do their work when they are
/// subscribed to, in the order of the subscriptions.
public protocol HTTPCacheStore {
  /// The responses kept under a key.
  ///
  /// **Demand, completion:** delivers one array, which may be empty, and finishes. **Cancellation:** nothing is
  /// delivered.
  ///
  /// - Parameter isWanted: chooses the responses to deliver; the bodies of the others are not read.
  func responses(
    for key: String, where isWanted: @escaping @Sendable (HTTPStoredResponse.Head) -> Bool
  ) -> AnyPublisher<[HTTPStoredResponse], HTTPCacheError>

  /// Changes the responses under a key, atomically.
  ///
  /// **Demand, completion:** finishes without a value. **Cancellation:** a running change is completed.
  ///
  /// - Parameter isMeant: chooses the responses to change.
  func change(
    _ key: String, where isMeant: @escaping @Sendable (HTTPStoredResponse.Head) -> Bool, to change: HTTPCacheChange
  ) -> AnyPublisher<Never, HTTPCacheError>
}

/// A change to the responses that a store keeps under a key.
public enum HTTPCacheChange: Sendable, Equatable {
  /// Removes the chosen responses.
  case remove
  /// Replaces the chosen responses with this one. A response that exceeds the store's capacity is not kept.
  case save(HTTPStoredResponse)
  /// Replaces the head of the chosen response that was received most recently, and keeps its body; the others are
  /// removed. Does nothing if no response is chosen.
  case freshen(HTTPStoredResponse.Head)
}

/// A response in a store.
public struct HTTPStoredResponse: Sendable, Equatable {
  /// The response without its body.
  public struct Head: Sendable, Equatable {
    public var status: Int
    /// The header fields, without those that belong to a connection.
    public var headers: HTTPHeaders
    /// The URL that the response came from.
    public var url: URL
    /// The time of the request that led to the response, or to its last validation.
    public var requested: Date
    /// The time at which the response arrived.
    public var received: Date
    /// The request's fields on which the response depends, by their names in lower case; a field that was not sent is
    /// `nil`.
    public var selectors: [String: String?]
    /// True when the body was decompressed.
    public var isDecoded: Bool

    public init(
      status: Int, headers: HTTPHeaders, url: URL, requested: Date, received: Date, selectors: [String: String?] = [:],
      isDecoded: Bool = true
    ) {
      self.status = status
      self.headers = headers
      self.url = url
      self.requested = requested
      self.received = received
      self.selectors = selectors
      self.isDecoded = isDecoded
    }
  }

  public var head: Head
  public var body: Data

  public init(head: Head, body: Data) {
    self.head = head
    self.body = body
  }

  /// The number of bytes that a store counts for the response: its body, its header, and 512 bytes for everything else.
  public var byteCount: Int { body.count + head.headers.lines.count + 512 }
}

/// The reason why a store's operation failed. The subscriber still receives its response.
public struct HTTPCacheError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A readable description of the failure, in one sentence.
  public var description: String

  public init(_ description: String) { self.description = description }
}
