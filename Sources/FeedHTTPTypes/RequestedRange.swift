/// The part of a body that a `Range` field requests (RFC 9110, section 14.2).
package enum RequestedRange: Equatable, Sendable {
  /// The whole body: the field has several ranges, a different unit, or no valid range.
  case whole
  case part(Range<Int64>)
  /// The range begins beyond the end.
  case none

  /// - Parameter length: the body's length, in bytes.
  package init(_ field: String, of length: Int64) {
    guard field.utf8.count <= 256, let equals = field.firstIndex(of: "="), field[..<equals].lowercased() == "bytes"
    else {
      self = .whole
      return
    }
    let ends = field[field.index(after: equals)...].split(separator: "-", omittingEmptySubsequences: false)
    // The field has several ranges or an invalid one, and is ignored.
    guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]) else {
      self = .whole
      return
    }
    switch (first, last) {
    case (nil, nil): self = .whole
    case (nil, let count?): self = count == 0 || length == 0 ? .none : .part(max(0, length - count)..<length)
    case (let start?, let last?) where last < start: self = .whole
    case (let start?, let last):
      self = start >= length ? .none : .part(start..<min(last.map { $0 + 1 } ?? length, length))
    }
  }

  /// A number; `.some(nil)` for no text, and `nil` for anything else. A number beyond any file's length counts as the
  /// largest.
  private static func number(_ text: Substring) -> Int64?? {
    let digits = text.trimmed.utf8
    if digits.isEmpty { return .some(nil) }
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    // Leaves room to add 1.
    return .some(min(Int64(Substring(digits)) ?? .max, .max - 1))
  }

  /// True if the client's other parts belong to the same version, or if it sent no `If-Range` (section 13.1.5). Weak
  /// validators do not count.
  package static func isCurrent(_ condition: String?, tag: String?, modified: String?) -> Bool {
    guard let condition else { return true }
    if condition.hasPrefix("\"") {
      return tag.map { EntityTag(condition).isIdentical(to: EntityTag($0)) } ?? false
    }
    guard let date = HTTPDate.seconds(condition) else { return false }
    return date == modified.flatMap { HTTPDate.seconds($0) }
  }
}
