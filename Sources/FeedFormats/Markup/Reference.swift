/// Resolves `reference` against `base` (RFC 3986, section 5.2), if the result is an absolute http or https URL.
///
/// Whitespace around `reference` and line breaks within it are dropped, as in browsers; nothing else is changed.
func absoluteAddress(_ reference: Bytes, base: String?) -> String? {
  let reference = reference.trimmed
  guard reference.count > 0 else { return nil }
  if let odd = reference.firstIndex(where: { $0 < 0x20 || $0 == 0x7F }) {
    var clean = Array(reference[..<odd])
    clean += reference[odd...].filter { $0 >= 0x20 && $0 != 0x7F }
    return clean.withUnsafeBufferPointer { absoluteAddress($0, base: base) }
  }
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
    guard parts.scheme.count > 0 else { return nil }
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
    if address.starts(with: "//", at: index) {
      let start = index + 2
      index =
        address.part(start, address.count).firstIndex { Self.endsAuthority($0) }.map { $0 + start } ?? address.count
      authority = address.part(start, index)
    }
    let end =
      address.part(index, address.count).firstIndex { $0 == 0x3F || $0 == 0x23 }.map { $0 + index } ?? address.count
    path = address.part(index, end)
    let fragment = address.firstIndex(of: UInt8(ascii: "#"), from: end, to: address.count) ?? address.count
    query = address.part(end, fragment)
  }

  /// `/`, `?` or `#`.
  private static func endsAuthority(_ byte: UInt8) -> Bool { byte == 0x2F || byte == 0x3F || byte == 0x23 }
}

private func resolve(_ reference: Bytes, _ base: AddressParts) -> String? {
  var result = Array(base.scheme)
  if reference.starts(with: "//") {
    result.append(reference)
    return result.withUnsafeBufferPointer { absoluteAddress($0, base: nil) }
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
    var path: [UInt8] = []
    if reference[0] != UInt8(ascii: "/") {
      path.append(base.path.part(0, base.path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0))
      if path.isEmpty { path.append(UInt8(ascii: "/")) }
    }
    path.append(reference.part(0, end))
    result += withoutDots(path)
    result.append(reference.part(end, reference.count))
  }
  return result.withUnsafeBufferPointer { absoluteAddress($0, base: nil) }
}

/// A path without `.` and `..` (RFC 3986, section 5.2.4).
private func withoutDots(_ path: [UInt8]) -> [UInt8] {
  let slash = UInt8(ascii: "/")
  var kept: [ArraySlice<UInt8>] = []
  let segments = path.dropFirst().split(separator: slash, omittingEmptySubsequences: false)
  for (index, segment) in segments.enumerated() {
    let isLast = index == segments.count - 1
    switch segment {
    case [UInt8(ascii: ".")]:
      if isLast { kept.append([]) }
    case [UInt8(ascii: "."), UInt8(ascii: ".")]:
      _ = kept.popLast()
      if isLast { kept.append([]) }
    default: kept.append(segment)
    }
  }
  return kept.reduce(into: []) { $0 += [slash] + $1 }
}
