public import FeedPolling
public import Foundation
public import ImageFeed

extension VirtualDisk: PollStore {
  public func health(of addresses: [URL]) throws(FeedStoreError) -> [FeedHealth?] {
    try reading(.health(addresses)) { try $0.health(of: addresses) }
  }

  public func health(ofHost name: String) throws(FeedStoreError) -> HostHealth? {
    try reading(.hostHealth(name)) { try $0.health(ofHost: name) }
  }

  public func decisions(for address: URL) throws(FeedStoreError) -> [PollDecision] {
    try reading(.decisions(address)) { try $0.decisions(for: address) }
  }

  /// Executes each piece of work in its own transaction, which may fail.
  public func carryOut(_ works: [PollWork]) -> [Result<PollAnswer, FeedStoreError>] {
    works.map { work in
      Result { () throws(FeedStoreError) in try changing(work.diskCall) { try $0.carryOut(work) } }
    }
  }

  private func reading<T>(_ call: DiskCall, _ body: (PollBook) throws -> T) throws(FeedStoreError) -> T {
    let outcome: (T) -> DiskEvent.Outcome = { _ in .polling }
    return try serve(call, .retrieval, outcome) { platter in
      try platter.pass(.read, .retrieval, at: nil)
      return try platter.withNotes { try body(PollBook($0)) }
    }
  }

  /// Makes a change that a crash before the commit undoes.
  private func changing<T>(_ call: DiskCall, _ body: (PollBook) throws -> T) throws(FeedStoreError) -> T {
    let outcome: (T) -> DiskEvent.Outcome = { _ in .polling }
    return try serve(call, .insertion, outcome) { platter in
      let address: URL? = if case .complete(let address, _) = call { address } else { nil }
      try platter.pass(.read, .insertion, at: address)
      return try platter.changingNotes(of: address) { try body(PollBook($0)) }
    }
  }
}

extension PollWork {
  fileprivate var diskCall: DiskCall {
    switch self {
    case .claim(let claim): .claim(claim)
    case .completion(let completion): .complete(completion.address.absoluteURL, completion.change)
    case .visit(let visit): .visit(visit.host)
    case .release(let release): .release(release.host)
    case .leaseLost(let feed): .leaseLost(feed.address.absoluteURL)
    }
  }
}

extension Platter {
  /// Runs `body` on the notes, in a transaction.
  ///
  /// - Parameter address: the feed that faults may damage.
  fileprivate mutating func changingNotes<T>(
    of address: URL?, _ body: (any FeedNotes) throws -> T
  ) throws -> T {
    try withNotes { notes in
      let result = try body(notes)
      // A replacement has already passed this step.
      if !notes.hasPassedWrite { try notes.platter.pass(.write, .insertion, at: address) }
      let isDamaged = try notes.platter.pass(.beforeCommit, .insertion, at: address)
      for change in notes.changes { change(&notes.platter) }
      // The damage is to the new feed.
      if isDamaged, let address { notes.platter.corrupt(address) }
      try notes.platter.pass(.afterCommit, .insertion, at: address)
      return result
    }
  }

  /// Runs `body` on the notes.
  fileprivate mutating func withNotes<T>(_ body: (PlatterNotes) throws -> T) throws -> T {
    let notes = PlatterNotes()
    swap(&self, &notes.platter)
    defer { swap(&self, &notes.platter) }
    return try body(notes)
  }
}

/// The notes on a platter within one transaction, whose changes are made at its commit.
private final class PlatterNotes: FeedNotes {
  var platter = Platter(seed: 0)
  var changes: [(inout Platter) -> Void] = []
  var hasPassedWrite = false

  func note<Note: StoredNote>(_ key: NoteKey, as type: Note.Type) -> Note? { platter.notes[key] as? Note }

  func set<Note: StoredNote>(_ note: Note, at key: NoteKey, isKept: Bool) { changes.append { $0.notes[key] = note } }

  func validators(of address: URL) -> FeedValidators {
    platter.durable[address.absoluteURL]?.feed.validators ?? FeedValidators()
  }

  func imageCount(of address: URL) -> Int { platter.durable[address.absoluteURL]?.feed.images.count ?? 0 }

  func replace(_ address: URL, with feed: CachedFeed, now: Date) throws -> FeedReplacement {
    let (address, record) = (address.absoluteURL, Platter.Record(feed: feed))
    if let saved = platter.superseding(feed, at: address, now: now) { return .superseded(by: saved) }
    hasPassedWrite = true
    let isSame = try platter.passReplacement(of: address, by: record)
    changes.append { $0.durable[address] = record }
    return isSame ? .renewed : .replaced
  }

  func renew(_ address: URL, with renewal: FeedRenewal, now: Date) -> FeedReplacement? {
    let address = address.absoluteURL
    guard let saved = platter.durable[address]?.feed, saved.validators == renewal.since else { return nil }
    if FeedCachePolicy.isSuperseded(renewal.timestamp, by: saved.timestamp, now: now) {
      return .superseded(by: saved.timestamp)
    }
    let renewed = CachedFeed(saved.images, timestamp: renewal.timestamp, validators: renewal.validators)
    changes.append { $0.durable[address]?.feed = renewed }
    return .renewed
  }
}
