extension AnswerFacts {
  /// True when the server wants no request for a while, for any of its feeds: status 429 and 503 (RFC 6585, section 4; RFC
  /// 9110, section 15.6.4).
  public var pauses: Bool {
    switch outcome {
    case .refused(let status), .challenged(let status): status == 429 || status == 503
    case .changed, .unchanged, .notAFeed, .noAnswer: false
    }
  }

  /// The length of that pause: at most a day, ten minutes when it does not say.
  public var pause: Duration { min(retryAfter ?? stated ?? Schedule.defaultPause, Schedule.longest) }

  /// True when the server wants a pause and does not say how long.
  var saysNoPause: Bool { retryAfter == nil && stated == nil }

  /// The reason for it.
  var pauseReason: String {
    if saysNoPause, case .challenged = outcome { return "the server asks visitors to prove that they are people" }
    if saysNoPause { return "the server is overloaded and does not say how long" }
    return retryAfter == nil ? Self.usedUp : "the server asks for a pause (Retry-After)"
  }

  static let usedUp = "the server allows no more requests until then (RateLimit)"

  /// The time until the server allows requests again, if it allows none and says how long.
  var stated: Duration? { quota.flatMap { $0.isUsedUp ? $0.resetsAfter.map { .seconds($0) } : nil } }

  /// True when the feed itself is not at fault.
  var isServerError: Bool {
    switch outcome {
    case .refused(let status): status >= 500
    case .noAnswer, .notAFeed: true
    case .changed, .unchanged, .challenged: false
    }
  }
}
