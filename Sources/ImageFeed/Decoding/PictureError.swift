public import FeedStream
public import Foundation

/// The reason why a picture was not decoded.
public enum PictureError: Error, Hashable, Sendable {
  /// There are no bytes.
  case empty
  /// Nothing that begins as a picture does; the reason, where more is known.
  case notAPicture(String)
  /// The bytes end within the picture.
  case truncated
  /// More pixels, scans, bytes or comments than are decoded; the reason says which.
  case tooLarge(String)
  /// A kind of picture that is not decoded.
  case unsupported(String)
  /// The bytes contradict themselves.
  case corrupt(String)
  /// Decoding needs more memory than a child may have.
  case outOfMemory
  /// The child ended like this while it decoded the picture; `nil` when it was ended because its answer made no sense.
  case crashed(ExitStatus?)
  /// The picture took more of the processor's time than it may, or more time than ``PictureDecoder/Options/deadline``.
  case tookTooLong
  /// As many pictures wait as may.
  case busy
  /// No child can be started.
  case unavailable(String)
  /// The decoder was closed.
  case closed

  /// True when another try may succeed: the picture was not looked at.
  public var isTemporary: Bool {
    switch self {
    case .busy, .unavailable, .closed: true
    default: false
    }
  }
}

extension PictureError: CustomStringConvertible, LocalizedError {
  public var description: String {
    switch self {
    case .empty: "The picture is empty."
    case .notAPicture(""): "This is not a picture."
    case .notAPicture(let reason), .tooLarge(let reason), .unsupported(let reason): reason
    case .truncated: "The picture is cut off."
    case .corrupt(""): "The picture is damaged."
    case .corrupt(let reason): "The picture is damaged: \(reason)"
    case .outOfMemory: "Decoding the picture takes more memory than it may."
    case .crashed(nil): "The picture's decoder answered nonsense and was ended."
    case .crashed(let status?): "The picture made its decoder crash: it \(status)."
    case .tookTooLong: "Decoding the picture took too long."
    case .busy: "Too many pictures wait to be decoded."
    case .unavailable(let reason): "No picture can be decoded: \(reason)"
    case .closed: "The decoder of pictures was closed."
    }
  }

  public var errorDescription: String? { description }
}
