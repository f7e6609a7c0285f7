package import Foundation
package import ImageFeed

/// The state of polling in a store's notes, within one transaction. It is the same for every store that keeps notes.
package struct PollBook {
  private let notes: any FeedNotes

  package init(_ notes: any FeedNotes) { self.notes = notes }

  package func health(of addresses: [URL]) throws -> [FeedHealth?] {
    try addresses.map { try notes.note(.poll(of: $0), as: FeedHealth.self) }
  }

  package func health(ofHost name: String) throws -> HostHealth? { try notes.note(.host(name), as: HostHealth.self) }

  /// The latest decisions, oldest first.
  package func decisions(for address: URL) throws -> [PollDecision] {
    try (0..<PollDecision.kept)
      .compactMap { try notes.note(.decision(about: address, number: $0), as: PollDecision.self) }
      .sorted { $0.time < $1.time }
  }

  package func carryOut(_ work: PollWork) throws -> PollAnswer {
    switch work {
    case .claim(let claim): return .verdict(try verdict(on: claim))
    case .completion(let completion): return .completed(try complete(completion))
    case .visit(let visit):
      let (isGranted, host) = visit.decide(try health(ofHost: visit.host))
      guard isGranted else { return .visit(closed: host) }
      try notes.set(host, at: .host(host.name), isKept: true)
      return .visit(closed: nil)
    case .release(let release):
      let host = release.decide(try health(ofHost: release.host.name))
      try notes.set(host, at: .host(host.name), isKept: true)
      if let request = release.abandoned { try abandon(request) }
      return .released
    case .leaseLost(let feed):
      let key = NoteKey.poll(of: feed.address)
      if try notes.note(key, as: FeedHealth.self)?.asked == feed.asked { try notes.set(feed, at: key, isKept: true) }
      return .released
    }
  }

  private func verdict(on claim: PollClaim) throws -> PollVerdict {
    let address = claim.feed.address
    let saved = try notes.note(.poll(of: address), as: FeedHealth.self)
    let (verdict, feed, host) = claim.decide(
      saved, try health(ofHost: claim.host), try notes.validators(of: address))
    guard case .granted = verdict else {
      // The new due time is saved, so that `explain` and other processes know it.
      if case .notDue = verdict, let saved, feed != saved { try notes.set(feed, at: .poll(of: address), isKept: true) }
      return verdict
    }
    try notes.set(feed, at: .poll(of: address), isKept: true)
    try notes.set(host, at: .host(host.name), isKept: true)
    return verdict
  }

  /// Records that a feed's request has no result. The request still counts, so the feed isn't requested sooner.
  private func abandon(_ request: HostRelease.AbandonedRequest) throws {
    let key = NoteKey.poll(of: request.feed)
    guard var feed = try notes.note(key, as: FeedHealth.self), feed.begun == request.begun else { return }
    feed.begun = nil
    try notes.set(feed, at: key, isKept: true)
  }

  private func complete(_ completion: PollCompletion) throws -> PollRecord? {
    let address = completion.address
    var replacement: FeedReplacement?
    switch completion.change {
    case .replacement(let feed): replacement = try notes.replace(address, with: feed, now: completion.now)
    case .renewal(let renewal):
      replacement = try notes.renew(address, with: renewal, now: completion.now)
      if replacement == nil, !completion.wasRead { return nil }
      replacement = .renewed
    case nil: break
    }
    var record = completion.record(replacement)
    // Another process has requested the feed since this poll began; that poll's state is kept.
    if let asked = record.feed.asked, var later = try notes.note(.poll(of: address), as: FeedHealth.self),
      let askedLater = later.asked, FeedCachePolicy.isSuperseded(asked, by: askedLater, now: completion.now)
    {
      later.polls += 1
      record.feed = later
    }
    try notes.set(record.feed, at: .poll(of: address), isKept: true)
    let host = record.host.merged(into: try health(ofHost: record.host.name), releasing: completion.reserved)
    try notes.set(host, at: .host(host.name), isKept: true)
    try notes.set(record.decision, at: .decision(about: address, number: record.feed.polls), isKept: false)
    return record
  }
}

extension NoteKey {
  fileprivate static func poll(of address: URL) -> NoteKey { NoteKey(.feed(1), address.absoluteString) }
  fileprivate static func host(_ name: String) -> NoteKey { NoteKey(.other(1), name) }
  /// Reads a decision. Decisions form a ring: the newest replaces the oldest.
  fileprivate static func decision(about address: URL, number: Int) -> NoteKey {
    NoteKey(.feed(2), address.absoluteString, place: number % PollDecision.kept)
  }
}

extension NoteStore {
  func reading<R: Sendable>(_ body: (PollBook) throws -> R) throws(FeedStoreError) -> R? {
    try readNotes { try body(PollBook($0)) }
  }

  func carryOutTogether(_ works: [PollWork]) -> [Result<PollAnswer, FeedStoreError>] {
    do throws(FeedStoreError) {
      return try changeNotes(replacing: works.contains(where: \.isReplacement)) { notes in
        let book = PollBook(notes)
        return try works.map { .success(try book.carryOut($0)) }
      }
    } catch {
      // The others needn't fail because of one, such as a document for which the disk has no room. A call that has
      // waited for another process isn't repeated.
      var final = works.count == 1 || error.cause == .busy ? error : nil
      return works.map { work in
        if let final { return .failure(final) }
        let answer = carryOutTogether([work])[0]
        if case .failure(let error) = answer, error.cause == .busy { final = error }
        return answer
      }
    }
  }
}
