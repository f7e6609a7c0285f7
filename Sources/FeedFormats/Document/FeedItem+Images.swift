extension FeedItem {
  /// The images of the item, without duplicates: first the chosen one, and then the others in document order.
  ///
  /// Feeds often list the same image in several places and sizes. The contents of one `media:group` represent one
  /// image, and so do URLs that differ only in the size that they request. Each image has the URL of its widest
  /// candidate, except the chosen one, whose URL is replaced only if it is a smaller thumbnail's. If the document doesn't
  /// state a width, the URL's counts; a first candidate of unknown width counts as the widest. Thumbnails, and images
  /// as small as an icon, are left out if there are other images. Each image has the first alternative text of its
  /// candidates.
  public var distinctImages: [FeedImageCandidate] {
    guard let chosen = image else { return [] }
    if images.allSatisfy({ $0.address == chosen.address }) {
      var only = chosen
      only.alt = only.alt ?? images.lazy.compactMap(\.alt).first
      return [only]
    }
    var (found, places): ([FeedImageCandidate], [String: Int]) = ([], [:])
    for (var candidate, isChosen) in [(chosen, true)] + images.map({ ($0, false) }) {
      let keys = candidate.keys
      guard let place = keys.lazy.compactMap({ places[$0] }).first else {
        guard isChosen || candidate.isOfItsOwn else { continue }
        for key in keys { places[key] = found.count }
        found.append(candidate)
        continue
      }
      for key in keys where places[key] == nil { places[key] = place }
      found[place].alt = found[place].alt ?? candidate.alt
      if candidate.replaces(found[place], isFixed: place == 0 && !chosen.isThumbnail) {
        candidate.alt = found[place].alt
        found[place] = candidate
      }
    }
    return found
  }
}

extension FeedImageCandidate {
  /// The names under which this image is known: two candidates that share a name are the same image.
  fileprivate var keys: [String] {
    [ImageName(address).text] + (group.map { ["group \($0)"] } ?? [])
  }

  fileprivate var isThumbnail: Bool { source == .mediaThumbnail || source == .itunesImage }

  /// True if this candidate for an image is better than the one found so far.
  fileprivate func replaces(_ other: FeedImageCandidate, isFixed: Bool) -> Bool {
    guard isOfItsOwn, !isFixed else { return false }
    if !other.isThumbnail { return knownWidth ?? 0 > other.knownWidth ?? .max }
    // An image of unknown size is the original; some thumbnails are.
    return knownWidth ?? .max > other.knownWidth ?? (.max - 1)
  }

  /// The width according to the document, or else the one that the URL requests.
  private var knownWidth: Int? { width ?? ImageName.width(address) }

  /// False for candidates that only accompany an image.
  fileprivate var isOfItsOwn: Bool {
    if isThumbnail { return false }
    if let width, let height, width <= Self.widestIcon, height <= Self.widestIcon { return false }
    return !address.contains("/emoji/")
  }

  private static var widestIcon: Int { 48 }
}

/// A URL without the parts that request a size. It is read as UTF-8 bytes: a large feed has thousands of URLs.
struct ImageName {
  let text: String

  /// The names of query parameters that request a size or a format.
  private static let sizes: Set<Substring> = [
    "w", "h", "width", "height", "size", "sz", "resize", "fit", "crop", "dpr", "quality", "auto", "fm", "format", "ssl",
    "strip", "zoom", "itok",
  ]
  /// Those of them whose value may begin with a width, as in `resize=300,200`.
  private static let widths: Set<Substring> = ["size", "sz", "resize", "fit"]
  /// The names of query parameters that contain a signature.
  private static let signatures: Set<Substring> = ["s", "sig", "signature"]
  private static let googleHosts = [".googleusercontent.com", ".bp.blogspot.com"].map { Array($0.utf8) }
  private static let endings = ["-scaled", "@2x", "@3x"].map { Array($0.utf8) }

  init(_ address: String) {
    let whole = address.utf8.prefix { $0 != UInt8(ascii: "#") }
    let mark = whole.firstIndex(of: UInt8(ascii: "?")) ?? whole.endIndex
    text = Self.path(Self.withoutScheme(whole[..<mark])) + Self.query(whole[mark...].dropFirst())
  }

