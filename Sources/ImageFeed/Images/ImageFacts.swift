/// The facts about an image that was decoded once: enough to lay out a page before the image is loaded.
public struct ImageFacts: Hashable, Sendable {
  /// The image's size in pixels, when upright.
  public var size: DecodedImage.Size
  /// The most frequent color, as `0xRRGGBB`.
  public var color: UInt32
  /// True if the image is animated.
  public var isAnimated: Bool

  public init(size: DecodedImage.Size, color: UInt32, isAnimated: Bool = false) {
    self.size = size
    self.color = color
    self.isAnimated = isAnimated
  }

  init(_ image: DecodedImage, of data: ImageData) {
    self.init(size: image.originalSize, color: image.color, isAnimated: data.isAnimated)
  }
}
