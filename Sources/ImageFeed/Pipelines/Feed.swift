public import Foundation

/// A feed to show, and its origin.
public typealias Feed = Loaded<FeedImages>

/// A value to show, and its origin.
public struct Loaded<Value> {
  public var value: Value
  public var source: LoadSource

  public init(_ value: Value, source: LoadSource) {
    self.value = value
    self.source = source
  }
}

extension Loaded {
  /// A saved value, and the reason why it is shown instead of the server's.
  init(_ saved: Saved<Value>, because reason: RemoteFeedError, now: Date) {
    let age = FeedCachePolicy.age(of: saved.timestamp, now: now)
    self.init(saved.value, source: .cache(savedAt: saved.timestamp, age: age, reason: reason))
  }
}

extension Loaded: Sendable where Value: Sendable {}
extension Loaded: Equatable where Value: Equatable {}
extension Loaded: Hashable where Value: Hashable {}

/// The origin of a value.
public enum LoadSource: Hashable, Sendable {
  /// The server, just now.
  case remote
  /// The cache, because no request was made, or the server was unreachable or sent nothing to show.
  ///
  /// - Parameters:
  ///   - savedAt: the time when the value was requested from the server.
  ///   - age: the time from then until it was loaded.
  ///   - reason: the reason why the server's value is unavailable.
  case cache(savedAt: Date, age: Duration, reason: RemoteFeedError)
  /// The server, just now, but the end is missing. The part that arrived is shown because there is no saved value; the
  /// part itself isn't saved.
  ///
  /// - Parameter reason: ``InvalidData/cutOff(_:)``.
  case part(reason: RemoteFeedError)

  /// True for a complete value that came from its server.
  public var isRemote: Bool { if case .remote = self { true } else { false } }

  /// True for a value whose end is missing.
  public var isPart: Bool { if case .part = self { true } else { false } }
}

extension Loaded where Value == FeedImages {
  /// The images, in the server's order. A feed may have none.
  public var images: FeedImages {
    get { value }
    set { value = newValue }
  }

  public init(images: FeedImages, source: LoadSource) {
    self.init(images, source: source)
  }

  public init(images: some Sequence<FeedImage>, source: LoadSource) {
    self.init(FeedImages(images), source: source)
  }
}
