public import FeedStream
import Foundation

extension Publisher where Output == HTTPResponse, Failure == HTTPError {
  /// Judges each response: a picture, by its status and its first bytes, or the reason why there is none.
  ///
  /// **Demand:** passes through. **Failure:** ``RemoteImageError``: what kept a response from arriving,
  /// ``RemoteImageError/unchanged(_:)`` for status 304, and a response that is no picture as invalid data.
  /// **Cancellation:** passes through.
  ///
  /// - Parameter lifetime: for how long a picture counts as the latest when its server does not say.
  public func asImage(lifetime: Duration) -> some Publisher<Fetched<FetchedImage>, RemoteImageError> {
    mapError(RemoteImageError.connectivity)
      .flatMap(maxPublishers: .max(1)) { Result.Publisher($0.image(lifetime: lifetime)) }
  }
}

extension HTTPResponse {
  fileprivate func image(lifetime: Duration) -> Result<Fetched<FetchedImage>, RemoteImageError> {
    let validators = FeedValidators(headers)
    switch status {
    case 200: break
    case 304: return .failure(.unchanged(validators))
    default: return .failure(.invalidData(.status(status)))
    }
    do throws(InvalidImage) {
      let image = FetchedImage(try ImageData(body), lifetime: headers.imageLifetime ?? lifetime)
      return .success(Fetched(image, validators: validators))
    } catch {
      return .failure(.invalidData(error))
    }
  }
}

extension HTTPHeaders {
  /// The longest that a picture counts as the latest, whatever its server says: 365 days.
  static let longestLifetime = 31_536_000

  /// What `Cache-Control` says of how long an answer is fresh (RFC 9111, section 5.2.2), less the `Age` it came with; `nil`
  /// when it says nothing.
  fileprivate var imageLifetime: Duration? {
    let directives = lazy.filter { $0.name.lowercased() == "cache-control" }
      .flatMap { $0.value.split(separator: ",") }
      .map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
    if directives.contains(where: { $0 == "no-cache" || $0 == "no-store" }) { return .zero }
    guard let value = directives.first(where: { $0.hasPrefix("max-age=") })?.dropFirst(8) else { return nil }
    let digits = value.filter { $0 != "\"" }
    guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return .zero }
    let age = Int(self["Age"] ?? "") ?? 0
    return .seconds(
      Swift.max(0, Swift.min(Int(digits) ?? Self.longestLifetime, Self.longestLifetime) - Swift.max(0, age)))
  }
}
