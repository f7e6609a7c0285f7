extension FeedImages {
  /// An item without an image, whose page may have one.
  package struct Imageless: Hashable, Sendable {
    /// The item; its URL is the URL of its page.
    package let item: FeedImage
    /// The last item with an image before it in the document; `nil` if there is none.
    let after: FeedImage.ID?

    /// The maximum number of these items that are examined per document: the first 100.
    package static let most = 100
    /// The maximum size of these items' texts and URLs per document: 512 KiB. An item that doesn't fit isn't examined.
    static let mostBytes = 512 << 10
  }

  /// These images and those found on items' pages, each at its item's position.
  ///
  /// This operation is idempotent. If the items are those of another document, whose items with images aren't all here,
  /// their positions are unknown, and nothing is added or removed.
  ///
  /// - Parameters:
  ///   - items: the document's items without an image, in its order.
  ///   - found: the images found on the items' pages.
  func filled(_ items: [Imageless], with found: [FeedImage.ID: WebAddress]) -> FeedImages {
    let filling = items.filter { found[$0.item.id] != nil }
    guard !filling.isEmpty else { return withoutImageless }
    let own = Set(items.map(\.item.id))
    var places: [FeedImage.ID?: [FeedImage]] = [:]
    for place in filling {
      guard let address = found[place.item.id] else { continue }
      places[place.after, default: []].append(place.item.showing(address))
    }
    var missing = Set(places.keys.compactMap { $0 })
    for index in indices where !missing.isEmpty { missing.remove(id(at: index)) }
    guard missing.isEmpty else { return withoutImageless }
    var (builder, filled, removed) = (Builder(count: count + filling.count), 0, 0)
    func append(after id: FeedImage.ID?) {
      for image in places.removeValue(forKey: id) ?? [] {
        builder.append(image)
        filled += 1
      }
    }
    append(after: nil)
    for index in indices {
      guard !own.contains(id(at: index)) else {
        removed += 1
        continue
      }
      withTexts(at: index) { builder.append($0) }
      append(after: id(at: index))
    }
    builder.omittedItems = Swift.max(0, omittedItems + removed - filled)
    (builder.polling, builder.title, builder.next) = (polling, title, next)
    builder.isFromPrivateNetwork = isFromPrivateNetwork
    return builder.finish()
  }
}

extension FeedImage {
  /// The size of the texts and URLs; a title that is the same as the description is stored only once.
  var byteCount: Int {
    let title = post.title == description ? nil : post.title
    let texts = [description, location, addressText, title, post.text, post.alt, post.linkText]
    return texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) }
      + post.images.reduce(0) { $0 + $1.url.utf8.count + ($1.alt?.utf8.count ?? 0) }
  }

  /// The same item with an image.
  fileprivate func showing(_ address: WebAddress) -> FeedImage {
    FeedImage(
      id: id, description: description, location: location, address: address, published: publishedSeconds, post: post)
  }
}
