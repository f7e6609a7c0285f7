public import Foundation
public import ImageFeed

extension VirtualDisk {
  public func retrieve(for address: URL) throws(FeedStoreError) -> CachedFeed? {
    let address = address.absoluteURL
    return try serve(.retrieve(address), .retrieval, DiskEvent.Outcome.retrieved) { platter in
      try platter.pass(.read, .retrieval, at: address)
      guard let record = platter.durable[address] else { return nil }
      guard !record.isDamaged else { throw Self.damage }
      return record.feed
    }
  }

  public func replace(
    for address: URL, with feed: CachedFeed, now: Date
  ) throws(FeedStoreError) -> FeedReplacement {
    let address = address.absoluteURL
    return try serve(.replace(address, feed), .insertion, DiskEvent.Outcome.replaced) { platter in
      try platter.pass(.read, .insertion, at: address)
      if let saved = platter.superseding(feed, at: address, now: now) { return .superseded(by: saved) }
      return try platter.transaction(.insertion, at: address) { platter in
        let record = Platter.Record(feed: feed)
        let isSame = try platter.passReplacement(of: address, by: record)
        platter.working?[address] = record
        return isSame ? .renewed : .replaced
      }
    }
  }

  /// The summary of a feed, even of a damaged one, in which only the images are damaged.
  public func summary(for address: URL) throws(FeedStoreError) -> CachedFeedSummary? {
    let address = address.absoluteURL
    return try serve(.summary(address), .retrieval, DiskEvent.Outcome.summarized) { platter in
      try platter.pass(.read, .retrieval, at: address)
      return platter.durable[address].map { record in
        CachedFeedSummary(
          address: address, timestamp: record.feed.timestamp, imageCount: record.feed.images.count,
          validators: record.feed.validators)
      }
    }
  }

  public func renew(
    for address: URL, with renewal: FeedRenewal, now: Date
  ) throws(FeedStoreError) -> FeedReplacement? {
    let address = address.absoluteURL
    return try serve(.renew(address, renewal), .insertion, DiskEvent.Outcome.renewed) { platter in
      try platter.pass(.read, .insertion, at: address)
      guard let saved = platter.durable[address]?.feed, saved.validators == renewal.since else { return nil }
      if FeedCachePolicy.isSuperseded(renewal.timestamp, by: saved.timestamp, now: now) {
        return .superseded(by: saved.timestamp)
      }
      return try platter.transaction(.insertion, at: address) { platter in
        try platter.pass(.write, .insertion, at: address)
        platter.working?[address]?.feed = CachedFeed(
          saved.images, timestamp: renewal.timestamp, validators: renewal.validators)
        return .renewed
      }
    }
  }

  @discardableResult public func delete(
    for address: URL, if condition: FeedDeletionCondition
  ) throws(FeedStoreError) -> Bool {
    let address = address.absoluteURL
    return try serve(.delete(address, condition), .deletion, DiskEvent.Outcome.deleted) { platter in
      guard let record = platter.durable[address] else { return false }
      switch condition {
      case .always: break
      case .timestamp(let timestamp): guard record.feed.timestamp == timestamp else { return false }
      case .unreadable: guard try isUnreadable(record, &platter, at: address) else { return false }
      }
      return try platter.transaction(.deletion, at: address) { platter in
        try platter.pass(.remove, .deletion, at: address)
        platter.working?[address] = nil
        if condition == .always { platter.workingNotes?.removeNotes(ofFeed: address) }
        return true
      }
    }
  }

  public func summaries() throws(FeedStoreError) -> [CachedFeedSummary] {
    let listed: ([CachedFeedSummary]) -> DiskEvent.Outcome = { _ in .listed }
    return try serve(.summaries, .retrieval, listed) { platter in
      try platter.pass(.read, .retrieval, at: nil)
      return platter.durable.map {
        CachedFeedSummary(address: $0.key, timestamp: $0.value.feed.timestamp, imageCount: $0.value.feed.images.count)
      }.sorted { $0.address.absoluteString < $1.address.absoluteString }
    }
  }

  public func deleteAll() throws(FeedStoreError) {
    let emptied: (()) -> DiskEvent.Outcome = { _ in .emptied }
    return try serve(.deleteAll, .deletion, emptied) { platter in
      try platter.transaction(.deletion, at: nil) { platter in
        try platter.pass(.remove, .deletion, at: nil)
        platter.working = [:]
        platter.workingNotes?.removeNotes()
      }
    }
  }

  private static var damage: FeedStoreError {
    FeedStoreError(.retrieval, .damaged("its checksum is wrong"), place: place)
  }

  /// True if the images can't be read.
  private func isUnreadable(_ record: Platter.Record, _ platter: inout Platter, at address: URL) throws -> Bool {
    if record.isDamaged { return true }
    do {
      try platter.pass(.read, .retrieval, at: address)
      return platter.durable[address]?.isDamaged ?? false
    } catch is FeedStoreError {
      return true
    }
  }
}
