import FeedFormats
public import Foundation
public import ImageFeed

/// An engine's record of a feed, apart from its images: one line of text.
public struct FeedRecord: Hashable, Sendable {
  public var health: FeedHealth
  public var validators = FeedValidators()
  public var imageCount = 0
  /// The digest of the saved images; `nil` if there are none.
  public var digest: UInt64?
  /// The images' `FeedImages.isFromPrivateNetwork`.
  public var isFromPrivateNetwork: Bool?
  /// The time when the saved feed was requested, if it isn't a whole number of microseconds.
  public var timestamp: Date?
  /// The latest decisions, oldest first: at most ``kept``. The most recent decision isn't in this list, but in
  /// ``health``.
  public var decisions: [PollDecision] = []

  /// The number of decisions that a fleet keeps per feed: three. A file keeps 20.
  public static let kept = 3

  public init(health: FeedHealth) { self.health = health }

  public mutating func note(_ decision: PollDecision) {
    decisions.append(decision)
    if decisions.count > Self.kept { decisions.removeFirst(decisions.count - Self.kept) }
  }
}

/// The stored form has short names and omits defaults, because a fleet may have a million records.
extension FeedRecord {
  private struct Form: Codable {
    struct Decision: Codable {
      var t: Int64
      var c: Int?
      var o: String
      var d: Int64?
      var r: String
      var w: String
    }
    struct Move: Codable {
      var t: String
      var s: Int64
      var b: Int?
      var p: Int?
    }
    var d: Int64?
    var n: Int64?
    var i: Double?
    var r: String?
    var w: String?
    var a: Int64?
    var aa: Int64?
    var s: Int64?
    var c: Int64?
    var cc: Double?
    var f: Int?
    var o: String?
    var g: Int?
    var v: Int?
    var h: PollingHints?
    var m: Move?
    var p: Int?
    var e: String?
    var l: String?
    var u: String?
    var x: String?
    var ww: Int64?
    var nn: Int?
    var dd: String?
    var pn: Int?
    var tt: Double?
    var ll: [Decision]?
  }

  public var text: String {
    var form = Form()
    (form.d, form.n, form.i) = (health.due?.milliseconds, health.notBefore?.milliseconds, health.interval)
    (form.r, form.w) = (health.rule?.rawValue, health.reason.isEmpty ? nil : health.reason)
    (form.a, form.aa) = (health.asked?.milliseconds, health.askedForAll?.milliseconds)
    (form.s, form.c, form.cc) = (
      health.succeeded?.milliseconds, health.changed?.milliseconds, health.changeInterval?.rounded()
    )
    (form.f, form.o) = (health.failures == 0 ? nil : health.failures, health.outcome.isEmpty ? nil : health.outcome)
    (form.g, form.p, form.v) = (health.isGone ? 1 : nil, health.polls, health.hadValidators.map { $0 ? 1 : 0 })
    form.h = health.hints == PollingHints() ? nil : health.hints
    form.m = health.move.map {
      .init(
        t: $0.to.absoluteString, s: $0.since.milliseconds, b: $0.isBelieved ? 1 : nil,
        p: $0.isFromPrivateNetwork == true ? 1 : nil)
    }
    (form.e, form.l, form.u) = (validators.etag, validators.lastModified, validators.source?.absoluteString)
    (form.x, form.ww) = (validators.digest?.text, validators.wholeAsked?.milliseconds)
    (form.nn, form.dd) = (imageCount == 0 ? nil : imageCount, digest.map { String($0, radix: 36) })
    form.pn = isFromPrivateNetwork.map { $0 ? 1 : 0 }
    form.tt = timestamp?.timeIntervalSinceReferenceDate
    form.ll =
      decisions.isEmpty
      ? nil
      : decisions.map {
        .init(
          t: $0.time.milliseconds, c: $0.request == "changes" ? 1 : nil, o: $0.outcome, d: $0.due?.milliseconds,
          r: $0.rule.rawValue, w: $0.reason)
      }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Encoding these types can't fail.
    return (try? encoder.encode(form)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  /// Reads the stored form. Numbers out of range are clamped, because the text comes from a server and may be damaged.
  ///
  /// - Returns: `nil` for text that isn't a record.
  public init?(_ text: String, of address: URL) {
    guard let form = try? JSONDecoder().decode(Form.self, from: Data(text.utf8)) else { return nil }
    var health = FeedHealth(address: address)
    (health.due, health.notBefore, health.interval) = (form.d.date, form.n.date, form.i.bounded)
    (health.rule, health.reason) = (form.r.flatMap(Schedule.Rule.init(rawValue:)), form.w ?? "")
    (health.asked, health.askedForAll) = (form.a.date, form.aa.date)
    (health.succeeded, health.changed, health.changeInterval) = (form.s.date, form.c.date, form.cc.bounded)
    (health.failures, health.outcome) = (form.f.bounded, form.o ?? "")
    (health.isGone, health.polls, health.hints) = (form.g == 1, form.p.bounded, form.h ?? PollingHints())
    health.hadValidators = form.v.map { $0 == 1 }
    health.move = form.m.flatMap { move in
      URL(string: move.t).map { .init(to: $0, since: Date(milliseconds: move.s), isBelieved: move.b == 1) }
    }
    if form.m?.p == 1 { health.move?.isFromPrivateNetwork = true }
    self.init(health: health)
    validators = FeedValidators(
      etag: form.e, lastModified: form.l, source: form.u.flatMap { URL(string: $0) },
      digest: form.x.flatMap { UInt64($0, radix: 36) }.map { BodyDigest(value: $0) }, wholeAsked: form.ww.date)
    (imageCount, digest) = (form.nn.bounded, form.dd.flatMap { UInt64($0, radix: 36) })
    isFromPrivateNetwork = form.pn.map { $0 == 1 }
    timestamp = form.tt.flatMap { $0.isFinite ? Date(timeIntervalSinceReferenceDate: $0) : nil }
    decisions = (form.ll ?? []).compactMap { line in
      Schedule.Rule(rawValue: line.r).map {
        PollDecision(
          time: Date(milliseconds: line.t), request: line.c == 1 ? "changes" : "the whole feed", outcome: line.o,
          due: line.d.date, rule: $0, reason: line.w)
      }
    }
  }
}

extension Date {
  /// The milliseconds since 1970, limited to the years 1 to 9999.
  package var milliseconds: Int64 {
    Int64(min(max((timeIntervalSince1970 * 1000).rounded(), -62_135_596_800_000), 253_402_300_799_000))
  }

  /// The date of a number, limited to the years 1 to 9999.
  package init(milliseconds: Int64) {
    self.init(timeIntervalSince1970: Double(min(max(milliseconds, -62_135_596_800_000), 253_402_300_799_000)) / 1000)
  }
}

extension Int64? {
  fileprivate var date: Date? { map { Date(milliseconds: $0) } }
}

extension Int? {
  fileprivate var bounded: Int { Swift.min(Swift.max(self ?? 0, 0), 1 << 40) }
}

extension Double? {
  /// The number of seconds, limited to a hundred years.
  fileprivate var bounded: Double? { map { $0.isFinite ? Swift.min(Swift.max($0, 0), 3_155_760_000) : 0 } }
}
