public import FeedHTTP
public import Foundation

/// The freshness lifetime of a response, and the field that states it.
public struct ResponseFreshness: Hashable, Sendable {
  public var lifetime: Duration
  /// The field as the server sent it, such as `max-age=3600`.
  public var field: String

  public init(lifetime: Duration, field: String) {
    self.lifetime = lifetime
    self.field = field
  }
}

extension ResponseFreshness {
  /// The freshness according to `Cache-Control: max-age` or else `Expires`, minus `Age` (RFC 9111, sections 4.2.1 and
  /// 4.2.3). `nil` if both are missing, and for `no-cache`, which requires a request each time. If there are several
  /// `max-age` directives, the smallest counts; an invalid `max-age` or `Expires` counts as expired.
  ///
  /// - Parameter now: the time from which `Expires` is measured if the response has no `Date`.
  public init?(_ headers: HTTPHeaders, now: Date) {
    let control = CacheControl(headers.values(of: "Cache-Control"))
    guard !control.wantsValidation else { return nil }
    let age = Int(CacheControl.age(headers))
    if let maxAge = control.allSeconds("max-age").map({ Int($0 ?? 0) }).min() {
      self.init(lifetime: .seconds(max(0, maxAge - age)), field: "max-age=\(maxAge)\(age > 0 ? ", Age \(age)" : "")")
    } else if let text = headers["Expires"] {
      let reference = headers["Date"].flatMap { HTTPDate.parse($0, now: now) } ?? now
      let lifetime = HTTPDate.parse(text, now: now)?.timeIntervalSince(reference) ?? 0
      self.init(
        lifetime: .seconds(Int(max(0, min(lifetime, 1e9) - Double(age)))), field: "Expires: \(text.prefix(40))")
    } else {
      return nil
    }
  }
}
