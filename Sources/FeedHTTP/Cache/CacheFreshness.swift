import Foundation

/// The age and the freshness of a stored response (RFC 9111, section 4.2).
struct CacheFreshness {
  let control: CacheControl
  private let head: HTTPStoredResponse.Head

  init(_ head: HTTPStoredResponse.Head) {
    self.head = head
    control = CacheControl(head.headers.values(of: "Cache-Control"))
  }

  // MARK: Lifetime

  /// The freshness lifetime of the response, in seconds (section 4.2.1). `s-maxage` is for shared caches and is
  /// ignored.
  ///
  /// A malformed or contradictory lifetime, such as `max-age=5, max-age=6` or `Expires: 0`, makes the response stale.
  var lifetime: TimeInterval {
    switch control.seconds("max-age") {
    case .value(let seconds): return seconds
    case .invalid: return 0
    case .absent: break
    }
    let expires = Set(head.headers.values(of: "Expires"))
    guard expires.isEmpty else {
      guard expires.count == 1, let date = HTTPDate.parse(expires.first!, now: head.received) else { return 0 }
      return max(0, date.timeIntervalSince(self.date))
    }
    return heuristicLifetime
  }

  /// A tenth of the time between the response's last change and its `Date` (section 4.2.2), for responses without
  /// explicit freshness.
  private var heuristicLifetime: TimeInterval {
    guard Self.isHeuristicallyCacheable(head.status) || control.has("public"),
      let text = head.headers["Last-Modified"], let changed = HTTPDate.parse(text, now: head.received)
    else { return 0 }
    return max(0, date.timeIntervalSince(changed) / 10)
  }

  /// The statuses that may be stored without explicit freshness (RFC 9110, section 15.1); 206 is never stored here.
  static func isHeuristicallyCacheable(_ status: Int) -> Bool {
    [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
  }

  // MARK: Age

  /// The time when the origin created the response; if unknown, the time when it arrived.
  private var date: Date {
    head.headers["Date"].flatMap { HTTPDate.parse($0, now: head.received) } ?? head.received
  }

  /// The number of seconds since the origin created or validated the response (section 4.2.3).
  ///
  /// If the time of receipt is more than five minutes in the future, the response was stored while the clock was wrong,
  /// and gets the maximum age.
  func age(at now: Date) -> TimeInterval {
    let resident = now.timeIntervalSince(head.received)
    guard resident > -300 else { return .greatestFiniteMagnitude }
    // `Date` has whole seconds, so a fraction of a second doesn't count as age.
    let apparent = max(0, head.received.timeIntervalSince(date).rounded(.down))
    let delay = max(0, head.received.timeIntervalSince(head.requested))
    return max(apparent, CacheControl.age(head.headers) + delay) + max(0, resident)
  }

  // MARK: Permitted uses

  /// True if the response may be used without validation while it is fresh.
  var needsNoValidation: Bool { !control.wantsValidation }

  /// True if nothing forbids using the response while it is stale (section 4.2.4).
  var mayBeStale: Bool { needsNoValidation && !control.has("must-revalidate") }

  /// The fields that `no-cache` names, which may not be used without validation.
  var hiddenFields: Set<String> { control.fields(of: "no-cache") ?? [] }

  /// The number of seconds for which the stale response may be used while it is revalidated (RFC 5861, section 3).
  var staleWhileRevalidate: TimeInterval { seconds("stale-while-revalidate") ?? 0 }

  /// The number of seconds for which the stale response may be used when its server has an error (RFC 5861, section 4);
  /// `nil` if there is no such directive.
  var staleIfError: TimeInterval? { seconds("stale-if-error") }

  /// The seconds of a directive that permits something; `nil` if it is absent, and 0 if it is malformed.
  private func seconds(_ name: String) -> TimeInterval? {
    switch control.seconds(name) {
    case .absent: nil
    case .value(let seconds): seconds
    case .invalid: 0
    }
  }
}
