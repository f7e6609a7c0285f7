import Foundation

/// The notes of polls in a file that aren't in its tables yet, as a connection knows them.
///
/// A poll changes the rows of its feed, its host and its health twice, on as many pages. It appends them instead to the table
/// `journal`, one row for all polls of a transaction, and some hundreds of polls are folded into the tables together. Whoever
/// reads looks here first. Every other change folds before, so what is here is newer than the tables.
// @unchecked: used within transactions, which run on the connection's queue, one at a time.
final class PollJournal: @unchecked Sendable {
  /// The notes on one feed.
  final class Feed {
    /// True when the two that follow are what the file has, its journal included.
    var isRead = false
    var health: FeedHealth?
    var row: FeedTables.FeedRow?
    /// Not in the tables yet: the health as it is to be written, read when somebody asks for it, …
    var stored: [UInt8]?
    /// … what the saved feed was renewed to, …
    var renewal: FeedTables.Renewal?
    /// … and decisions, with their places in the ring.
    var decisions: [(place: Int, stored: [UInt8])] = []

    func note(_ decision: [UInt8], at place: Int) {
      if decisions.count == PollDecision.kept { decisions.removeFirst() }
      decisions.append((place, decision))
    }

    fileprivate func isFolded() {
      (stored, renewal, decisions) = (nil, nil, [])
    }
  }

  /// The notes on one host.
  final class Host {
    var isRead = false
    var health: HostHealth?
    /// Not in the tables yet.
    var stored: [UInt8]?
  }

  /// The number of bytes of entries that are kept before they are folded.
  static let limit = 1 << 20
  /// The number of feeds that are remembered beyond a fold; with more, each is read again for its next poll.
  private static let remembered = 2_000

  /// The state of the file that this is of, as SQLite numbers what other connections do; `nil` when it is of none.
  var state: Int?
  private(set) var feeds: [String: Feed] = [:]
  private(set) var hosts: [String: Host] = [:]
  /// The numbers of the table's first and last row; `nil` when it is empty. Each series begins at random, so that the same
  /// first row is the same series: whoever folds begins another.
  var rows: (first: Int64, last: Int64)?
  /// The number of bytes that the table has.
  private(set) var size = 0
  /// The entries of the transaction that runs.
  var entries: [UInt8] = []

  func feed(_ address: String) -> Feed {
    if let feed = feeds[address] { return feed }
    let feed = Feed()
    feeds[address] = feed
    return feed
  }

  func host(_ name: String) -> Host {
    if let host = hosts[name] { return host }
    let host = Host()
    hosts[name] = host
    return host
  }

  /// Forgets a feed's row, which has changed; the state of polling is as it was.
  func forgetRow(of address: String) {
    guard let feed = feeds[address] else { return }
    (feed.isRead, feed.renewal) = (false, nil)
  }

  /// Forgets everything: the file has another state, or what ran was undone.
  func forget() {
    state = nil
    clear()
  }

  /// Everything is in the tables, and somebody is about to change those.
  func clear() {
    (feeds, hosts) = ([:], [:])
    empty()
  }

  private func empty() {
    (rows, size) = (nil, 0)
    entries.removeAll(keepingCapacity: true)
  }

  /// Everything is in the tables.
  func isFolded() {
    guard feeds.count <= Self.remembered else { return clear() }
    for feed in feeds.values { feed.isFolded() }
    for host in hosts.values { host.stored = nil }
    empty()
  }

  /// Forgets feeds that can be read again, when there are many: others may have asked for all of them.
  func trim() {
    guard feeds.count > 4 * Self.remembered else { return }
    feeds = feeds.filter { $0.value.stored != nil }
  }

  /// True when the entries of this transaction are too many to be kept.
  var isFull: Bool { size + entries.count > Self.limit }

  /// The entries of this transaction are a row now.
  func areWritten(as row: Int64) {
    rows = (rows?.first ?? row, row)
    size += entries.count
    entries.removeAll(keepingCapacity: true)
  }

  /// The number of the next row.
  var nextRow: Int64 { rows.map { $0.last + 1 } ?? .random(in: 0..<1 << 62) }
}

/// One entry: what a claim or a record notes.
struct PollEntry {
  /// Of a feed its address, its health, and what else changes with it.
  var address = ""
  var health: [UInt8]?
  var renewal: FeedTables.Renewal?
  var decision: [UInt8]?
  var place: Int?
  var host: [UInt8]

  /// Appends it, with its length.
  func append(to bytes: inout [UInt8]) {
    var fields = PollFields.Writer()
    fields.put(1, address)
    fields.put(2, health)
    fields.put(3, host)
    fields.put(4, decision)
    fields.put(5, place)
    if let renewal {
      fields.put(6, renewal.timestamp)
      fields.put(7, renewal.validators.etag)
      fields.put(8, renewal.validators.lastModified)
      fields.put(9, renewal.validators.source)
      fields.put(10, renewal.validators.digest.map { Double(bitPattern: $0.value) })
      fields.put(11, renewal.validators.wholeAsked)
    }
    withUnsafeBytes(of: UInt32(fields.bytes.count).littleEndian) { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: fields.bytes)
  }
}

extension PollJournal {
  /// Takes in a row of the table. What cannot be read is not known, nor what follows it.
  func read(_ row: UnsafeRawBufferPointer, _ number: Int64) {
    rows = (rows?.first ?? number, number)
    size += row.count
    var place = 0
    while place + 4 <= row.count {
      let count = Int(UInt32(littleEndian: row.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
      guard count <= row.count - place - 4 else { return }
      let entry = UnsafeRawBufferPointer(rebasing: row[place + 4..<place + 4 + count])
      guard let fields = PollFields.Reader(entry) else { return }
      take(fields)
      place += 4 + count
    }
  }

  private func take(_ fields: PollFields.Reader) {
    if let bytes = fields.bytes(3), let health = HostHealth(stored: bytes) {
      let host = host(health.name)
      (host.isRead, host.health, host.stored) = (true, health, [UInt8](bytes))
    }
    guard let address = fields.text(1), let bytes = fields.bytes(2) else { return }
    let feed = feed(address)
    (feed.isRead, feed.stored) = (false, [UInt8](bytes))
    if let decision = fields.bytes(4), let place = fields.integer(5) { feed.note([UInt8](decision), at: place) }
    guard let timestamp = fields.date(6) else { return }
    feed.renewal = FeedTables.Renewal(
      timestamp: timestamp,
      validators: FeedValidators(
        etag: fields.text(7), lastModified: fields.text(8), source: fields.url(9),
        digest: fields.number(10).map { BodyDigest(value: $0.bitPattern) }, wholeAsked: fields.date(11)))
  }
}
