public import Foundation

extension SizedImageLoader {
  /// The part of a key that changes when ``ImageDecoder`` makes other pixels of an image, so that smaller images made by
  /// older releases aren't shown. The first releases' keys have no version.
  private static let version = ".2"

  /// The URL under which a smaller image is kept, with a scheme that no feed can use.
  static func key(_ url: URL, width: Int, version: String = version) -> URL? {
    URL(string: "w\(width)\(version)+\(url.absoluteString)")
  }

  /// The URLs under which a store keeps the smaller versions of an image, including those of older releases.
  public static func addresses(of url: URL) -> [URL] {
    [version, ""].flatMap { version in ladder.compactMap { key(url, width: $0, version: version) } }
  }
}
