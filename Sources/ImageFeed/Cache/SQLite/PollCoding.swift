import FeedFormats
import Foundation

/// The state of polling in a file, as bytes: of each field its number, the size of its content, and that. A field that is not
/// known is passed over, one that is missing has its default.
///
/// Each poll writes five of these: as JSON, they would take several times what the request does.
enum PollFields {
  /// The first byte.
  static let form: UInt8 = 1

  /// Writes fields with a value.
  ///
  /// Into memory of its own: an array would look for room at each byte, and there are fifty fields a poll.
  struct Writer: ~Copyable {
    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 512, alignment: 1)
    private var count = 1

    init() { memory[0] = PollFields.form }

    deinit { memory.deallocate() }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    mutating func put(_ field: UInt8, _ text: String?) {
      guard var text, !text.isEmpty else { return }
      text.withUTF8 { put(field, UnsafeRawBufferPointer($0)) }
    }

    mutating func put(_ field: UInt8, _ content: [UInt8]?) {
      content?.withUnsafeBytes { put(field, $0) }
    }

    mutating func put(_ field: UInt8, _ number: Double?) {
      guard let number else { return }
      begin(field, 8)
      memory.storeBytes(of: number.bitPattern.littleEndian, toByteOffset: count, as: UInt64.self)
      count += 8
    }

    mutating func put(_ field: UInt8, _ date: Date?) { put(field, date?.timeIntervalSinceReferenceDate) }
    mutating func put(_ field: UInt8, _ number: Int?) { put(field, number.map(Double.init)) }
    mutating func put(_ field: UInt8, _ flag: Bool?) { put(field, flag.map { $0 ? 1.0 : 0 }) }
    mutating func put(_ field: UInt8, _ url: URL?) { put(field, url?.absoluteString) }

    private mutating func put(_ field: UInt8, _ content: UnsafeRawBufferPointer) {
      begin(field, content.count)
      UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: content)
      count += content.count
    }

    /// Writes what comes before a content of `size` bytes, and makes room for that.
    private mutating func begin(_ field: UInt8, _ size: Int) {
      if memory.count - count < size + 5 { grow(by: size + 5) }
      memory[count] = field
      memory.storeBytes(of: UInt32(size).littleEndian, toByteOffset: count + 1, as: UInt32.self)
      count += 5
    }

    private mutating func grow(by size: Int) {
      let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * (memory.count + size), alignment: 1)
      larger.copyMemory(from: bytes)
      memory.deallocate()
      memory = larger
    }
  }

  /// Reads fields by their numbers.
  struct Reader {
    private let bytes: UnsafeRawBufferPointer
    private var places = [Range<Int>](repeating: 0..<0, count: 32)

    /// - Returns: `nil` when these aren't fields, or are damaged ones.
    init?(_ bytes: UnsafeRawBufferPointer) {
      guard bytes.first == PollFields.form else { return nil }
      self.bytes = bytes
      var place = 1
      while place < bytes.count {
        guard place + 5 <= bytes.count else { return nil }
        let count = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place + 1, as: UInt32.self)))
        guard count <= bytes.count - place - 5 else { return nil }
        if bytes[place] < 32 { places[Int(bytes[place])] = place + 5..<place + 5 + count }
        place += 5 + count
      }
    }

    func text(_ field: UInt8) -> String? {
      let place = places[Int(field)]
      guard !place.isEmpty else { return nil }
      return String(decoding: bytes[place], as: UTF8.self)
    }

    func bytes(_ field: UInt8) -> UnsafeRawBufferPointer? {
      let place = places[Int(field)]
      return place.isEmpty ? nil : UnsafeRawBufferPointer(rebasing: bytes[place])
    }

    func number(_ field: UInt8) -> Double? {
      let place = places[Int(field)]
      guard place.count == 8 else { return nil }
      let pattern = bytes.loadUnaligned(fromByteOffset: place.lowerBound, as: UInt64.self)
      return Double(bitPattern: UInt64(littleEndian: pattern))
    }

    func date(_ field: UInt8) -> Date? { number(field).map(Date.init(timeIntervalSinceReferenceDate:)) }
    func integer(_ field: UInt8) -> Int? { number(field).flatMap { Int(exactly: $0.rounded()) } }
    func flag(_ field: UInt8) -> Bool? { number(field).map { $0 != 0 } }
    func url(_ field: UInt8) -> URL? { text(field).flatMap { URL(string: $0) } }
  }
}