  /// The width that the URL requests, as in `photo-1024x768.jpg`, `s72-c/photo.jpg`, `photo?w=300` or
  /// `photo?resize=300,200`; `nil` if unknown.
  static func width(_ address: String) -> Int? {
    let words = address.utf8.split { !$0.isLetter && !$0.isDigit }
    for (index, word) in words.enumerated().reversed() {
      let digits = word.prefix(while: \.isDigit)
      if (2...4).contains(digits.count), word.dropFirst(digits.count).first == UInt8(ascii: "x") {
        return number(digits)
      }
      if (3...5).contains(word.count), word.first != UInt8(ascii: "h"), isGoogleSize(word) {
        return number(word.dropFirst())
      }
      let isWidth = word.elementsEqual("w".utf8) || word.elementsEqual("width".utf8)
      // The word `fit` in a file's name isn't followed by a width.
      let isSize = address.utf8[word.endIndex...].first == UInt8(ascii: "=") && widths.contains(Substring(word))
      guard isWidth || isSize, index + 1 < words.count, let width = number(words[index + 1]) else { continue }
      // One digit, as in `fit=1`, is a flag or the number of a size.
      if isWidth || words[index + 1].count > 1 { return width }
    }
    return nil
  }

  private static func number(_ digits: Bytes) -> Int? { Int(Substring(digits)) }

  private static func withoutScheme(_ path: Bytes) -> Bytes {
    guard let colon = path.firstIndex(of: UInt8(ascii: ":")) else { return path }
    let rest = path[colon...].dropFirst()
    return rest.starts(with: "//".utf8) ? rest.dropFirst(2) : path
  }

  private static func query(_ query: Bytes) -> String {
    guard !query.isEmpty else { return "" }
    func name(_ item: Bytes) -> Substring { Substring(item.prefix { $0 != UInt8(ascii: "=") }) }
    func isSize(_ item: Bytes) -> Bool {
      // A number in `q` is a quality; any other value is a search query.
      if item.starts(with: "q=".utf8), item.dropFirst(2).allSatisfy(\.isDigit) { return true }
      return sizes.contains(name(item))
    }
    let items = query.split(separator: UInt8(ascii: "&"))
    let others = items.filter { !isSize($0) }
    let kept = others.count < items.count ? others.filter { !signatures.contains(name($0)) } : others
    return kept.isEmpty ? "" : "?" + kept.lazy.map { String(Substring($0)) }.joined(separator: "&")
  }

  /// The path without sizes: `photo-1024x768.jpg`, `photo-scaled.jpg` and `photo@2x.jpg` become `photo.jpg`. The proxy
  /// host `i0.wp.com/`, which precedes another host, is removed. So are the sizes in paths of Google's image servers,
  /// which Blogger uses: `s72-c/photo.jpg`, `w640-h426/photo.jpg` and `photo=s1600`.
  private static func path(_ path: Bytes) -> String {
    var path = path
    let host = path.prefix { $0 != UInt8(ascii: "/") }
    if googleHosts.contains(where: { host.suffix($0.count).elementsEqual($0) }) {
      return path.split(separator: UInt8(ascii: "/")).filter { !isGoogleSize($0) }
        .map { part in
          let mark = part.lastIndex(of: UInt8(ascii: "=")) ?? part.endIndex
          return String(Substring(isGoogleSize(part[mark...].dropFirst()) ? part[..<mark] : part))
        }
        .joined(separator: "/")
    }
    if host.count == 9, host.first == UInt8(ascii: "i"), host.suffix(7).elementsEqual(".wp.com".utf8) {
      path = path.dropFirst(host.count + 1)
    }
    guard let dot = path.lastIndex(of: UInt8(ascii: ".")), path[dot...].count <= 6,
      !path[dot...].contains(UInt8(ascii: "/"))
    else { return String(Substring(path)) }
    var name = path[..<dot]
    for ending in endings where name.suffix(ending.count).elementsEqual(ending) { name = name.dropLast(ending.count) }
    if let dash = name.lastIndex(of: UInt8(ascii: "-")) {
      let size = name[dash...].dropFirst().split(separator: UInt8(ascii: "x"), omittingEmptySubsequences: false)
      if size.count == 2, size.allSatisfy({ (2...4).contains($0.count) && $0.allSatisfy(\.isDigit) }) {
        name = name[..<dash]
      }
    }
    return String(Substring(name)) + Substring(path[dot...])
  }

  /// True for words such as `s1600`, `s72-c` and `w640-h426-rw`.
  private static func isGoogleSize(_ word: Bytes) -> Bool {
    let first = word.prefix { $0 != UInt8(ascii: "-") }
    return first.count > 1 && "swh".utf8.contains(first.first!) && first.dropFirst().allSatisfy(\.isDigit)
      && word.count <= 32
  }

  private typealias Bytes = Substring.UTF8View
}
