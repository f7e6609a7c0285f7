public import FeedStream

/// A decoded image: its pixels, or a new file made from them.
public struct DecodedImage: Hashable, Sendable {
  /// The width and the height, in pixels.
  public struct Size: Hashable, Sendable, CustomStringConvertible {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
      self.width = width
      self.height = height
    }

    /// The size as text, such as `640 × 480`.
    public var description: String { "\(width) × \(height)" }
  }

  /// The requested form of an image.
  public enum Form: UInt32, Hashable, Sendable {
    /// Its pixels.
    case pixels = 0
    /// A file that browsers show: JPEG when no pixel is transparent, PNG otherwise.
    case web = 1
    /// A PNG.
    case png = 2
  }

  /// The format of ``bytes``.
  public enum Content: Hashable, Sendable {
    /// Four bytes per pixel, row by row from the top: red, green, blue and alpha, not premultiplied.
    case rgba
    case jpeg, png
  }

  public var size: Size
  /// The size of the original image when upright, that is, after its EXIF orientation is applied.
  public var originalSize: Size
  /// The original format.
  public var kind: ImageData.Kind
  public var content: Content
  public var bytes: Chunk
  /// The most frequent color, as `0xRRGGBB`, which a page shows until the image is loaded.
  public var color: UInt32

  /// True if a pixel of an image in the form ``Form/web`` is transparent.
  var isTransparent: Bool { content == .png }

  public init(
    size: Size, originalSize: Size, kind: ImageData.Kind, content: Content, bytes: Chunk, color: UInt32 = 0x80_8080
  ) {
    self.size = size
    self.originalSize = originalSize
    self.kind = kind
    self.content = content
    self.bytes = bytes
    self.color = color
  }
}
