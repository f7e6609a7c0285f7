import FeedHTTP
import FeedPolling
import Foundation
import ImageFeed
import TestSupport
import Testing

/// The meaning of a response's fields for the next request.
@Suite(.settled) struct AnswerFactsTests {
  private static let date = "Sun, 15 Jun 2025 15:06:40 GMT"

  @Test(
    arguments: [
      ([("Cache-Control", "max-age=60")], 60), ([("Cache-Control", "private, MAX-AGE=\"60\" ")], 60),
      ([("Cache-Control", "max-age=60"), ("Age", "50")], 10), ([("Cache-Control", "max-age=60"), ("Age", "70")], 0),
      ([("Cache-Control", "max-age=60, max-age=30")], 30), ([("Cache-Control", "max-age=-1")], 0),
      ([("Cache-Control", "max-age=99999999999999999999")], 1 << 31),
      ([("Cache-Control", "max-age=60"), ("Expires", "0")], 60),
      ([("Cache-Control", "extension=\"a, max-age=5\", max-age=60")], 60),
      ([("Expires", "Sun, 15 Jun 2025 15:07:40 GMT"), ("Date", date)], 60),
      ([("Expires", "Sun, 15 Jun 2025 15:07:40 GMT"), ("Date", date), ("Age", "20")], 40), ([("Expires", "0")], 0),
      ([("Expires", "Sat, 01 Jan 2000 00:00:00 GMT"), ("Date", date), ("Age", "9223372036854775807")], 0),
      ([("Cache-Control", "max-age=60"), ("Age", "99999999999999999999")], 0),
      ([("Cache-Control", "max-age=60"), ("Age", "20, 50")], 40),
      ([("Cache-Control", "max-age=60"), ("Age", "-5")], 60),
      ([("Expires", "Sun, 15 Jun 2025 15:08:40 GMT")], 120), ([("ETag", "\"1\"")], nil),
      ([("Cache-Control", "no-cache")], nil), ([("Cache-Control", "no-cache, max-age=60")], nil),
      ([("Cache-Control", "max-age=60, No-Cache"), ("Expires", "Sun, 15 Jun 2025 15:08:40 GMT")], nil),
      ([("Cache-Control", "no-cache=\"set-cookie\", max-age=60")], 60), ([("Cache-Control", "max-age-x=60")], nil),
    ] as [([(String, String)], Int?)])
  func `freshness is max-age, or else Expires, minus Age`(fields: [(String, String)], seconds: Int?) {
    let headers = HTTPHeaders(fields.map { (name: $0.0, value: $0.1) })
    #expect(ResponseFreshness(headers, now: noon)?.lifetime == seconds.map { .seconds($0) })
  }

  @Test(
    arguments: [
      ("120", 120), ("0", 0), ("Sun, 15 Jun 2025 15:08:40 GMT", 120), ("Sunday, 15-Jun-25 15:08:40 GMT", 120),
      ("Sun Jun 15 15:08:40 2025", 120), ("Sun, 15 Jun 2025 15:00:00 GMT", 0), ("soon", nil), ("-5", nil), ("1.5", nil),
      ("99999999999999999999", 1 << 31),
    ] as [(String, Int?)])
  func `Retry-After is seconds or a date in any of three formats`(text: String, seconds: Int?) {
    #expect(AnswerFacts.retryAfter([("Retry-After", text)], now: noon) == seconds.map { .seconds($0) })
  }

  @Test func `a date in Retry-After is relative to the response's Date`() {
    let headers: HTTPHeaders = [
      ("Retry-After", "Sun, 15 Jun 2025 15:08:40 GMT"), ("Date", "Sun, 15 Jun 2025 15:08:30 GMT"),
    ]
    #expect(AnswerFacts.retryAfter(headers, now: noon) == .seconds(10))
  }

  @Test(arguments: [0, 0.001, 0.5, 0.999]) func `a pause doesn't end before the date in Retry-After`(fraction: Double)
    throws
  {
    let pause = try #require(
      AnswerFacts.retryAfter([("Retry-After", "Sun, 15 Jun 2025 15:08:40 GMT")], now: noon + fraction))
    #expect(abs((noon + fraction + pause / .seconds(1)).timeIntervalSince(noon) - 120) < 1e-5)
  }

  @Test(arguments: [([301, 308], true), ([301], true), ([302], false), ([301, 302], false), ([], false)])
  func `only a chain of permanent redirects is a move`(statuses: [Int], isMove: Bool) {
    let response = HTTPResponse(
      status: 304, body: Data(), url: otherAddress,
      redirects: statuses.map { HTTPRedirect(status: $0, from: address, to: otherAddress) })
    #expect(AnswerFacts(response, now: noon).movedTo == (isMove ? otherAddress : nil))
  }
}
