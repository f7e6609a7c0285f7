public import FeedPolling
import FeedRedis
public import FeedStream
import Foundation

extension RedisFleet {
  /// Writes a feed, if neither the saved version nor the record has changed since they were read.
  func replace(_ old: Saved, by new: FleetFeed) -> AnyPublisher<Bool, FleetError> {
    if let error = refusal(of: new.document) { return Fail(error: error).eraseToAnyPublisher() }
    return keeping(
      run(
        FleetScripts.replace,
        [
          RedisArgument(new.address.absoluteString), RedisArgument(old.feed?.version?.description ?? ""),
          RedisArgument(new.version?.description ?? ""), RedisArgument(new.record.text),
          new.document.map { RedisArgument($0) } ?? "", .milliseconds(logDuration), new.document == nil ? 0 : 1,
          RedisArgument(old.record),
        ])
    )
    .reading(in: self) { $0.integer.map { $0 == 1 } }
  }

  /// The error for images that are too large to be saved.
  func refusal(of document: Chunk?) -> FleetError? {
    guard let count = document?.count, count > FleetRules.documentBytes else { return nil }
    let reason = "the feed's images take more than \(FleetRules.documentBytes >> 20) MiB"
    return .store(.insertion(.other(reason), place: place))
  }

  /// Deletes a saved feed, if it has not changed since it was read.
  func forget(_ feed: FleetFeed) -> AnyPublisher<Bool, FleetError> {
    run(
      FleetScripts.forget,
      [RedisArgument(feed.address.absoluteString), RedisArgument(feed.version?.description ?? "")]
    )
    .reading(in: self) { $0.integer.map { $0 > 0 } }
  }

  /// All saved feeds without their images, one page at a time; this reads every key. A feed may be delivered twice.
  func savedFeeds() -> AnyPublisher<[FleetFeed], FleetError> {
    let beginning = key("f:")
    return names { [self] cursor in
      run(FleetScripts.scan, [RedisArgument(cursor)])
        .reading(in: self) { NamePage($0) { keys in keys.compactMap(\.text) } }
    }
    // Page by page, because the commands for all feeds at once could exceed `maxWaiting`.
    .flatMap(maxPublishers: .max(1)) { [self] keys in
      saved(keys.compactMap { URL(string: String($0.dropFirst(beginning.count))) }, withImages: false)
    }
    .map { $0.compactMap(\.feed) }
    .eraseToAnyPublisher()
  }

  /// Writes a feed if the saved version is older, or if none is saved. A feed without a version is older than any.
  ///
  /// - Returns: false when the saved version is as new or newer.
  public func put(_ feed: FleetFeed) -> AnyPublisher<Bool, FleetError> { put(feed, triesLeft: 100) }

  /// Starts over if a poll has changed the feed since it was read.
  private func put(_ feed: FleetFeed, triesLeft: Int) -> AnyPublisher<Bool, FleetError> {
    saved([feed.address], withImages: false)
      .flatMap { [self] saved -> AnyPublisher<Bool, FleetError> in
        if let there = saved[0].feed?.version, feed.version.map({ there >= $0 }) ?? true {
          return Just(false).setFailureType(to: FleetError.self).eraseToAnyPublisher()
        }
        guard triesLeft > 0 else {
          return Fail(error: .store(.insertion(.busy, place: place))).eraseToAnyPublisher()
        }
        return replace(saved[0], by: feed)
          .flatMap { [self] isDone in
            isDone
              ? Just(true).setFailureType(to: FleetError.self).eraseToAnyPublisher()
              : put(feed, triesLeft: triesLeft - 1)
          }
          .eraseToAnyPublisher()
      }
      .eraseToAnyPublisher()
  }
}
