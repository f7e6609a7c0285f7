import FeedStream
import Foundation
import PlainText

extension ImageDecodingResponse {
  /// The image, or the reason why there is none; `nil` if the reply doesn't match the request.
  func result(for request: ImageDecodingRequest) -> Result<DecodedImage, ImageDecodingError>? {
    switch status {
    case .decoded: return image(for: request).map { .success($0) }
    case .empty: return .failure(.empty)
    case .notAnImage: return .failure(.notAnImage(reason))
    case .truncated: return .failure(.truncated)
    case .tooLarge: return .failure(.tooLarge(reason.isEmpty ? tooLarge : reason))
    case .unsupported: return .failure(.unsupported(reason))
    case .corrupt: return .failure(.corrupt(reason))
    case .outOfMemory: return .failure(.outOfMemory)
    }
  }

  /// The child's text, escaped and truncated, because it is untrusted.
  private var reason: String { body.text.printable(limit: 200) }

  private var tooLarge: String {
    let size = originalSize.width > 0 ? "\(originalSize) pixels" : "too many pixels"
    return "The image has \(size); the limits are 40 megapixels, and 16,384 pixels per side."
  }

  private func image(for request: ImageDecodingRequest) -> DecodedImage? {
    let (width, height) = (size.width, size.height)
    guard width * height <= Self.mostPixels,
      request.width == 0 || width <= request.width, request.height == 0 || height <= request.height,
      let kind = ImageData.Kind(Data(request.bytes.prefix(ImageData.Kind.longestStart)))
    else { return nil }
    let content: DecodedImage.Content
    switch (request.form, form) {
    case (.pixels, .pixels): content = .rgba
    case (.web, .web): content = .jpeg
    case (.web, .png), (.png, .png): content = .png
    default: return nil
    }
    return DecodedImage(size: size, originalSize: originalSize, kind: kind, content: content, bytes: body, color: color)
  }
}

extension ImageDecodingError {
  /// The error for a child that ended with this status while it had an image to decode.
  ///
  /// - Parameter isFirst: true if the child had not sent a reply before.
  init(_ status: ExitStatus, isFirst: Bool) {
    switch status {
    // The signal of the child's own timer for processor time, and the signal of the system's limit.
    case .signaled(SIGPROF), .signaled(SIGXCPU): self = .tookTooLong
    case .exited(71) where isFirst:
      self = .unavailable("the system does not let image-decoder drop its privileges (seccomp, rlimits).")
    // The status with which the dynamic linker ends.
    case .exited(127) where isFirst:
      self = .unavailable("image-decoder can't be loaded, perhaps because a library is missing (status 127).")
    case .exited where isFirst: self = .unavailable("image-decoder \(status) on startup.")
    default: self = .crashed(status)
    }
  }
}
