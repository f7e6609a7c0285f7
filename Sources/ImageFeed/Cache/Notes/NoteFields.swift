package import Foundation

/// A note as bytes: for each field, its number, the size of its content, and the content. An unknown field is skipped,
/// and a missing field has its default value.
///
/// Each poll writes five notes. Writing them as JSON would take several times as long as the request.
package enum NoteFields {
  /// The first byte of a note.
  static let form: UInt8 = 1

  /// Writes the fields that have a value.
  ///
  /// The writer uses its own memory, because an array would check for room before each byte, and each poll writes fifty
  /// fields.
  package struct Writer: ~Copyable {
    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 512, alignment: 1)
    private var count = 1

    init() { memory[0] = NoteFields.form }

    deinit { memory.deallocate() }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    package mutating func put(_ field: UInt8, _ text: String?) {
      guard var text, !text.isEmpty else { return }
      text.withUTF8 { put(field, UnsafeRawBufferPointer($0)) }
    }

    package mutating func put(_ field: UInt8, _ content: [UInt8]?) {
      content?.withUnsafeBytes { put(field, $0) }
    }

    package mutating func put(_ field: UInt8, _ number: Double?) {
      guard let number else { return }
      begin(field, 8)
      memory.storeBytes(of: number.bitPattern.littleEndian, toByteOffset: count, as: UInt64.self)
      count += 8
    }

    package mutating func put(_ field: UInt8, _ date: Date?) { put(field, date?.timeIntervalSinceReferenceDate) }
    package mutating func put(_ field: UInt8, _ number: Int?) { put(field, number.map(Double.init)) }
    package mutating func put(_ field: UInt8, _ flag: Bool?) { put(field, flag.map { $0 ? 1.0 : 0 }) }
    package mutating func put(_ field: UInt8, _ url: URL?) { put(field, url?.absoluteString) }

    private mutating func put(_ field: UInt8, _ content: UnsafeRawBufferPointer) {
      begin(field, content.count)
      UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: content)
      count += content.count
    }

    /// Writes a field's number and size, and makes room for `size` bytes of content.
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
  package struct Reader {
    private let bytes: UnsafeRawBufferPointer
    private static let mostFields = 40
    private var places = [Range<Int>](repeating: 0..<0, count: mostFields)

    /// - Returns: `nil` if the bytes aren't fields, or are damaged.
    init?(_ bytes: UnsafeRawBufferPointer) {
      guard bytes.first == NoteFields.form else { return nil }
      self.bytes = bytes
      var place = 1
      while place < bytes.count {
        guard place + 5 <= bytes.count else { return nil }
        let count = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place + 1, as: UInt32.self)))
        guard count <= bytes.count - place - 5 else { return nil }
        if bytes[place] < Self.mostFields { places[Int(bytes[place])] = place + 5..<place + 5 + count }
        place += 5 + count
      }
    }

    package func text(_ field: UInt8) -> String? {
      let place = places[Int(field)]
      guard !place.isEmpty else { return nil }
      return String(decoding: bytes[place], as: UTF8.self)
    }

    package func bytes(_ field: UInt8) -> UnsafeRawBufferPointer? {
      let place = places[Int(field)]
      return place.isEmpty ? nil : UnsafeRawBufferPointer(rebasing: bytes[place])
    }

    package func number(_ field: UInt8) -> Double? {
      let place = places[Int(field)]
      guard place.count == 8 else { return nil }
      let pattern = bytes.loadUnaligned(fromByteOffset: place.lowerBound, as: UInt64.self)
      return Double(bitPattern: UInt64(littleEndian: pattern))
    }

    package func date(_ field: UInt8) -> Date? { number(field).map(Date.init(timeIntervalSinceReferenceDate:)) }
    package func integer(_ field: UInt8) -> Int? { number(field).flatMap { Int(exactly: $0.rounded()) } }
    package func flag(_ field: UInt8) -> Bool? { number(field).map { $0 != 0 } }
    package func url(_ field: UInt8) -> URL? { text(field).flatMap { URL(string: $0) } }
  }
}

/// A value that a store keeps as a note.
package protocol StoredNote: Sendable {
  init?(_ fields: NoteFields.Reader)
  func put(in fields: inout NoteFields.Writer)
}

extension StoredNote {
  /// Reads the bytes that ``stored`` wrote; `nil` if they can't be read.
  package init?(stored bytes: UnsafeRawBufferPointer) {
    guard let fields = NoteFields.Reader(bytes) else { return nil }
    self.init(fields)
  }

  package var stored: [UInt8] {
    var fields = NoteFields.Writer()
    put(in: &fields)
    return Array(fields.bytes)
  }
}
