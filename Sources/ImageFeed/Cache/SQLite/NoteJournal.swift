import Foundation

/// One connection's copy of the notes that are in the file's journal but not yet in its tables.
///
/// A poll changes the notes of its feed and its host twice, which would write many pages. Instead, the changes are
/// appended to the `journal` table, one row per transaction, and are later folded into the tables together. Readers
/// check here first. Every other change folds the journal first, so the entries here are newer than the tables.
// @unchecked: used within transactions, which run on the connection's queue, one at a time.
final class NoteJournal: @unchecked Sendable {
  final class Note {
    /// True if `value` is the file's state, including its journal.
    var isRead = false
    var value: (any StoredNote)?
    /// The note's bytes, if they are not in the tables yet.
    var stored: [UInt8]?
  }

  /// One feed's row, if it is known.
  final class Row {
    var isRead = false
    var row: FeedTables.FeedRow?
    /// The renewal that is not in the tables yet.
    var renewal: FeedTables.Renewal?
  }

  /// The size at which the journal is folded, in bytes: the entries of a few thousand polls. A fold writes each page of
  /// the tables that an entry changes, so fewer folds write less. But a process that opens the file reads all of the
  /// journal, which takes about ten milliseconds at this size.
  static let limit = 4 << 20
  /// The maximum number of notes that stay cached after a fold. If there are more, all are dropped, and each is read
  /// again when it is needed. A poller with 20,000 feeds needs fewer.
  private static let remembered = 24_000

  /// The state of the file that this copy matches: SQLite's count of changes by other connections. `nil` if the copy
  /// matches no state.
  var state: Int?
  // Unchecked, here and below: each poll accesses these a dozen times, and only one transaction runs at a time.
  @exclusivity(unchecked) private(set) var notes: [NoteKey: Note] = [:]
  @exclusivity(unchecked) private(set) var feeds: [String: Row] = [:]
  /// The numbers of the table's first and last row; `nil` when it is empty. After each fold, numbering restarts at a
  /// random number, so the same first row means that nothing was folded.
  var rows: (first: Int64, last: Int64)?
  /// The number of bytes in the table's rows.
  private(set) var size = 0
  /// The entries of the running transaction.
  @exclusivity(unchecked) private(set) var entries: [UInt8] = []

  func note(_ key: NoteKey) -> Note {
    if let note = notes[key] { return note }
    let note = Note()
    notes[key] = note
    return note
  }

  func feed(_ address: String) -> Row {
    if let feed = feeds[address] { return feed }
    let feed = Row()
    feeds[address] = feed
    return feed
  }

  /// Drops the cached row of a feed that has changed in the tables.
  func forgetRow(of address: String) { feeds[address] = nil }

  /// The notes that are not in the tables yet, in the order of the tables' rows, so that each page is written only
  /// once.
  var written: [(key: NoteKey, stored: [UInt8])] {
    notes.compactMap { key, note in note.stored.map { (key, $0) } }.sorted { $0.key < $1.key }
  }

  /// The renewals that are not in the tables yet, by URL.
  var renewals: [(address: String, renewal: FeedTables.Renewal)] {
    feeds.compactMap { address, feed in feed.renewal.map { (address, $0) } }.sorted { $0.address < $1.address }
  }

  /// Forgets everything, because the state of the file has changed, or the transaction was rolled back.
  func forget() {
    state = nil
    clear()
  }

  /// Called when everything is in the tables, and the tables are about to change.
  func clear() {
    (notes, feeds) = ([:], [:])
    empty()
  }

  private func empty() {
    (rows, size) = (nil, 0)
    entries.removeAll(keepingCapacity: true)
  }

  /// Called when everything is in the tables.
  func isFolded() {
    notes = notes.filter { $0.value.isRead }
    guard notes.count <= Self.remembered else { return clear() }
    for note in notes.values { note.stored = nil }
    for feed in feeds.values { feed.renewal = nil }
    empty()
  }

  /// Drops cached entries that can be read again, if there are many, because all feeds may have been read.
  func trim() {
    guard notes.count > 2 * Self.remembered else { return }
    notes = notes.filter { $0.value.stored != nil }
    feeds = feeds.filter { $0.value.renewal != nil }
  }

  /// True when this transaction has too many entries for the journal.
  var isFull: Bool { size + entries.count > Self.limit }

