import Foundation
import TestSupport
import Testing

@testable import FeedPolling
@testable import ImageFeed

/// The encoding of the polling state as bytes, and its decoding.
@Suite(.settled) struct PollCodingTests {
  private static var health: FeedHealth {
    var health = FeedHealth(address: URL(string: "https://example.com/feed?a=b%20c")!)
    health.due = noon + 0.123456789
    health.notBefore = .distantFuture
    health.interval = 0.05
    health.rule = .wholeDaily
    health.reason = "the server says so (Retry-After: 120), \u{1F600}"
    health.asked = noon
    health.askedForAll = noon - 86_400
    health.hadValidators = true
    health.succeeded = noon + 1
    health.changed = noon + 2
    health.changeInterval = 1e-9
    health.failures = 12
    health.outcome = String(repeating: "x", count: 70_000)
    health.isGone = true
    health.hints.minutesToLive = 90
    health.hints.updateInterval = 3600
    health.hints.skippedHours = [0, 1, 23]
    health.hints.skippedDays = ["Sunday", " monday"]
    health.move = FeedHealth.Move(to: URL(string: "https://other.example/")!, since: noon, isBelieved: true)
    health.move?.isFromPrivateNetwork = true
    health.hub = HubLink(hub: URL(string: "https://hub.example/")!, topic: health.address)
    health.hub?.isFromPrivateNetwork = true
    health.polls = 1_000_000_007
    return health
  }

  private static var host: HostHealth {
    var host = HostHealth(name: "example.com:8080")
    (host.pausedUntil, host.reason, host.next) = (noon, "it asks for a pause", noon + 1)
    (host.holder, host.opensIfLost) = ("machine 12 345", noon + 2)
    return host
  }

  private static let decision = PollDecision(
    time: noon, request: "changes", outcome: "status 304, not changed", due: noon + 3600, rule: .freshness, reason: "so"
  )

  private func readAgain<Value: StoredNote>(_ value: Value, change: (inout [UInt8]) -> Void = { _ in }) -> Value? {
    var bytes = value.stored
    change(&bytes)
    return bytes.withUnsafeBytes { Value(stored: $0) }
  }

  @Test func `every health and decision decodes as it was encoded`() {
    #expect(readAgain(Self.health) == Self.health)
    #expect(readAgain(FeedHealth(address: address)) == FeedHealth(address: address))
    #expect(readAgain(Self.host) == Self.host)
    #expect(readAgain(HostHealth(name: "h")) == HostHealth(name: "h"))
    #expect(readAgain(Self.decision) == Self.decision)
  }

  @Test func `a later version's fields are skipped`() {
    for field in [UInt8(31), 200] {
      #expect(readAgain(Self.host) { $0 += [field, 3, 0, 0, 0, 1, 2, 3] } == Self.host)
    }
  }

  @Test func `damaged bytes are rejected`() {
    let whole = Self.host.stored
    for count in 0..<whole.count {
      // A truncated note may still be valid by chance, with fewer fields.
      _ = whole[..<count].withUnsafeBytes { HostHealth(stored: $0) }
    }
    #expect(readAgain(Self.host) { $0.removeLast() } == nil)
    #expect(readAgain(Self.host) { $0 += [1, 0xFF, 0xFF, 0xFF, 0xFF] } == nil)
    #expect(readAgain(Self.host) { $0 = [] } == nil)
    #expect(readAgain(Self.host) { $0 = [1] } == nil)
    for place in whole.indices {
      for bit in 0..<8 { _ = readAgain(Self.host) { $0[place] ^= 1 << UInt8(bit) } }
    }
  }

  @Test func `negative numbers of polls and failures, as in a damaged file, are read as zero`() {
    var health = Self.health
    (health.polls, health.failures) = (-5, -1)
    let read = readAgain(health)
    #expect(read?.polls == 0 && read?.failures == 0)
  }
}
