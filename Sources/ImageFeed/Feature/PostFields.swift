/// The fields of a ``FeedImage/Post`` as bytes: the number of bytes that follow, in four bytes, and then each field's
/// kind, length and text in UTF-8.
///
/// Nothing is written for a post without fields, so an image without a post takes no additional room. Numbers are
/// little-endian. An unknown kind is skipped, because later releases may add kinds.
package struct PostFields: Sequence {
  package enum Kind: UInt8 {
    /// The title is the same as the image's description, so it isn't written twice.
    case sameTitle = 1
    case title
    case link
    case text
    case alt
    /// The URL of one of several images.
    case image
    /// The alternative text of the image before this field.
    case imageAlt
  }

  private let bytes: UnsafeBufferPointer<UInt8>

  /// - Parameter bytes: the stored fields, preceded by their length.
  package init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = UnsafeBufferPointer(rebasing: bytes.dropFirst(4))
  }

  package struct Iterator: IteratorProtocol {
    fileprivate var rest: UnsafeBufferPointer<UInt8>

    package mutating func next() -> (kind: Kind, text: UnsafeBufferPointer<UInt8>)? {
      while rest.count >= 5 {
        let length = Int(PostFields.number(at: 1, in: rest))
        guard length <= rest.count - 5 else { return nil }
        let kind = Kind(rawValue: rest[0])
        let text = UnsafeBufferPointer(rebasing: rest[5..<5 + length])
        rest = UnsafeBufferPointer(rebasing: rest[(5 + length)...])
        if let kind { return (kind, text) }
      }
      return nil
    }
  }

  package func makeIterator() -> Iterator { Iterator(rest: bytes) }

  /// The total length of the fields at the beginning of `bytes`; `nil` if bytes are missing.
  static func length(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    guard bytes.count >= 4 else { return nil }
    let length = Int(number(at: 0, in: bytes)) + 4
    return length <= bytes.count ? length : nil
  }

  fileprivate static func number(at place: Int, in bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
    UInt32(littleEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: place, as: UInt32.self))
  }

  /// Appends the fields of a post.
  ///
  /// - Parameter description: the image's description.
  /// - Returns: the number of bytes; 0 for none.
  static func append(_ post: FeedImage.Post, of description: String?, to bytes: inout [UInt8]) -> Int32 {
    let start = bytes.count
    func put(_ kind: Kind, _ text: String?) {
      guard let text else { return }
      if bytes.count == start { bytes.append(contentsOf: [0, 0, 0, 0]) }
      bytes.append(kind.rawValue)
      withUnsafeBytes(of: UInt32(text.utf8.count).littleEndian) { bytes.append(contentsOf: $0) }
      bytes.append(contentsOf: text.utf8)
    }
    if post.title != nil, post.title == description { put(.sameTitle, "") } else { put(.title, post.title) }
    put(.link, post.linkText)
    put(.text, post.text)
    put(.alt, post.alt)
    for image in post.images {
      put(.image, image.url)
      put(.imageAlt, image.alt)
    }
    let count = bytes.count - start
    if count > 0 {
      withUnsafeBytes(of: UInt32(count - 4).littleEndian) { bytes.replaceSubrange(start..<start + 4, with: $0) }
    }
    return Int32(count)
  }
}

extension FeedImage.Post {
  /// Reads the fields that ``append(_:of:to:)`` wrote.
  init(_ bytes: UnsafeBufferPointer<UInt8>?, of description: String?) {
    self.init(title: nil, text: nil, alt: nil, linkText: nil, images: [])
    guard let bytes else { return }
    var link: String?
    for (kind, text) in PostFields(bytes) {
      let text = String(decoding: text, as: UTF8.self)
      switch kind {
      case .sameTitle: title = description
      case .title: title = text
      case .link: link = text
      case .text: self.text = text
      case .alt: alt = text
      case .image: images.append(Image(url: text))
      case .imageAlt: if !images.isEmpty { images[images.count - 1].alt = text }
      }
    }
    self.init(title: title, text: self.text, alt: alt, linkText: link, images: images)
  }
}