  /// Called when the entries of this transaction have been written as a row.
  func areWritten(as row: Int64) {
    rows = (rows?.first ?? row, row)
    size += entries.count
    entries.removeAll(keepingCapacity: true)
  }

  /// The number of the next row.
  var nextRow: Int64 { rows.map { $0.last + 1 } ?? .random(in: 0..<1 << 62) }
}

/// The entry format: for each, the sizes of its name and its content, its kind and number, the name, and the content.
extension NoteJournal {
  private static let headSize = 16
  /// The kind of an entry that renews a feed. The kinds of notes about feeds are below 128; the other kinds are 128 or
  /// above.
  private static let renewal: UInt8 = 0

  func append(_ note: [UInt8], at key: NoteKey) {
    note.withUnsafeBytes { append(kind: key.kind.number, place: key.place, key.name, $0) }
  }

  func append(_ renewal: FeedTables.Renewal, of address: String) {
    var fields = NoteFields.Writer()
    fields.put(1, renewal.timestamp)
    fields.put(2, renewal.validators.etag)
    fields.put(3, renewal.validators.lastModified)
    fields.put(4, renewal.validators.source)
    fields.put(5, renewal.validators.digest.map { Double(bitPattern: $0.value) })
    fields.put(6, renewal.validators.wholeAsked)
    append(kind: Self.renewal, place: 0, address, fields.bytes)
  }

  private func append(kind: UInt8, place: Int, _ name: String, _ content: UnsafeRawBufferPointer) {
    var name = name
    name.withUTF8 { name in
      for number in [UInt32(name.count), UInt32(content.count), UInt32(kind), UInt32(place)] {
        withUnsafeBytes(of: number.littleEndian) { entries.append(contentsOf: $0) }
      }
      entries.append(contentsOf: name)
    }
    entries.append(contentsOf: content)
  }

  /// Reads a row of the table. Skips the rest of the row after an entry that can't be read.
  func read(_ row: UnsafeRawBufferPointer, _ number: Int64) {
    rows = (rows?.first ?? number, number)
    size += row.count
    var place = 0
    func next() -> Int {
      defer { place += 4 }
      return Int(UInt32(littleEndian: row.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
    }
    while place + Self.headSize <= row.count {
      let (nameSize, size, kind, number) = (next(), next(), next(), next())
      guard nameSize + size <= row.count - place, let kind = UInt8(exactly: kind) else { return }
      let name = String(decoding: row[place..<place + nameSize], as: UTF8.self)
      place += nameSize
      let content = UnsafeRawBufferPointer(rebasing: row[place..<place + size])
      place += size
      if kind == Self.renewal {
        if let renewal = FeedTables.Renewal(content) { take(renewal, of: name) }
      } else {
        let note = note(NoteKey(NoteKey.Kind(number: kind), name, place: number))
        (note.isRead, note.value, note.stored) = (false, nil, [UInt8](content))
      }
    }
  }

  private func take(_ renewal: FeedTables.Renewal, of address: String) {
    let feed = feed(address)
    (feed.isRead, feed.renewal) = (false, renewal)
  }
}

extension FeedTables.Renewal {
  fileprivate init?(_ content: UnsafeRawBufferPointer) {
    guard let fields = NoteFields.Reader(content), let timestamp = fields.date(1) else { return nil }
    self.init(
      timestamp: timestamp,
      validators: FeedValidators(
        etag: fields.text(2), lastModified: fields.text(3), source: fields.url(4),
        digest: fields.number(5).map { BodyDigest(value: $0.bitPattern) }, wholeAsked: fields.date(6)))
  }
}

extension NoteKey {
  /// The order of the table's rows.
  fileprivate static func < (lhs: NoteKey, rhs: NoteKey) -> Bool {
    lhs.name != rhs.name
      ? lhs.name < rhs.name : (lhs.kind.number, lhs.place) < (rhs.kind.number, rhs.place)
  }
}

extension NoteKey.Kind {
  /// The number that represents a kind in a file: from 1 for feeds, and from 128 for others.
  var number: UInt8 {
    switch self {
    case .feed(let number): number
    case .other(let number): 128 + number
    }
  }

  init(number: UInt8) { self = number < 128 ? .feed(number) : .other(number - 128) }
}
