public import Foundation

/// The reason why there is no image to show.
public enum SizedImageError: Error, Hashable, Sendable {
  /// The original couldn't be loaded.
  case image(ImageError)
  /// The original couldn't be decoded.
  case decoding(ImageDecodingError)
}

extension SizedImageError: CustomStringConvertible, LocalizedError {
  public var description: String {
    switch self {
    case .image(let error): "\(error)"
    case .decoding(let error): "\(error)"
    }
  }

  public var errorDescription: String? { description }
}