/// A value that polling keeps.
protocol PollStored {
  init?(_ fields: PollFields.Reader)
  func put(in fields: inout PollFields.Writer)
}

extension PollStored {
  /// Reads what ``stored`` wrote; `nil` when it cannot be read.
  init?(stored bytes: UnsafeRawBufferPointer) {
    guard let fields = PollFields.Reader(bytes) else { return nil }
    self.init(fields)
  }

  var stored: [UInt8] {
    var fields = PollFields.Writer()
    put(in: &fields)
    return Array(fields.bytes)
  }
}

// A field's number is for ever: what is new gets the next one.

extension FeedHealth: PollStored {
  init?(_ fields: PollFields.Reader) {
    guard let address = fields.url(1) else { return nil }
    self.init(address: address)
    due = fields.date(2)
    notBefore = fields.date(3)
    interval = fields.number(4)
    rule = fields.text(5).flatMap(Schedule.Rule.init)
    reason = fields.text(6) ?? ""
    asked = fields.date(7)
    askedForAll = fields.date(8)
    hadValidators = fields.flag(9)
    succeeded = fields.date(10)
    changed = fields.date(11)
    changeInterval = fields.number(12)
    failures = fields.integer(13) ?? 0
    outcome = fields.text(14) ?? ""
    isGone = fields.flag(15) ?? false
    hints.minutesToLive = fields.integer(16)
    hints.updateInterval = fields.integer(17)
    hints.skippedHours = fields.text(18)?.split(separator: " ").compactMap { Int($0) } ?? []
    hints.skippedDays = fields.text(19)?.split(separator: "\n").map(String.init) ?? []
    if let to = fields.url(20), let since = fields.date(21) {
      move = Move(to: to, since: since, isBelieved: fields.flag(22) ?? false)
    }
    polls = fields.integer(23) ?? 0
    begun = fields.date(24)
  }

  func put(in fields: inout PollFields.Writer) {
    fields.put(1, address)
    fields.put(2, due)
    fields.put(3, notBefore)
    fields.put(4, interval)
    fields.put(5, rule?.rawValue)
    fields.put(6, reason)
    fields.put(7, asked)
    fields.put(8, askedForAll)
    fields.put(9, hadValidators)
    fields.put(10, succeeded)
    fields.put(11, changed)
    fields.put(12, changeInterval)
    fields.put(13, failures)
    fields.put(14, outcome)
    fields.put(15, isGone)
    fields.put(16, hints.minutesToLive)
    fields.put(17, hints.updateInterval)
    fields.put(18, hints.skippedHours.map(String.init).joined(separator: " "))
    fields.put(19, hints.skippedDays.joined(separator: "\n"))
    fields.put(20, move?.to)
    fields.put(21, move?.since)
    fields.put(22, move?.isBelieved)
    fields.put(23, polls)
    fields.put(24, begun)
  }
}

extension HostHealth: PollStored {
  init?(_ fields: PollFields.Reader) {
    guard let name = fields.text(1) else { return nil }
    self.init(name: name)
    pausedUntil = fields.date(2)
    reason = fields.text(3) ?? ""
    next = fields.date(4)
    holder = fields.text(5)
    opensIfLost = fields.date(6)
  }

  func put(in fields: inout PollFields.Writer) {
    fields.put(1, name)
    fields.put(2, pausedUntil)
    fields.put(3, reason)
    fields.put(4, next)
    fields.put(5, holder)
    fields.put(6, opensIfLost)
  }
}

extension PollDecision: PollStored {
  init?(_ fields: PollFields.Reader) {
    guard let time = fields.date(1), let rule = fields.text(5).flatMap(Schedule.Rule.init) else { return nil }
    self.init(
      time: time, request: fields.text(2) ?? "", outcome: fields.text(3) ?? "", due: fields.date(4), rule: rule,
      reason: fields.text(6) ?? "")
  }

  func put(in fields: inout PollFields.Writer) {
    fields.put(1, time)
    fields.put(2, request)
    fields.put(3, outcome)
    fields.put(4, due)
    fields.put(5, rule.rawValue)
    fields.put(6, reason)
  }
}
