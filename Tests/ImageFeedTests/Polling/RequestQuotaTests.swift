import FeedHTTP
import FeedPolling
import Foundation
import TestSupport
import Testing

/// The fields in which servers state how many requests they still allow.
@Suite(.settled) struct RequestQuotaTests {
  private static let date = "Sun, 15 Jun 2025 15:06:40 GMT"

  @Test(
    arguments: [
      ([("RateLimit", "\"default\";r=50;t=30"), ("RateLimit-Policy", "\"default\";q=100;w=60")], [50, 30, 100, 60]),
      ([("ratelimit", "\"default\";r=0;t=61")], [0, 61, nil, nil]),
      ([("RateLimit", "\"day\";r=900;t=80000, \"burst\";r=0;t=9")], [0, 9, nil, nil]),
      ([("RateLimit", "\"p\";r=5"), ("RateLimit-Policy", "\"p\";q=10;w=60;pk=:sdfjLJUOUH==:")], [5, 60, 10, 60]),
      ([("RateLimit", "limit=100, remaining=50, reset=30")], [50, 30, 100, nil]),
      (
        [("RateLimit-Limit", "100, 100;w=60"), ("RateLimit-Remaining", "5"), ("RateLimit-Reset", "30")],
        [5, 30, 100, 60]
      ),
      (
        [("X-RateLimit-Remaining", "99.0"), ("X-RateLimit-Reset", "421"), ("X-RateLimit-Used", "1")],
        [99, 421, nil, nil]
      ),
      ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1750000120")], [0, 120, nil, nil]),
      ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1750000120000")], [0, 120, nil, nil]),
      (
        [("Date", date), ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "Sun, 15 Jun 2025 15:08:40 GMT")],
        [0, 120, nil, nil]
      ),
      ([("X-Rate-Limit-Remaining", "3"), ("X-Rate-Limit-Limit", "15")], [3, nil, 15, nil]),
    ] as [([(String, String)], [Double?])])
  func `every form of RateLimit fields is parsed`(fields: [(String, String)], numbers: [Double?]) throws {
    let quota = try #require(RequestQuota(HTTPHeaders(fields.map { (name: $0.0, value: $0.1) }), now: noon))
    #expect([quota.remaining, quota.resetsAfter, quota.limit, quota.window] == numbers)
  }

  @Test(
    arguments: [
      ("RateLimit", "\"default\";q=5"), ("RateLimit", ";;="), ("X-RateLimit-Remaining", "many"),
      ("X-RateLimit-Remaining", "-1"), ("RateLimit-Remaining", "1e9"), ("ETag", "\"r=0\""),
    ])
  func `invalid fields are ignored`(name: String, value: String) {
    #expect(RequestQuota([(name, value)], now: noon) == nil)
  }

  @Test func `quotas in bytes are ignored`() {
    let headers: HTTPHeaders = [
      ("RateLimit", "\"size\";r=0;t=60"), ("RateLimit-Policy", "\"size\";q=65535;w=60;qu=\"content-bytes\""),
    ]
    #expect(RequestQuota(headers, now: noon) == nil)
  }

  @Test func `requests are spread when a tenth of the quota is left, and stop when none is left`() {
    #expect(RequestQuota(remaining: 11, resetsAfter: 60, limit: 100).rest == 0)
    #expect(RequestQuota(remaining: 10, resetsAfter: 60, limit: 100).rest == 6)
    #expect(RequestQuota(remaining: 0, resetsAfter: 60, limit: 100).rest == 60)
    #expect(RequestQuota(remaining: 0, resetsAfter: nil).rest == 0)
  }
}
