/// The facts about an image that was decoded once: enough to lay out a page before the image is loaded.
public struct ImageFacts: Hashable, Sendable {
  /// The image's size in pixels, when upright.
  public var size: DecodedImage.Size
  /// The color to show behind the image, as `0xRRGGBB`: its most frequent one, or a medium gray if it is
  /// partly transparent.
  public var color: UInt32
  /// True if the image is animated.
  public var isAnimated: Bool

  public init(size: DecodedImage.Size, color: UInt32, isAnimated: Bool = false) {
    self.size = size
    self.color = color
    self.isAnimated = isAnimated
  }

  package init(_ image: DecodedImage, of data: ImageData) {
    let color = image.isTransparent ? Self.ground : image.color
    self.init(size: image.originalSize, color: color, isAnimated: data.isAnimated)
  }

  /// The background of transparent images. Dark and light drawings can be seen on it.
  package static let ground: UInt32 = 0x80_8080
  package var isOnGround: Bool { color == Self.ground }
}
