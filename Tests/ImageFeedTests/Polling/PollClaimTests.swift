import Foundation
import TestSupport
import Testing

@testable import FeedPolling
@testable import ImageFeed

/// A store's decisions about pollers' claims.
@Suite(.settled) struct PollClaimTests {
  private static let given = FeedValidators(etag: "1", digest: BodyDigest(value: 1), wholeAsked: noon)

  /// Repeats a claim at a time after noon, without a record in between.
  private func claim(
    _ seconds: Double, _ saved: FeedHealth?, _ validators: FeedValidators
  ) -> (verdict: PollVerdict, feed: FeedHealth) {
    let now = noon + seconds
    let claim = PollClaim(
      feed: saved ?? FeedHealth(address: address), host: "example.com", now: now, lease: .seconds(30),
      dueIfLost: now + 3600)
    let (verdict, feed, _) = claim.decide(saved, nil, validators)
    return (verdict, feed)
  }

  private func since(_ verdict: PollVerdict) -> FeedValidators? {
    if case .granted(let lease) = verdict { lease.since } else { nil }
  }

  @Test func `a saved feed is requested conditionally, but unconditionally after eight days, once a day`() {
    var (verdict, feed) = claim(0, nil, FeedValidators())
    #expect(since(verdict) == FeedValidators())
    (verdict, feed) = claim(3600, feed, Self.given)
    #expect(since(verdict) == Self.given)
    (verdict, feed) = claim(8 * 86_400, feed, Self.given)
    #expect(since(verdict) == FeedValidators())
    (verdict, feed) = claim(8 * 86_400 + 3600, feed, Self.given)
    #expect(since(verdict) == Self.given)
  }

  @Test func `a request runs from its claim to its record, or until its process ends`() throws {
    let claim = PollClaim(
      feed: FeedHealth(address: address), host: "example.com", now: noon, lease: .seconds(35), dueIfLost: noon + 3600)
    var (_, feed, host) = claim.decide(nil, nil, Self.given)
    #expect(feed.begun == noon && feed.isBeingAsked(at: noon + 34, within: .seconds(35)))
    #expect(!feed.isBeingAsked(at: noon + 35, within: .seconds(35)))
    // The reason may differ.
    feed.reason = ""
    #expect(feed.isBeingAsked(at: noon + 1, within: .seconds(35)))
    let kept = try #require(feed.stored.withUnsafeBytes { FeedHealth(stored: $0) })
    #expect(kept == feed)

    var other = claim
    (other.now, other.feed.asked) = (noon + 1, nil)
    guard case .notDue(let present) = other.decide(kept, host, Self.given).verdict else {
      Issue.record("it is under way")
      return
    }
    #expect(present.begun == noon)
    host.holder = ProcessMark.own.split(separator: " ").dropLast().joined(separator: " ") + " 1"
    guard case .notDue(let lost) = other.decide(kept, host, Self.given).verdict else {
      Issue.record("it was asked for all the same")
      return
    }
    #expect(lost.begun == nil && lost.due == noon + 3600)
    feed.note(AnswerFacts(.unchanged), "", now: noon + 2)
    #expect(feed.begun == nil)
  }

  private func host(quota remaining: Double, of limit: Double, for seconds: Double) -> HostHealth {
    var (host, pace) = (HostHealth(name: "h"), HostPace())
    (pace.quota, pace.quotaAt) = (RequestQuota(remaining: remaining, resetsAfter: seconds, limit: limit), noon)
    host.pace = pace
    return host
  }

  @Test func `a visit ends with the longer of its own rest and the known one, not with their sum`() {
    let visit = HostVisit(host: "h", now: noon, lease: .seconds(100))
    let (_, held) = visit.decide(host(quota: 1, of: 100, for: 2500))
    var end = HostHealth(name: "h")
    end.next = noon + 2500
    let after = HostRelease(end, reserved: visit.reserved, ended: noon).decide(held)
    #expect(after.next == noon + 2500)
    #expect(!HostVisit(host: "h", now: noon + 1, lease: .seconds(100)).decide(after).isGranted)
  }

  @Test func `a host that was claimed, and got no request, doesn't rest`() {
    let visit = HostVisit(host: "h", now: noon, lease: .seconds(100))
    let (_, held) = visit.decide(host(quota: 1, of: 100, for: 2500))
    var end = HostHealth(name: "h")
    end.next = noon + 1
    var release = HostRelease(end, reserved: visit.reserved, ended: noon + 1)
    release.isUnused = true
    let after = release.decide(held)
    #expect(after.next == noon + 1 && after.pace == held.pace)
    #expect(HostVisit(host: "h", now: noon + 1, lease: .seconds(100)).decide(after).isGranted)
  }

  @Test func `a visit after the end of a stated quota's window rests for the usual gap`() {
    let visit = HostVisit(host: "h", now: noon + 7200, lease: .seconds(100))
    let (_, held) = visit.decide(host(quota: 1, of: 100, for: 3000))
    #expect(held.opensIfLost == noon + 7201)
    var end = HostHealth(name: "h")
    end.next = noon + 7211
    let after = HostRelease(end, reserved: visit.reserved, ended: noon + 7210).decide(held)
    #expect(after.next == noon + 7211 && after.pace == nil)
  }

  @Test func `a release that comes too late doesn't reserve a host that rests`() {
    var (rests, late) = (HostHealth(name: "h"), HostHealth(name: "h"))
    rests.next = noon + 60
    (late.next, late.holder, late.opensIfLost) = (noon + 2, ProcessMark.own, noon + 2)
    let after = HostRelease(late, reserved: noon + 30, ended: noon + 1).decide(rests)
    #expect(after.next == noon + 60 && after.holder == nil && !after.isHeld)
  }

  @Test func `a lost copy is requested again a day after the last unconditional request`() {
    var (verdict, feed) = claim(8 * 86_400, claim(0, nil, FeedValidators()).feed, Self.given)
    #expect(since(verdict) == FeedValidators())
    let asked = feed.askedForAll
    (verdict, feed) = claim(9 * 86_400, feed, FeedValidators())
    #expect(verdict == .notDue(feed))
    #expect(feed.due == noon + 9 * 86_400 + 60 && feed.rule == .wholeDaily && feed.askedForAll == asked)
    (verdict, feed) = claim(9 * 86_400 + 60, feed, FeedValidators())
    #expect(since(verdict) == FeedValidators())
  }

  @Test func `a server without validators gets an unconditional request each time`() {
    let plain = FeedValidators(digest: BodyDigest(value: 1), wholeAsked: noon)
    var health: FeedHealth?
    for hour in 0..<30 {
      let (verdict, feed) = claim(Double(hour) * 3600, health, plain)
      #expect(since(verdict)?.isEmpty == true)
      health = feed
    }
  }
}
