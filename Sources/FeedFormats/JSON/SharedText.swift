import CLibrary
import CSimdJSON

/// A string that becomes a `String` only when it is read. Until then, it is part of the memory that all strings in its
/// document share.
///
/// Creating the strings of 100,000 images takes three times as long as parsing them, and most strings are only
/// compared, saved and written as bytes. Even a single string keeps the memory of all strings in its document alive.
public struct SharedText: Hashable, Sendable {
  let buffer: TextBuffer
  let start: UInt32
  let length: UInt32

  @inline(__always)
  init(buffer: TextBuffer, start: UInt32, length: UInt32) {
    self.buffer = buffer
    self.start = start
    self.length = length
  }

  /// A string in its own memory.
  public init(_ text: String) {
    self = text.withBytes { bytes in
      SharedText(buffer: TextBuffer(bytes), start: 0, length: UInt32(bytes.count))
    }
  }

  public var string: String { bytes.checkedString }

  /// Calls `body` with the string in UTF-8, which is valid.
  public func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
    try withExtendedLifetime(buffer) { try body(bytes) }
  }

  @inline(__always)
  private var bytes: Bytes { Bytes(start: buffer.base + Int(start), count: Int(length)) }

  /// True if the bytes are equal; `String` also treats canonically equivalent characters as equal.
  public static func == (one: SharedText, other: SharedText) -> Bool {
    one.length == other.length
      && memcmp(one.buffer.base + Int(one.start), other.buffer.base + Int(other.start), Int(one.length)) == 0
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
    hasher.combine(length)
  }
}

extension SharedText: CustomStringConvertible, ExpressibleByStringLiteral {
  public var description: String { string }

  public init(stringLiteral text: String) { self.init(text) }
}

/// The memory of the text of one document.
///
/// - Note: `@unchecked Sendable`: the memory is never written to after its creation.
final class TextBuffer: @unchecked Sendable {
  let base: UnsafeMutablePointer<UInt8>
  private let isParsers: Bool

  /// Takes ownership of simdjson's memory.
  init(taking strings: UnsafeMutablePointer<UInt8>) {
    base = strings
    isParsers = true
  }

  init(_ bytes: Bytes) {
    base = .allocate(capacity: max(1, bytes.count))
    if let start = bytes.baseAddress { base.initialize(from: start, count: bytes.count) }
    isParsers = false
  }

  deinit {
    if isParsers { csimdjson_free_strings(base) } else { base.deallocate() }
  }

  /// The position of `bytes` in this memory.
  @inline(__always)
  func place(of bytes: Bytes) -> CaseStudyFeed.Images.Place {
    guard let start = bytes.baseAddress else { return .init(start: 0, length: 0) }
    return .init(
      start: UInt32(truncatingIfNeeded: start - UnsafePointer(base)), length: UInt32(truncatingIfNeeded: bytes.count))
  }
}
