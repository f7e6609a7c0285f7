import ImageFeed
import PlainText

/// The reason why an image isn't shown. It may contain untrusted text.
struct NoImage: Error, Hashable {
  /// Short text, because there is little room in place of an image.
  let reason: String
  /// The reason in full, if it is longer.
  var details: String?
  /// True if the image may be shown when it is loaded again.
  var isPassing = false
}

extension NoImage {
  init(_ error: ImageError) {
    switch error.remote {
    case .invalidData(.status(let status)):
      self.init(reason: "status \(status)", isPassing: status >= 500 || [408, 425, 429].contains(status))
    case .invalidData(.empty): self.init(reason: "an empty response")
    case .invalidData(.webPage): self.init(reason: "a web page, not an image")
    case .invalidData(.drawing): self.init(reason: "an SVG drawing")
    case .invalidData(.notAnImage): self.init(reason: "not an image")
    case .invalidData(.cutOff): self.init(reason: "cut off", isPassing: true)
    case .connectivity(let error):
      let isPassing = error.isPassing || error.kind == .hostIsClosed
      self.init(reason: Self.reason(error), details: "\(error)", isPassing: isPassing)
    case .unchanged: self.init(reason: "\(error.remote)")
    }
  }

  private static func reason(_ error: HTTPError) -> String {
    switch error.kind {
    case .nameResolution: "host not found"
    case .connect: "unreachable"
    case .tls: "no secure connection"
    case .send, .receive, .truncated: "connection lost"
    case .timedOut: "timed out"
    case .tooLarge(let limit): "larger than \(limit.byteSize)"
    case .tooManyRedirects: "too many redirects"
    case .redirectRefused: "redirect refused"
    case .hostIsClosed: "host paused"
    case .privateNetwork: "private address refused"
    case .notHTTP: "not valid HTTP"
    case .invalidRequest, .body, .encoding, .headersTooLarge, .resources, .closed: "\(error)"
    }
  }
}
