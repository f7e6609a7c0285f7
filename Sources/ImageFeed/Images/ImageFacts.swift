/// The facts about an image that was decoded once: enough to lay out a page before the image is there.
public struct ImageFacts: Hashable, Sendable {
  /// Its size, upright, in pixels.
  public var size: Picture.Size
  /// The color that most of it has, as `0xRRGGBB`.
  public var color: UInt32
  /// True when it moves.
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
