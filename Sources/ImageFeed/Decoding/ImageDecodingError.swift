public import FeedStream
public import Foundation

/// The reason why an image was not decoded.
public enum ImageDecodingError: Error, Hashable, Sendable {
  /// There are no bytes.
  case empty
  /// The first bytes aren't those of an image; the text gives the reason, if it is known.
  case notAnImage(String)
  /// The bytes end within the image.
  case truncated
  /// The image has more pixels, scans, bytes or comments than the limit; the text says which limit was exceeded.
  case tooLarge(String)
  /// The format isn't supported.
  case unsupported(String)
  /// The data is inconsistent.
  case corrupt(String)
  /// Decoding needs more memory than a process may use.
  case outOfMemory
  /// The process ended while it was decoding the image. The value is the exit status; `nil` if the process was killed
  /// because its reply was invalid.
  case crashed(ExitStatus?)
  /// The image took more processor time than the limit, or more time than ``ImageDecoder/Options/deadline``.
  case tookTooLong
  /// Too many images are waiting.
  case busy
  /// No decoding process can be started.
  case unavailable(String)
  /// The decoder was closed.
  case closed

  /// True when the image was not examined, so a retry may succeed; after ``closed``, only with a different decoder.
  public var isTemporary: Bool {
    switch self {
    case .busy, .unavailable, .closed: true
    default: false
    }
  }
}

extension ImageDecodingError: CustomStringConvertible, LocalizedError {
  public var description: String {
    switch self {
    case .empty: "The image is empty."
    case .notAnImage(""): "This is not an image."
    case .notAnImage(let reason), .tooLarge(let reason), .unsupported(let reason): reason
    case .truncated: "The image is incomplete."
    case .corrupt(""): "The image is damaged."
    case .corrupt(let reason): "The image is damaged: \(reason)"
    case .outOfMemory: "Decoding the image needs more memory than the limit allows."
    case .crashed(nil): "The image decoder sent an invalid reply and was stopped."
    case .crashed(let status?): "The decoder crashed on this image: it \(status)."
    case .tookTooLong: "Decoding the image took too long."
    case .busy: "Too many images are waiting to be decoded."
    case .unavailable(let reason): "No image can be decoded: \(reason)"
    case .closed: "The image decoder is closed."
    }
  }

  public var errorDescription: String? { description }
}
