/// Resolves `reference` against `base` (RFC 3986, section 5.2), if the result is an absolute http or https URL.
///
/// As in browsers, whitespace around `reference` and line breaks within it are dropped, and each backslash before its
/// query and fragment is read as a slash; nothing else is changed.
func absoluteAddress(_ reference: Bytes, base: String?) -> String? {
  let reference = reference.trimmed
  guard let odd = reference.firstIndex(where: { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "\\") }) else {
    return absolute(reference, base)
  }
  var clean = Array(reference[..<odd])
  clean += reference[odd...].filter { $0 >= 0x20 && $0 != 0x7F }
  let end = clean.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? clean.count
  for index in 0..<end where clean[index] == UInt8(ascii: "\\") { clean[index] = UInt8(ascii: "/") }
  return clean.withUnsafeBufferPointer { absolute($0.trimmed, base) }
}

private func absolute(_ reference: Bytes, _ base: String?) -> String? {
  guard reference.count > 0 else { return nil }
  if let scheme = scheme(of: reference) {
    let text = reference.part(0, scheme)
    guard text.equalsIgnoringCase("http") || text.equalsIgnoringCase("https"),
      AddressParts(reference).authority.count > 0
    else { return nil }
    return reference.string
  }
  guard let base = baseAddress(base) else { return nil }
  return base.withBytes { base in
    let parts = AddressParts(base)
    guard parts.scheme.equalsIgnoringCase("http:") || parts.scheme.equalsIgnoringCase("https:"),
      parts.authority.count > 0
    else { return nil }
    return resolve(reference, parts)
  }
}

/// A URL that relative URLs can be resolved against: without its query and fragment if it is longer than 2 KiB, and
/// `nil` if the rest is still longer, because the base is repeated in each resolved URL.
func baseAddress(_ address: String?) -> String? {
  let longest = 2048
  guard let address, address.utf8.count > longest else { return address }
  let end = address.utf8.prefix(longest + 1).firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
  return end.map { String(address[..<$0]) }
}

/// The index of the colon after a scheme.
private func scheme(of bytes: Bytes) -> Int? {
  guard bytes.count > 0, bytes[0].isLetter else { return nil }
  for (index, byte) in bytes.enumerated() {
    switch byte {
    case UInt8(ascii: ":"): return index
    case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): continue
    default: guard byte.isLetter || byte.isDigit else { return nil }
    }
  }
  return nil
}

private struct AddressParts {
  /// `http:`; empty if there is no scheme.
  var scheme: Bytes
  /// The part after `//`.
  var authority: Bytes
  var path: Bytes
  /// The query, with its question mark.
  var query: Bytes

  init(_ address: Bytes) {
    var index = FeedFormats.scheme(of: address).map { $0 + 1 } ?? 0
    scheme = address.part(0, index)
    authority = address.part(index, index)
    let fragment = address.firstIndex(of: UInt8(ascii: "#"), from: index, to: address.count) ?? address.count
    let end = address.firstIndex(of: UInt8(ascii: "?"), from: index, to: fragment) ?? fragment
    if address.starts(with: "//", at: index) {
      let start = index + 2
      index = address.firstIndex(of: UInt8(ascii: "/"), from: start, to: end) ?? end
      authority = address.part(start, index)
    }
    path = address.part(index, end)
    query = address.part(end, fragment)
  }
}

private func resolve(_ reference: Bytes, _ base: AddressParts) -> String? {
  var result: [UInt8] = []
  result.reserveCapacity(base.scheme.count + base.authority.count + base.path.count + reference.count + 3)
  result.append(base.scheme)
  if reference.starts(with: "//") {
    result.append(reference)
    return result.withUnsafeBufferPointer { absolute($0, nil) }
  }
  result += [UInt8(ascii: "/"), UInt8(ascii: "/")]
  result.append(base.authority)
  switch reference[0] {
  case UInt8(ascii: "?"):
    result.append(base.path)
    result.append(reference)
  case UInt8(ascii: "#"):
    result.append(base.path)
    result.append(base.query)
    result.append(reference)
  default:
    let end = reference.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? reference.count
    let root = result.count
    if reference[0] != UInt8(ascii: "/") {
      result.append(base.path.part(0, base.path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0))
      if result.count == root { result.append(UInt8(ascii: "/")) }
    }
    result.append(reference.part(0, end))
    removeDots(from: &result, at: root)
    result.append(reference.part(end, reference.count))
  }
  return String(decoding: result, as: UTF8.self)
}

/// Removes `.` and `..` from the path that begins at `root` (RFC 3986, section 5.2.4), in one pass: a short reference
/// may have a long base.
private func removeDots(from address: inout [UInt8], at root: Int) {
  let (slash, dot) = (UInt8(ascii: "/"), UInt8(ascii: "."))
  var end = address.count
  address.withUnsafeMutableBufferPointer { bytes in
    // The path begins with a slash.
    guard let first = Bytes(bytes).firstIndex(of: dot, from: root + 1, to: bytes.count) else { return }
    var index = first - 1
    end = index
    while index < bytes.count {
      var next = index + 1
      while next < bytes.count, next <= index + 2, bytes[next] == dot { next += 1 }
      let dots = next - index - 1
      guard bytes[index] == slash, dots > 0, next == bytes.count || bytes[next] == slash else {
        bytes[end] = bytes[index]
        (end, index) = (end + 1, index + 1)
        continue
      }
      if dots == 2, let parent = bytes[root..<end].lastIndex(of: slash) { end = parent }
      if next == bytes.count {
        bytes[end] = slash
        end += 1
      }
      index = next
    }
  }
  address.removeLast(address.count - end)
}
