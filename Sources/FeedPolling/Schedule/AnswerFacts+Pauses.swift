extension AnswerFacts {
  /// True when the server requests a pause for all of its feeds: status 429 or 503 (RFC 6585, section 4;
  /// RFC 9110, section 15.6.4).
  public var pauses: Bool {
    switch outcome {
    case .refused(let status), .challenged(let status): status == 429 || status == 503
    case .changed, .unchanged, .notAFeed, .noAnswer: false
    }
  }

  /// The length of the requested pause: at most a day, and ten minutes if the server doesn't specify it.
  public var pause: Duration { min(retryAfter ?? stated ?? Schedule.defaultPause, Schedule.longest) }

  /// True if the server requests a pause without specifying its length.
  var saysNoPause: Bool { retryAfter == nil && stated == nil }

  /// The reason for the pause.
  var pauseReason: String {
    if saysNoPause, case .challenged = outcome { return "the server asks visitors to prove that they are human" }
    if saysNoPause { return "the server refuses requests at the moment and does not say for how long" }
    return retryAfter == nil ? Self.usedUp : "the server requests a pause (Retry-After)"
  }

  static let usedUp = "the server allows no more requests until then (RateLimit)"

  /// The time until the server allows requests again, if it currently allows none and states for how long.
  var stated: Duration? { quota.flatMap { $0.isUsedUp ? $0.resetsAfter.map { .seconds($0) } : nil } }

  /// True if the server is at fault, not the feed itself.
  var isServerError: Bool {
    switch outcome {
    case .refused(let status): status >= 500
    case .noAnswer, .notAFeed: true
    case .changed, .unchanged, .challenged: false
    }
  }
}
