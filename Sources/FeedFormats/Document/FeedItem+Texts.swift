extension FeedItem {
  /// The maximum number of characters (Unicode scalars) of ``plainText``: 1,000.
  public static let longestText = 1_000
  /// The maximum number of characters (Unicode scalars) that are taken from text that replaces a title: 100.
  public static let longestCaption = 100

  /// The title without markup; `nil` when it has no visible character.
  public var plainTitle: String? { title?.plain.nonempty }

  /// The text to show with the image, on one line: the title, or else the first words of the item, or else the
  /// alternative text of the image.
  public var plainDescription: String? { plainTitle ?? firstWords ?? plainAlt }

  /// The beginning of the item's text, on one line and without markup, with at most ``longestText`` characters:
  /// `media:description`, or else the summary, or else the first sentence of the content.
  ///
  /// If there is no title, the summary comes first, because `media:description` is the image's alternative text in that
  /// case.
  public var plainText: String? {
    let summary = summary?.plainBeginning?.cut(to: Self.longestText)
    let media = mediaDescription?.plainBeginning?.cut(to: Self.longestText)
    return (describesImage ? summary ?? firstSentence : media ?? summary ?? firstSentence) ?? media
  }

  /// The alternative text of the chosen image, or of a duplicate in another place or size (``distinctImages``), on one
  /// line, or else `media:description`, if that field describes the image.
  public var plainAlt: String? {
    let media = describesImage ? mediaDescription?.plainBeginning : nil
    // `media:description` may be the alternative text of another image.
    let isAnothers = media != nil && images.contains { $0.alt == media?.cut(to: Self.longestText) }
    let texts = [image?.alt?.nonempty ?? distinctImages.first?.alt, isAnothers ? nil : media]
    return texts.lazy.compactMap { $0?.nonempty?.cut(to: Self.longestText) }.first
  }

  /// True when `media:description` describes the image alone: the item's own text is elsewhere.
  private var describesImage: Bool { title == nil && (summary != nil || content != nil) }

  private var firstWords: String? {
    for text in [summary, content, mediaDescription] {
      if let plain = text?.plainBeginning { return plain.cut(to: Self.longestCaption) }
    }
    return nil
  }

  private var firstSentence: String? { content?.plainBeginning?.firstSentence.cut(to: Self.longestText) }
}

extension FeedImageCandidate {
  /// Uses some text as the alternative text, unless there already is one.
  mutating func describe(_ text: FeedText) {
    alt = alt ?? text.plainBeginning?.cut(to: FeedItem.longestText)
  }
}

extension FeedText {
  /// The number of bytes to read first for the beginning of the text.
  private static let beginning = 16 << 10

  /// The beginning of ``plain``, with more than ``FeedItem/longestText`` characters; or else the whole text. `nil` if
  /// none of it is visible.
  fileprivate var plainBeginning: String? {
    var count = Self.beginning
    while count < value.utf8.count {
      var start = Array(value.utf8.prefix(count))
      start.removeLast(start.count - start.withBytes { $0.countOfWholeCharacters })
      let text =
        isMarkup ? plainText(ofHTML: start, isCutOff: true) : plainLine(String(decoding: start, as: UTF8.self))
      if !text.unicodeScalars.dropFirst(FeedItem.longestText).isEmpty, text.hasVisibleCharacter { return text }
      // Long tags, styles and scripts leave little text: read on.
      count *= 4
    }
    return plain.nonempty
  }
}

extension String {
  fileprivate var nonempty: String? { hasVisibleCharacter ? self : nil }

  /// The text up to the first period, question mark or exclamation mark that is followed by a space.
  fileprivate var firstSentence: String {
    var wasEnd = false
    for place in indices {
      if wasEnd, self[place] == " " { return String(self[..<place]) }
      wasEnd = ".!?…。！？".contains(self[place])
    }
    return self
  }

  /// The text, or its beginning with an ellipsis, with at most `count` scalars, because a `Character` may have
  /// any number of marks; it is cut between words if possible.
  fileprivate func cut(to count: Int) -> String {
    let scalars = unicodeScalars
    guard let end = scalars.index(startIndex, offsetBy: count - 1, limitedBy: endIndex), end < endIndex,
      scalars.index(after: end) < endIndex
    else { return self }
    let start = self[..<end]
    let word = start.lastIndex(of: " ").map { start[..<$0] } ?? start
    return (word.unicodeScalars.count * 2 > count ? word : start) + "…"
  }
}
