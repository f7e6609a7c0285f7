/// An entity tag (RFC 9110, section 8.8.3), as it appears in a field: with its quotes, which some servers omit.
package struct EntityTag: Sendable {
  package let isWeak: Bool
  private let opaque: Substring

  package init(_ text: Substring) {
    isWeak = text.hasPrefix("W/")
    opaque = isWeak ? text.dropFirst(2) : text
  }

  package init(_ text: String) { self.init(text[...]) }

  /// Weak comparison (section 8.8.3.2): byte by byte, because strings are equal if only their normal forms are.
  package func matches(_ other: EntityTag) -> Bool { opaque.utf8.elementsEqual(other.opaque.utf8) }

  /// Strong comparison (section 8.8.3.2).
  package func isIdentical(to other: EntityTag) -> Bool { !isWeak && !other.isWeak && matches(other) }

  /// True when one of the lists of `If-Match` or `If-None-Match` contains `tag`, or is `*`.
  ///
  /// - Parameter strongly: true for `If-Match`.
  package static func names(_ tag: String?, in lists: [String], strongly: Bool) -> Bool {
    let tag = tag.map { EntityTag($0) }
    return lists.contains { list in
      list.listMembers(escapes: false).contains { member in
        if member == "*" { return true }
        guard let tag else { return false }
        let other = EntityTag(member)
        return strongly ? tag.isIdentical(to: other) : tag.matches(other)
      }
    }
  }
}
