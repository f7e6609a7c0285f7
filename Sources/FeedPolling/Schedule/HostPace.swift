public import Foundation

/// The pace at which a host accepts requests, learned from its refusals and its stated limits.
///
/// A pace is kept only for hosts that have refused requests as too frequent or that state a limit. After a refusal, the
/// time between requests grows to the time that `Retry-After` implies. If that field is missing, the time grows by a
/// factor of four (two from thirty seconds on; multiplicative decrease). Each request that is accepted at this pace
/// adds one request per hour (additive increase), until the pace is close to one that was refused.
public struct HostPace: Hashable, Sendable, Codable {
  /// The maximum learned time between two requests, in seconds: an hour.
  public static let longest = 3600.0
  /// The time between two requests beyond which a refusal doesn't reflect the pace, in seconds: two minutes, or twice
  /// ``gap``.
  static let crowded = 120.0
  /// The same time after repeated refusals, in seconds, because a pause of ten minutes may be too short.
  static let crowdedAfterRefusal = 1200.0
  /// The time for which a refused pace isn't tried again: a day, or 400 days after its second refusal, in seconds.
  static let memory = (first: 86_400.0, confirmed: 400 * 86_400.0)

  /// The learned time from the end of one request to the next, in seconds; `nil` if the host accepts requests at the
  /// usual pace.
  public var gap: Double?
  /// The shortest time that was recently accepted.
  var held: Double?
  /// The time between requests that was refused last, and the time of that refusal.
  public var refusedGap: Double?
  public var refusedAt: Date?
  /// True when roughly the same pace was refused twice.
  var isConfirmed = false
  /// The number of refusals.
  public var refusals = 0
  /// The time when the last request ended.
  var asked: Date?
  /// The number of accepted requests, and the time of the first one.
  var accepted = 0
  var since: Date?
  /// The last stated quota, and when it was stated.
  public var quota: RequestQuota?
  public var quotaAt: Date?

  /// True if the last request was refused because it came sooner than the accepted ones; the next one may come at the
  /// accepted pace.
  var wasAttempt = false

  public init() {}

  private enum CodingKeys: String, CodingKey {
    case gap = "g"
    case held = "h"
    case refusedGap = "rg"
    case refusedAt = "ra"
    case isConfirmed = "c"
    case refusals = "r"
    case asked = "a"
    case accepted = "n"
    case since = "s"
    case quota = "q"
    case quotaAt = "qa"
  }

  /// The number of seconds to wait after a request to the host, according to the learned pace and the stated limits.
  public var rest: Double {
    let stated = quota.map { $0.isUsedUp ? 0 : $0.rest } ?? 0
    return min(max(gap ?? 0, stated), Self.longest)
  }

  /// The pace after a response.
  ///
  /// - Parameters:
  ///   - saved: the previous pace; `nil` if none was learned.
  ///   - facts: the outcome.
  ///   - asked: the beginning of the request.
  ///   - isRepeated: true when the feed's last request failed, too: a feed whose server always responds with a
  ///     challenge doesn't reveal its host's pace.
  ///   - usual: the time between two requests if no pace was learned, in seconds.
  ///   - now: the time of the response.
  /// - Returns: `nil` if there is nothing to remember.
  public static func after(
    _ saved: HostPace?, _ facts: AnswerFacts, asked: Date, isRepeated: Bool, usual: Double, now: Date
  ) -> HostPace? {
    let isRefusal = facts.refusesPace(isRepeated: isRepeated)
    guard saved != nil || isRefusal || facts.quota != nil else { return nil }
    var pace = saved ?? HostPace()
    pace.wasAttempt = false
    if let quota = facts.quota { (pace.quota, pace.quotaAt) = (quota, now) }
    if isRefusal {
      pace.refused(facts, asked: asked, usual: usual, now: now)
    } else if facts.isAccepted {
      pace.wasAccepted(asked: asked, usual: usual)
    }
    pace.asked = now
    return pace.remembered(at: now)
  }

  /// The pace without facts that are too old; `nil` if there is nothing to remember.
  func remembered(at now: Date) -> HostPace? {
    var pace = self
    pace.forgetOver(at: now)
    return pace.gap == nil && pace.refusedAt == nil && pace.quota == nil ? nil : pace
  }

