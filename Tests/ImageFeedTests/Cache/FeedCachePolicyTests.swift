import Foundation
import ImageFeed
import Testing

@Suite(.settled) struct FeedCachePolicyTests {
  private let policy = FeedCachePolicy()

  @Test func aFeedASecondUnderSevenDaysOldIsValid() {
    #expect(policy.isValid(noon, now: noon + 604_799))
  }

  @Test func aFeedExactlySevenDaysOldHasExpired() {
    #expect(!policy.isValid(noon, now: noon + 604_800))
  }

  @Test func aFeedASecondOverSevenDaysOldHasExpired() {
    #expect(!policy.isValid(noon, now: noon + 604_801))
  }

  @Test func theBoundaryIsExactAtEveryFractionOfASecond() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<10_000 {
      // Adding and subtracting days rounds in the last bits of such dates.
      let saved = noon + Double.random(in: 0..<1_000_000, using: &generator)
      #expect(!policy.isValid(saved, now: saved + 604_800))
      #expect(policy.isValid(saved, now: saved + 604_799.999_99))
    }
  }

  @Test func anyAgeWillDoWithoutAMaximum() {
    let policy = FeedCachePolicy(maxAge: nil)
    #expect(policy.isValid(.distantPast, now: noon))
    #expect(policy.isValid(noon, now: .distantFuture))
    #expect(policy.isValid(.distantFuture, now: noon))
  }

  @Test func nothingIsYoungerThanNoAge() {
    let policy = FeedCachePolicy(maxAge: .zero)
    #expect(!policy.isValid(noon, now: noon))
  }

  @Test func aTimestampUpToFiveMinutesInTheFutureIsValidAndOneBeyondHasExpired() {
    #expect(policy.isValid(noon + 299, now: noon))
    #expect(policy.isValid(noon + 300, now: noon))
    #expect(!policy.isValid(noon + 301, now: noon))
    #expect(!policy.isValid(noon + 365 * 86_400, now: noon))
  }

  @Test func absurdDatesHaveExpiredAndDoNotCrash() {
    for seconds in [Double.infinity, -.infinity, .nan, .greatestFiniteMagnitude, -.greatestFiniteMagnitude] {
      #expect(!policy.isValid(Date(timeIntervalSinceReferenceDate: seconds), now: noon))
    }
  }

  @Test func aNewerFeedSupersedesUnlessItsTimestampIsIncredible() {
    #expect(FeedCachePolicy.isSuperseded(noon, by: noon + 1, now: noon + 2))
    #expect(FeedCachePolicy.isSuperseded(noon, by: noon + 300, now: noon))
    #expect(!FeedCachePolicy.isSuperseded(noon, by: noon + 301, now: noon))
    #expect(!FeedCachePolicy.isSuperseded(noon, by: noon, now: noon))
    #expect(!FeedCachePolicy.isSuperseded(noon, by: noon - 1, now: noon))
  }
}
