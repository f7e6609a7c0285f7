public import FeedStream
public import Foundation

/// A place where a private HTTP cache keeps responses: ``MemoryHTTPCache``, or a file.
///
/// A store knows nothing of HTTP: it keeps several responses under a key, bounded by bytes, and forgets those that were not
/// used for longest. It lives on one thread, as streams do, and its publishers do their work when they are subscribed to, in
/// that order.
public protocol HTTPCacheStore {
  /// The responses kept under a key.
  ///
  /// **Demand, completion:** delivers one array, which may be empty, and finishes. **Cancellation:** nothing is delivered.
  ///
  /// - Parameter isWanted: chooses among them; the bodies of others are not read.
  func responses(
    for key: String, where isWanted: @escaping @Sendable (HTTPStoredResponse.Head) -> Bool
  ) -> AnyPublisher<[HTTPStoredResponse], HTTPCacheError>

  /// Changes what is kept under a key: all of it happens, or nothing.
  ///
  /// **Demand, completion:** finishes without a value. **Cancellation:** a change that has begun is completed.
  ///
  /// - Parameter isMeant: chooses the responses that the change is about.
  func change(
    _ key: String, where isMeant: @escaping @Sendable (HTTPStoredResponse.Head) -> Bool, to change: HTTPCacheChange
  ) -> AnyPublisher<Never, HTTPCacheError>
}

/// A change of the responses that a store keeps under a key.
public enum HTTPCacheChange: Sendable, Equatable {
  /// Removes those that are meant.
  case remove
  /// Removes those that are meant, and keeps this one instead. One that is larger than the store is not kept.
  case save(HTTPStoredResponse)
  /// Replaces the head of the one among those meant that was received last, whose body stays; the others are removed.
  /// Without such a response nothing happens.
  case freshen(HTTPStoredResponse.Head)
}

/// A response in a store.
public struct HTTPStoredResponse: Sendable, Equatable {
  /// Everything but the body.
  public struct Head: Sendable, Equatable {
    public var status: Int
    /// The header fields, without those that belong to a connection.
    public var headers: HTTPHeaders
    /// The address that answered.
    public var url: URL
    /// The time at which the request was made that the response, or its last validation, answered.
    public var requested: Date
    /// The time at which the response arrived.
    public var received: Date
    /// The fields of the request on which the response depends, by name in lower case; a field that was not sent is
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

  /// The bytes that a store counts for it: its body, its header and 512 for everything else.
  public var byteCount: Int { body.count + head.headers.lines.count + 512 }
}

/// The reason why a store's operation failed. It never keeps a response from its subscriber.
public struct HTTPCacheError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A sentence for people, with the place.
  public var description: String

  public init(_ description: String) { self.description = description }
}
