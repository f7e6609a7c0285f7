import Dispatch
import FeedPolling
public import FeedRedis
import FeedStream
public import Foundation
public import ImageFeed
import Synchronization

/// The saved feeds of a fleet, as a `FeedStore`.
///
/// Every call blocks until the server has replied, or the client's time limit has passed; the store has its own loop
/// and connection. Changes that other clients save in the meantime are never lost: a call that detects such a change
/// starts over.
public final class RedisFeedStore: FeedStore {
  private let thread: EventLoopThread
  // `Held` is `@unchecked Sendable`: its properties are used only on the loop's thread.
  private let held: Held
  /// The server's address, as shown in errors.
  public let place: String

  private final class Held: @unchecked Sendable {
    var fleet: RedisFleet?
  }

  /// - Parameter creates: true to begin a fleet in an empty database.
  /// - Throws: when the system has no threads left.
  public init(
    _ address: RedisAddress, creates: Bool = true, options: RedisClient.Options = RedisClient.Options()
  ) throws(EventLoopError) {
    thread = try EventLoopThread(name: "redis")
    held = Held()
    place = "\(address)"
    let (held, loop) = (held, thread.loop)
    loop.execute { held.fleet = RedisFleet(RedisClient(address, on: loop, options: options), creates: creates) }
  }

  deinit { close() }

  /// Closes the connection.
  public func close() {
    let held = held
    thread.loop.execute { held.fleet?.client.close() }
  }

  /// Waits for the first value of a publisher that `make` creates on the loop.
  private func wait<Value: Sendable>(
    _ step: FeedStoreError.Step, _ make: @escaping @Sendable (RedisFleet) -> AnyPublisher<Value, FleetError>
  ) throws(FeedStoreError) -> Value {
    let done = DispatchSemaphore(value: 0)
    let result = Mutex<Result<Value, FleetError>?>(nil)
    let box = Waiting<Value> { outcome in
      result.withLock { $0 = outcome }
      done.signal()
    }
    let held = held
    thread.loop.execute {
      guard let fleet = held.fleet else { return box.settle(.failure(.redis(.clientClosed))) }
      box.listen(to: make(fleet))
    }
    done.wait()
    switch result.withLock({ $0 }) {
    case .success(let value): return value
    case .failure(let error): throw FeedStoreError(step, error.cause, place: place)
    case nil: throw FeedStoreError(step, .other("the reply is empty"), place: place)
    }
  }

  private func feed(_ address: URL, _ step: FeedStoreError.Step, withImages: Bool) throws(FeedStoreError) -> FleetFeed?
  {
    let feed = try wait(step) { $0.saved([address], withImages: withImages) }[0].feed
    return feed?.version == nil ? nil : feed
  }

  // MARK: FeedStore

  public func retrieve(for address: URL) throws(FeedStoreError) -> CachedFeed? {
    guard let feed = try feed(address, .retrieval, withImages: true), let timestamp = feed.timestamp else { return nil }
    guard let images = feed.images else { throw .retrieval(.damaged("a feed's images cannot be read"), place: place) }
    return CachedFeed(images: images, timestamp: timestamp, validators: feed.record.validators)
  }

  public func summary(for address: URL) throws(FeedStoreError) -> CachedFeedSummary? {
    try feed(address, .retrieval, withImages: false)?.summary
  }

  public func replace(
    for address: URL, with feed: CachedFeed, now: Date
  ) throws(FeedStoreError) -> FeedReplacement {
    let bytes = feed.images.bytes
    return try changing(address) { old, record in
      if let saved = old?.timestamp, FeedCachePolicy.isSuperseded(feed.timestamp, by: saved, now: now) {
        return (.superseded(by: saved), nil)
      }
      record.timestamp = feed.timestamp.beyondMicroseconds
      record.validators = feed.validators
      record.imageCount = feed.images.count
      let mark = feed.images.isFromPrivateNetwork
      let isSame =
        old?.version != nil && record.digest == FeedImages.digest(in: bytes)
        && (record.isFromPrivateNetwork == nil || record.isFromPrivateNetwork == mark)
      record.isFromPrivateNetwork = mark
      record.digest = FeedImages.digest(in: bytes)
      return (isSame ? .renewed : .replaced, (FeedVersion(feed.timestamp), isSame ? nil : Chunk(bytes)))
    } ?? .replaced
  }

