public import Foundation

/// The bytes of an image as its server sent them; the first bytes have been checked.
public struct ImageData: Hashable, Sendable {
  /// The format of an image, as indicated by its first bytes, because the image's URL and media type can be wrong.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    case jpeg, png, gif, webp, avif, heif, jpegXL, bmp, tiff, icon

    /// The image's media type, as in the `Content-Type` header field.
    public var type: String {
      switch self {
      case .jpegXL: "image/jxl"
      case .icon: "image/x-icon"
      default: "image/\(rawValue)"
      }
    }

    /// True for formats that browsers show.
    public var isForBrowsers: Bool {
      switch self {
      case .jpeg, .png, .gif, .webp, .avif, .bmp, .icon: true
      case .heif, .jpegXL, .tiff: false
      }
    }
  }

  public let bytes: Data
  public let kind: Kind

  /// - Throws: ``InvalidImage`` if there are no bytes, if they are a web page, or if the first bytes aren't those of an
  ///   image.
  public init(_ bytes: Data) throws(InvalidImage) {
    guard !bytes.isEmpty else { throw .empty }
    guard let kind = Kind(bytes) else {
      throw Self.isMarkup(bytes) ? Self.isDrawing(bytes) ? .drawing : .webPage : .notAnImage
    }
    self.bytes = bytes
    self.kind = kind
  }

  /// True for text whose first character is `<`.
  private static func isMarkup(_ bytes: Data) -> Bool {
    bytes.prefix(512).drop { [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D].contains($0) }.first == UInt8(ascii: "<")
  }

  /// True for markup whose first element, after a declaration, comments and a document type, is `<svg>`.
  private static func isDrawing(_ bytes: Data) -> Bool {
    let text = String(decoding: bytes.prefix(4096), as: UTF8.self)
    let first = text.firstMatch(of: /<(?:[A-Za-z]\w*:)?([A-Za-z]+)[\s>\/]/)
    return first?.1.lowercased() == "svg"
  }
}

extension ImageData.Kind {
  private static let signatures: [(offset: Int, bytes: [UInt8], kind: Self)] = [
    (0, [0xFF, 0xD8, 0xFF], .jpeg),
    (0, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .png),
    (0, Array("GIF87a".utf8), .gif),
    (0, Array("GIF89a".utf8), .gif),
    (8, Array("WEBP".utf8), .webp),
    (4, Array("ftypavi".utf8), .avif),
    (4, Array("ftyphei".utf8), .heif),
    (4, Array("ftyphev".utf8), .heif),
    (0, [0xFF, 0x0A], .jpegXL),
    (0, [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20], .jpegXL),
    (0, Array("BM".utf8), .bmp),
    (0, [0x49, 0x49, 0x2A, 0], .tiff),
    (0, [0x4D, 0x4D, 0, 0x2A], .tiff),
    (0, [0, 0, 1, 0], .icon),
  ]

  /// The number of bytes that are enough to recognize every format.
  static let longestStart = 128

  /// The format according to the first bytes, or `nil`.
  init?(_ bytes: Data) {
    let match = Self.signatures.first { bytes.dropFirst($0.offset).starts(with: $0.bytes) }
    if let match {
      guard match.kind != .webp || bytes.starts(with: Array("RIFF".utf8)) else { return nil }
      self = match.kind
    } else {
      let brands = Self.brands(of: bytes)
      if brands.contains(where: { ["avif", "avis"].contains($0) }) {
        self = .avif
      } else if let first = brands.first, ["mif1", "msf1"].contains(first) {
        self = .heif
      } else {
        return nil
      }
    }
  }

  /// The brands of an ISO media file (ISO/IEC 14496-12, section 4.3): the major one, which need not name the format,
  /// and the compatible ones.
  private static func brands(of bytes: Data) -> [String] {
    let start = Array(bytes.prefix(longestStart))
    guard start.count >= 12, start[4..<8].elementsEqual("ftyp".utf8), start[0] == 0, start[1] == 0 else { return [] }
    let end = min(Int(start[2]) << 8 | Int(start[3]), start.count)
    let places = [8] + stride(from: 16, to: max(end - 3, 16), by: 4)
    return places.map { String(decoding: start[$0..<$0 + 4], as: UTF8.self) }
  }
}

/// The reason why a response isn't an image.
public enum InvalidImage: Error, Hashable, Sendable {
  /// The status isn't 200.
  case status(Int)
  case empty
  case webPage
  /// An SVG drawing, which can contain code and is not shown.
  case drawing
  /// The first bytes aren't those of an image.
  case notAnImage
  /// An image whose end is missing; the value contains the bytes that arrived. Such an image is never saved.
  case cutOff(ImageData)
}

extension InvalidImage: CustomStringConvertible, LocalizedError {
  public var description: String {
    switch self {
    case .status(let status): "The server responded with status \(status) where an image was expected."
    case .empty: "The server sent an empty response where an image was expected."
    case .webPage: "The server sent a web page where an image was expected."
    case .drawing: "The server sent an SVG drawing; only bitmap images are shown."
    case .notAnImage: "The server sent something that is not an image."
    case .cutOff: "The server sent an incomplete image."
    }
  }

  public var errorDescription: String? { description }
}

/// An image from its server, and the time for which it is considered current.
public struct FetchedImage: Hashable, Sendable {
  public var data: ImageData
  /// The time for which no new request is needed, counted from the image's request.
  public var lifetime: Duration
  /// The width in pixels of a smaller copy that is saved in place of the original; `nil` for the original.
  public var reducedWidth: Int?

  public init(_ data: ImageData, lifetime: Duration, reducedWidth: Int? = nil) {
    self.data = data
    self.lifetime = lifetime
    self.reducedWidth = reducedWidth
  }

  /// True if this can be shown in place of an original.
  ///
  /// - Parameter width: the width in pixels that is needed; `nil` if only the original will do.
  func suffices(for width: Int?) -> Bool { reducedWidth.map { $0 >= width ?? .max } ?? true }
}
