extension String {
  /// The members of a list (RFC 9110, section 5.6.1), without surrounding space; commas in quotes don't separate
  /// members, and empty members are ignored.
  package var listMembers: [Substring] { listMembers(escapes: true) }

  /// - Parameter escapes: true if a backslash in quotes escapes the next character; entity tags have no escapes.
  func listMembers(escapes: Bool) -> [Substring] {
    var members: [Substring] = []
    var start = startIndex
    var (isQuoted, isEscaped) = (false, false)
    func add(upTo end: Index) {
      let member = self[start..<end].trimmed
      if !member.isEmpty { members.append(member) }
    }
    for index in utf8.indices {
      let byte = utf8[index]
      if isQuoted {
        if byte == UInt8(ascii: "\""), !isEscaped { isQuoted = false }
        isEscaped = escapes && !isEscaped && byte == UInt8(ascii: "\\")
      } else if byte == UInt8(ascii: "\"") {
        isQuoted = true
      } else if byte == UInt8(ascii: ",") {
        add(upTo: index)
        start = utf8.index(after: index)
      }
    }
    add(upTo: endIndex)
    return members
  }
}

extension Substring {
  /// The text without surrounding spaces and tabs.
  package var trimmed: Substring {
    var bytes = utf8
    while bytes.first == 0x20 || bytes.first == 0x09 { bytes.removeFirst() }
    while bytes.last == 0x20 || bytes.last == 0x09 { bytes.removeLast() }
    return Substring(bytes)
  }
}