  public func renew(
    for address: URL, with renewal: FeedRenewal, now: Date
  ) throws(FeedStoreError) -> FeedReplacement? {
    try changing(address) { old, record in
      guard let saved = old?.timestamp, record.validators == renewal.since else { return (nil, nil) }
      if FeedCachePolicy.isSuperseded(renewal.timestamp, by: saved, now: now) {
        return (.superseded(by: saved), nil)
      }
      record.timestamp = renewal.timestamp.beyondMicroseconds
      record.validators = renewal.validators
      return (.renewed, (FeedVersion(renewal.timestamp), nil))
    }
  }

  /// Reads a feed, and writes the result of `change` if the feed has not changed since it was read.
  private func changing(
    _ address: URL,
    _ change: (FleetFeed?, inout FeedRecord) -> (FeedReplacement?, write: (FeedVersion, Chunk?)?)
  ) throws(FeedStoreError) -> FeedReplacement? {
    for _ in 0..<100 {
      let old = try wait(.insertion) { $0.saved([address], withImages: false) }[0]
      var record = old.feed?.record ?? FeedRecord(health: FeedHealth(address: address))
      let (replacement, write) = change(old.feed, &record)
      guard let (version, document) = write else { return replacement }
      let new = FleetFeed(address: address, record: record, version: version, document: document)
      if try wait(.insertion, { $0.replace(old, by: new) }) { return replacement }
    }
    throw .insertion(.busy, place: place)
  }

  @discardableResult public func delete(
    for address: URL, if condition: FeedDeletionCondition
  ) throws(FeedStoreError) -> Bool {
    guard let feed = try feed(address, .deletion, withImages: condition == .unreadable) else { return false }
    switch condition {
    case .always: break
    case .timestamp(let timestamp): guard feed.timestamp == timestamp else { return false }
    case .unreadable: guard feed.images == nil else { return false }
    }
    return try wait(.deletion) { $0.forget(feed) }
  }

  public func summaries() throws(FeedStoreError) -> [CachedFeedSummary] {
    let pages = try wait(.retrieval) { $0.savedFeeds().collect().eraseToAnyPublisher() }
    let summaries = Dictionary(pages.joined().compactMap { $0.summary.map { ($0.address, $0) } }) { $1 }
    return summaries.values.sorted { $0.address.absoluteString < $1.address.absoluteString }
  }

  public func deleteAll() throws(FeedStoreError) {
    for summary in try summaries() { try delete(for: summary.address, if: .always) }
  }
}

extension Date {
  /// This date; `nil` if a ``FeedVersion`` represents it exactly.
  fileprivate var beyondMicroseconds: Date? { FeedVersion(self).date == self ? nil : self }
}

/// One call, which is retained until its result arrives.
// @unchecked: created by the caller, and then used only on the loop.
private final class Waiting<Value: Sendable>: @unchecked Sendable {
  private var done: ((Result<Value, FleetError>) -> Void)?
  private var subscription: AnyCancellable?

  init(_ done: @escaping (Result<Value, FleetError>) -> Void) { self.done = done }

  func settle(_ result: Result<Value, FleetError>) { done.take()?(result) }

  func listen(to publisher: AnyPublisher<Value, FleetError>) {
    subscription = publisher.sink { [self] in
      if case .failure(let error) = $0 { settle(.failure(error)) }
      subscription = nil
    } receiveValue: { [self] in
      settle(.success($0))
    }
  }
}

extension FleetError {
  fileprivate var cause: FeedStoreError.Cause {
    switch self {
    case .engine(RedisError.refused(_, let refusal), _):
      switch refusal.kind {
      case .outOfMemory: .diskFull
      case .notPermitted, .wrongPassword, .passwordWanted: .notPermitted
      case .busy, .loading: .busy
      default: .other(sentence)
      }
    case .foreign: .foreign
    case .newerSchema(_, let version): .newerSchema(version)
    case .olderSchema(_, let version): .olderSchema(version)
    case .damaged(_, let what): .damaged(what)
    case .engine(let error as FeedStoreError, _): error.cause
    case .engine, .noFeeds, .evicting: .other(sentence)
    }
  }

  /// The text without its final period, which is added later.
  private var sentence: String {
    let text = "\(self)"
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }
}
