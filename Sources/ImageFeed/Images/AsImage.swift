public import FeedStream
public import Foundation

extension Publisher where Output == HTTPResponse, Failure == HTTPError {
  /// Maps each response to an image, based on its status and its first bytes, or fails with the reason why there is
  /// none.
  ///
  /// **Demand:** passes through. **Failure:** ``RemoteImageError``: the reason why no response arrived,
  /// ``RemoteImageError/unchanged(_:lifetime:)`` for status 304, or ``RemoteImageError/invalidData(_:)`` for a response that
  /// isn't an image.
  /// **Cancellation:** passes through.
  ///
  /// - Parameters:
  ///   - lifetime: the time for which an image is considered current if its server doesn't set one.
  ///   - now: the wall clock, for a response without a `Date`.
  public func asImage(
    lifetime: Duration, now: @escaping () -> Date = { Date() }
  ) -> some Publisher<Fetched<FetchedImage>, RemoteImageError> {
    mapError(RemoteImageError.connectivity)
      .flatMap(maxPublishers: .max(1)) { Result.Publisher($0.image(lifetime: lifetime, now: now())) }
  }
}

extension HTTPResponse {
  fileprivate func image(lifetime: Duration, now: Date) -> Result<Fetched<FetchedImage>, RemoteImageError> {
    let validators = FeedValidators(headers)
    let stated = headers.imageLifetime(now: now)
    switch status {
    case 200: break
    case 304: return .failure(.unchanged(validators, lifetime: stated))
    default: return .failure(.invalidData(.status(status)))
    }
    do throws(InvalidImage) {
      let data = try ImageData(body)
      guard !data.isCutOff else { throw .cutOff(data) }
      let image = FetchedImage(data, lifetime: stated ?? lifetime)
      return .success(Fetched(image, validators: validators))
    } catch {
      return .failure(.invalidData(error))
    }
  }
}

extension HTTPHeaders {
  /// The maximum time for which an image is considered current, whatever its server says: 365 days.
  private static let longestLifetime = Duration.seconds(31_536_000)

  /// The freshness lifetime that the response states; `nil` if it states none. Zero for `no-cache` and
  /// `no-store`: such an image is saved anyway, to be shown when its server is unreachable.
  fileprivate func imageLifetime(now: Date) -> Duration? {
    let control = CacheControl(filter { $0.name.lowercased() == "cache-control" }.map(\.value))
    if control.has("no-cache") || control.has("no-store") { return .zero }
    return ResponseFreshness(self, now: now).map { Swift.min($0.lifetime, Self.longestLifetime) }
  }
}
