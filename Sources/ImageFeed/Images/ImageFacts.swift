/// The facts about an image that was decoded once: enough to lay out a page before the image is loaded.
public struct ImageFacts: Hashable, Sendable {
  /// The image's size in pixels, when upright.
  public var size: Picture.Size
  /// The most frequent color, as `0xRRGGBB`.
  public var color: UInt32
  /// True if the image is animated.
  public var isAnimated: Bool

  public init(size: Picture.Size, color: UInt32, isAnimated: Bool = false) {
    self.size = size
    self.color = color
    self.isAnimated = isAnimated
  }

  init(_ picture: Picture, of data: ImageData) {
    self.init(size: picture.originalSize, color: picture.color, isAnimated: data.isAnimated)
  }
}
