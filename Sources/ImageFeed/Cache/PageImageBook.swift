package import Foundation

/// Keeps the images found on items' pages, in the feed's store. Each page is read once, and its image then becomes an
/// image of the feed.
///
/// Every call **blocks**, as calls to a store do.
package struct PageImageBook: Sendable {
  private let store: any NoteStore

  package init(_ store: any NoteStore) { self.store = store }

  /// A page that may have an item's image.
  package struct Page: Hashable, Sendable {
    package let id: FeedImage.ID
    package let url: URL
  }

  /// Adds the images found on items' pages to those of a document that has just been read, and records the document's
  /// items without an image.
  ///
  /// A failure of the store is reported later, when the document is saved.
  func completing(_ images: FeedImages, of address: URL) -> FeedImages {
    let key = NoteKey.pageImages(of: address)
    let noted = (try? store.readNotes { try $0.note(key, as: PageImageNote.self) }) ?? nil
    guard noted != nil || !images.imageless.isEmpty else { return images }
    let note = noted ?? PageImageNote()
    let items = images.imageless
    if note.items != items {
      _ = try? store.changeNotes(replacing: false) { notes in
        // Start from the stored note: another process may have added images since it was last read.
        var note = try notes.note(key, as: PageImageNote.self) ?? PageImageNote()
        note.items = items
        try notes.set(note, at: key, isKept: false)
      }
    }
    return images.filled(items, with: note.found(inPrivate: images.isFromPrivateNetwork))
  }

  /// Adds the images found on items' pages to those of a later page of a feed, whose items aren't recorded.
  func filling(_ images: FeedImages, of address: URL) -> FeedImages {
    guard !images.imageless.isEmpty else { return images.withoutImageless }
    let note = (try? store.readNotes { try $0.note(.pageImages(of: address), as: PageImageNote.self) }) ?? nil
    return images.filled(images.imageless, with: note?.found(inPrivate: images.isFromPrivateNetwork) ?? [:])
  }

  /// Adds the images found since a feed's document was read, each at its item's position. Idempotent.
  func updating(_ images: FeedImages, of address: URL) -> FeedImages {
    let note = (try? store.readNotes { try $0.note(.pageImages(of: address), as: PageImageNote.self) }) ?? nil
    return images.filled(note?.items ?? [], with: note?.found(inPrivate: images.isFromPrivateNetwork) ?? [:])
  }

  /// The pages of a feed's items that have not been read yet, in the order of the feed's document.
  package func openPages(of address: URL) throws(FeedStoreError) -> [Page] {
    let note = try store.readNotes { try $0.note(.pageImages(of: address), as: PageImageNote.self) } ?? nil
    return (note?.open ?? []).map { Page(id: $0.item.id, url: $0.item.url) }
  }

  /// True if a feed may have an image that was found on an item's page.
  ///
  /// A feed's images can be in a private network if the feed came from one. So such a feed gets no image that a public
  /// page has chosen, even if the page was read while the feed was public.
  ///
  /// - Parameters:
  ///   - isTrusted: true if the page came from a private network or the feed itself chose the image; false if a public
  ///     page chose the image; `nil` if that is unknown.
  ///   - isPrivate: the feed's ``FeedImages/isFromPrivateNetwork``.
  package static func isUsable(_ isTrusted: Bool?, inPrivate isPrivate: Bool?) -> Bool {
    isTrusted == true || isPrivate == false || isTrusted == nil && isPrivate == nil
  }

  /// Records the image of an item's page; pass `nil` for a page without an image.
  ///
  /// - Parameter isTrusted: see ``isUsable(_:inPrivate:)``.
  package func note(
    _ image: String?, of id: FeedImage.ID, in address: URL, isTrusted: Bool?
  ) throws(FeedStoreError) {
    try store.changeNotes(replacing: false) { notes in
      var note = try notes.note(.pageImages(of: address), as: PageImageNote.self) ?? PageImageNote()
      note.take(image, for: id, isTrusted: isTrusted)
      try notes.set(note, at: .pageImages(of: address), isKept: false)
    }
  }

  /// Adds the found images to the saved feed.
  ///
  /// - Returns: the images of the feed; `nil` if nothing is saved.
  package func fill(_ address: URL, now: Date) throws(FeedStoreError) -> FeedImages? {
    var images: FeedImages?
    // Retry if the saved document changes in the meantime, because the new document needs the images, too.
    for _ in 0..<3 {
      guard let saved = try store.retrieve(for: address) else { return nil }
      // The note is read in the transaction that saves the feed, so that no image of another process is lost.
      let (filled, isSaved) = try store.changeNotes(replacing: true) { notes -> (FeedImages, Bool) in
        let note = try notes.note(.pageImages(of: address), as: PageImageNote.self)
        let found = note?.found(inPrivate: saved.images.isFromPrivateNetwork) ?? [:]
        let filled = saved.images.filled(note?.items ?? [], with: found)
        // Another document may be saved now, or none, or the same one with a later page, which changes only the number.
        guard try notes.validators(of: address) == saved.validators,
          try notes.imageCount(of: address) == saved.images.count
        else { return (filled, false) }
        guard filled != saved.images else { return (filled, true) }
        let feed = CachedFeed(filled, timestamp: saved.timestamp, validators: saved.validators)
        if case .superseded = try notes.replace(address, with: feed, now: now) { return (filled, false) }
        return (filled, true)
      }
      images = filled
      if isSaved { break }
    }
    return images
  }
}