  private mutating func refused(_ facts: AnswerFacts, asked: Date, usual: Double, now: Date) {
    refusals += 1
    let spacing = self.asked.map { max(0, asked.timeIntervalSince($0)) }
    defer { (accepted, since) = (0, nil) }
    // A request that comes long after the last one isn't refused because of its pace.
    guard !isQuiet(spacing, usual) else { return }
    let tried = max(gap ?? usual, spacing ?? 0)
    let next: Double
    if let held, held >= tried * 0.97 {
      // Returns to the pace that was accepted.
      wasAttempt = true
      next = max(held, tried * 1.02)
    } else if let rate = window(facts, asked: asked), rate > tried {
      next = rate * 1.005
    } else {
      next = tried * (tried < 30 ? 4 : 2)
    }
    isConfirmed = refusedGap.map { abs(tried / $0 - 1) < 0.1 } ?? false
    (refusedGap, refusedAt, held) = (tried, now, nil)
    gap = min(next, Self.longest)
  }

  /// The seconds per request that the refusal implies: the server accepted ``accepted`` requests, and accepts the next
  /// one after its pause.
  private func window(_ facts: AnswerFacts, asked: Date) -> Double? {
    guard let since, accepted > 0, let pause = facts.retryAfter else { return nil }
    return (asked.timeIntervalSince(since) + pause.seconds) / Double(accepted)
  }

  private mutating func wasAccepted(asked: Date, usual: Double) {
    let spacing = self.asked.map { max(0, asked.timeIntervalSince($0)) }
    if since == nil || isQuiet(spacing, usual) { (since, accepted) = (asked, 0) }
    accepted += 1
    // Only a request that is sent about as soon as allowed tests the pace; the first request after a refusal does not.
    guard let gap, let spacing, accepted > 1, spacing <= gap * 1.5 + 2 else { return }
    held = gap
    let next = Self.longest / (Self.longest / gap + 1)
    // The pace doesn't get closer to one that was refused.
    if refusedAt != nil, let refusedGap, next <= refusedGap * 1.01 { return }
    self.gap = next <= usual ? nil : next
  }

  private func isQuiet(_ spacing: Double?, _ usual: Double) -> Bool {
    let crowded = refusals > 1 && accepted == 0 ? Self.crowdedAfterRefusal : Self.crowded
    return spacing.map { $0 > max(crowded, 2 * (gap ?? usual)) } ?? false
  }

  /// Drops an old stated quota, and an old refusal, so that the refused pace may be tried again.
  private mutating func forgetOver(at now: Date) {
    // The time is in the future because a clock was wrong.
    if let at = refusedAt, at > now + 300 { refusedAt = now }
    if let refusedAt, now > refusedAt + (isConfirmed ? Self.memory.confirmed : Self.memory.first) {
      self.refusedAt = nil
    }
    if let at = quotaAt, let quota, now > at + min(quota.resetsAfter ?? 86_400, 86_400) {
      (self.quota, quotaAt) = (nil, nil)
    }
  }
}

/// The form in which a fleet stores the pace: one line of text.
extension HostPace {
  public var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    // Encoding numbers and dates can't fail.
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// - Returns: `nil` for text that isn't a pace.
  public init?(_ text: String) {
    guard !text.isEmpty, let pace = try? JSONDecoder().decode(HostPace.self, from: Data(text.utf8)) else { return nil }
    self = pace
    bound()
  }

  /// Clamps numbers, because stored values may be damaged.
  mutating func bound() {
    func seconds(_ number: Double?) -> Double? { number.map { $0.isFinite ? min(max($0, 0), Self.longest) : 0 } }
    (gap, held, refusedGap) = (seconds(gap), seconds(held), seconds(refusedGap))
    if gap == 0 { gap = nil }
    quota?.bound()
    // A text can't show a date beyond the year 9999.
    func date(_ date: Date?) -> Date? {
      date.flatMap { (0..<253_402_300_800).contains($0.timeIntervalSince1970) ? $0 : nil }
    }
    (refusedAt, asked, since, quotaAt) = (date(refusedAt), date(asked), date(since), date(quotaAt))
    refusals = min(max(refusals, 0), 1 << 40)
    accepted = min(max(accepted, 0), 1 << 40)
  }
}

extension AnswerFacts {
  /// True if the server refuses a request because of the pace: status 429, or a new challenge.
  func refusesPace(isRepeated: Bool) -> Bool {
    switch outcome {
    case .refused(429): true
    case .challenged: !isRepeated
    default: false
    }
  }

  /// True if the server accepted the request, whatever the response.
  var isAccepted: Bool {
    switch outcome {
    case .changed, .unchanged, .notAFeed: true
    case .refused(let status): status < 500 && status != 429
    case .challenged, .noAnswer: false
    }
  }
}
