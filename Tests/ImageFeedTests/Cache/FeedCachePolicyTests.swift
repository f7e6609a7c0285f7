import Foundation
import ImageFeed
import TestSupport
import Testing

@Suite(.settled) struct FeedCachePolicyTests {
  private let policy = FeedCachePolicy()

  @Test func `a feed a second under seven days old is valid`() {
    #expect(policy.isValid(noon, now: noon + 604_799))
  }

  @Test func `a feed exactly seven days old has expired`() {
    #expect(!policy.isValid(noon, now: noon + 604_800))
  }

  @Test func `a feed a second over seven days old has expired`() {
    #expect(!policy.isValid(noon, now: noon + 604_801))
  }

  @Test func `the expiration boundary is exact at every fraction of a second`() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<10_000 {
      // Adding and subtracting days rounds the last bits of such dates.
      let saved = noon + Double.random(in: 0..<1_000_000, using: &generator)
      #expect(!policy.isValid(saved, now: saved + 604_800))
      #expect(policy.isValid(saved, now: saved + 604_799.999_99))
    }
  }

  @Test func `without a maximum age, a feed of any age is valid`() {
    let policy = FeedCachePolicy(maxAge: nil)
    #expect(policy.isValid(.distantPast, now: noon))
    #expect(policy.isValid(noon, now: .distantFuture))
    #expect(policy.isValid(.distantFuture, now: noon))
  }

  @Test func `with a maximum age of zero, no feed is valid`() {
    let policy = FeedCachePolicy(maxAge: .zero)
    #expect(!policy.isValid(noon, now: noon))
  }

  @Test func `a timestamp up to five minutes in the future is valid, and a later one has expired`() {
    #expect(policy.isValid(noon + 299, now: noon))
    #expect(policy.isValid(noon + 300, now: noon))
    #expect(!policy.isValid(noon + 301, now: noon))
    #expect(!policy.isValid(noon + 365 * 86_400, now: noon))
  }

  @Test func `absurd dates count as expired and don't crash`() {
    for seconds in [Double.infinity, -.infinity, .nan, .greatestFiniteMagnitude, -.greatestFiniteMagnitude] {
      #expect(!policy.isValid(Date(timeIntervalSinceReferenceDate: seconds), now: noon))
    }
  }

  @Test func `a newer feed supersedes an older one unless its timestamp is too far in the future`() {
    #expect(FeedCachePolicy.isSuperseded(noon, by: noon + 1, now: noon + 2))
    #expect(FeedCachePolicy.isSuperseded(noon, by: noon + 300, now: noon))
    #expect(!FeedCachePolicy.isSuperseded(noon, by: noon + 301, now: noon))
    #expect(!FeedCachePolicy.isSuperseded(noon, by: noon, now: noon))
    #expect(!FeedCachePolicy.isSuperseded(noon, by: noon - 1, now: noon))
  }
}
