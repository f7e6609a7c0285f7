import TestSupport
import Testing

@testable import FeedHTTP

/// The freshness and the age of a response: RFC 9111, sections 4.2 and 5.1 to 5.3.
@Suite(.settled) struct FreshnessRuleTests {
  @Test(arguments: [
    CacheRule.answer("without anything to go by, it is stale", [("Date", "{0}")], .asked),
    .control("max-age: a second before its end", "max-age=10", wait: 9, .used),
    .control("max-age: at its end", "max-age=10", wait: 10, .asked),
    .control("max-age: after its end", "max-age=10", wait: 11, .asked),
    .control("max-age=0", "max-age=0", wait: 0, .asked),
    .control("max-age of 2^31 - 1", "max-age=2147483647", wait: 1e8, .used),
    .control("max-age of 2^31", "max-age=2147483648", wait: 1e8, .used),
    .control("max-age of 2^31 + 1", "max-age=2147483649", wait: 1e8, .used),
    .control("max-age beyond 64 bits", "max-age=99999999999999999999", wait: 1e8, .used),
    .answer("max-age goes before a past Expires", [("Cache-Control", "max-age=10"), ("Expires", "{-10}")], .used),
    .answer("max-age goes before Expires: 0", [("Cache-Control", "max-age=10"), ("Expires", "0")], .used),
    .answer("max-age=0 goes before a future Expires", [("Cache-Control", "max-age=0"), ("Expires", "{99}")], .asked),
    .control("s-maxage is for shared caches: too short", "s-maxage=1, max-age=10", wait: 5, .used),
    .control("s-maxage is for shared caches: too long", "s-maxage=3600, max-age=1", wait: 5, .asked),
    .control("s-maxage alone says nothing", "s-maxage=3600", .asked),
    .control("max-age beside what nobody knows", "foobar, max-age=10, x=\"y\"", .used),
    .control("in whatever case", "MaX-aGe=10", .used),
    .control("private is for this cache", "private, max-age=10", .used),
    .control("private that names fields is for this cache", "private=\"x\", max-age=10", .used),
    .control("proxy-revalidate is for others", "proxy-revalidate, max-age=10", .used),
    .control("immutable ends with its time", "immutable, max-age=10", wait: 10, .asked),
  ])
  func `max-age determines how long a response is fresh`(_ rule: CacheRule) { rule.check() }

  @Test(arguments: [
    CacheRule.control("quoted", "max-age=\"10\"", .used),
    .control("leading zeros", "max-age=0010", .used),
    .control("spaces and empty members around it", " ,, foo ,\tmax-age=10 , ", .used),
    .control("in another's quotes, before it", "extension=\"max-age=100\", max-age=1", wait: 5, .asked),
    .control("in another's quotes, after it", "max-age=1, extension=\"max-age=100\"", wait: 5, .asked),
    .control("after an escaped quote", #"extension="\", max-age=100", max-age=1"#, wait: 5, .asked),
    .control("negative", "max-age=-10", .asked),
    .control("a fraction", "max-age=10.5", .asked),
    .control("letters before it", "max-age=a10", .asked),
    .control("letters after it", "max-age=10a", .asked),
    .control("single quotes", "max-age='10'", .asked),
    .control("quotes without an end", "max-age=\"10", .asked),
    .control("without a value", "max-age", .asked),
    .control("with an empty value", "max-age=", .asked),
    .control("with an empty text", "max-age=\"\"", .asked),
    .control("a space before the sign", "max-age =10", .asked),
    .control("a space after the sign", "max-age= 10", .asked),
    .control("a plus", "max-age=+10", .asked),
    .control("digits of another script", "max-age=١٠", .asked),
    .control("the same twice", "max-age=10, max-age=10", .used),
    .control("two that differ, long first", "max-age=100, max-age=1", wait: 5, .asked),
    .control("two that differ, short first", "max-age=1, max-age=100", wait: 5, .asked),
    .answer(
      "two lines that differ", [("Cache-Control", "max-age=100"), ("Cache-Control", "max-age=1")], wait: 5, .asked),
    .answer("two lines, one of them", [("Cache-Control", "foo"), ("Cache-Control", "max-age=10")], .used),
    .answer("a bad one is stale even with Expires", [("Cache-Control", "max-age=x"), ("Expires", "{99}")], .asked),
  ])
  func `a response with a malformed max-age is stale`(_ rule: CacheRule) { rule.check() }

  @Test(arguments: [
    CacheRule.answer("future", [("Date", "{0}"), ("Expires", "{10}")], wait: 9, .used),
    .answer("its end", [("Date", "{0}"), ("Expires", "{10}")], wait: 10, .asked),
    .answer("past", [("Date", "{0}"), ("Expires", "{-10}")], .asked),
    .answer("the same as Date", [("Date", "{0}"), ("Expires", "{0}")], wait: 0, .asked),
    .answer("before Date, though to come", [("Date", "{400}"), ("Expires", "{300}")], .asked),
    .answer("it counts from Date, not from here", [("Date", "{10}"), ("Expires", "{15}")], wait: 6, .asked),
    .answer("0", [("Date", "{0}"), ("Expires", "0")], .asked),
    .answer("nothing", [("Date", "{0}"), ("Expires", "")], .asked),
    .answer("with a Date that is none", [("Date", "foo"), ("Expires", "{10}")], .used),
    .answer("without Date", [("Expires", "{10}")], .used),
    .answer("twice the same", [("Expires", "{10}"), ("Expires", "{10}")], .used),
    .answer("twice, differing", [("Expires", "{10}"), ("Expires", "{99}")], .asked),
    .answer("with a slow clock and an age", [("Date", "{-10}"), ("Expires", "{10}"), ("Age", "25")], wait: 0, .asked),
    .answer("with a fast clock and an age", [("Date", "{10}"), ("Expires", "{20}"), ("Age", "15")], wait: 0, .asked),
    .answer("beyond 2038", [("Date", "{0}"), ("Expires", "Tue, 19 Jan 2038 14:14:08 GMT")], .used),
    .answer("far away", [("Date", "{0}"), ("Expires", "Sun, 21 Nov 2286 04:46:39 GMT")], .used),
    .answer("RFC 850", [("Date", "{0}"), ("Expires", "Thursday, 18-Aug-50 02:01:18 GMT")], .used),
    .answer("RFC 850, of the past century", [("Date", "{0}"), ("Expires", "Friday, 18-Aug-95 02:01:18 GMT")], .asked),
    .answer("asctime", [("Date", "{0}"), ("Expires", "Thu Aug  8 02:01:18 2050")], .used),
    .answer("asctime, two digits", [("Date", "{0}"), ("Expires", "Thu Aug 18 02:01:18 2050")], .used),
    .answer("a weekday in capitals", [("Date", "{0}"), ("Expires", "THU, 18 Aug 2050 02:01:18 GMT")], .used),
    .answer("a month in capitals", [("Date", "{0}"), ("Expires", "Thu, 18 AUG 2050 02:01:18 GMT")], .used),
    .answer("a zone in odd case", [("Date", "{0}"), ("Expires", "Thu, 18 Aug 2050 02:01:18 gMT")], .used),
    .answer("a leap second", [("Date", "{0}"), ("Expires", "Thu, 30 Jun 2050 23:59:60 GMT")], .used),
    .answer("UTC", [("Date", "{0}"), ("Expires", "Thu, 18 Aug 2050 02:01:18 UTC")], .asked),
    .answer("another zone", [("Date", "{0}"), ("Expires", "Thu, 18 Aug 2050 02:01:18 AEST")], .asked),
    .answer("an offset", [("Date", "{0}"), ("Expires", "Thu, 18 Aug 2050 02:01:18 +0000")], .asked),
    .answer("no zone", [("Date", "{0}"), ("Expires", "Thu, 18 Aug 2050 02:01:18")], .asked),
    .answer("a year of two digits", [("Date", "{0}"), ("Expires", "Thu, 18 Aug 50 02:01:18 GMT")], .asked),
    .answer("no comma", [("Date", "{0}"), ("Expires", "Thu 18 Aug 2050 02:01:18 GMT")], .asked),
    .answer("two spaces", [("Date", "{0}"), ("Expires", "Thu, 18  Aug  2050 02:01:18 GMT")], .asked),
    .answer("dashes", [("Date", "{0}"), ("Expires", "Thu, 18-Aug-2050 02:01:18 GMT")], .asked),
    .answer("full stops", [("Date", "{0}"), ("Expires", "Thu, 18 Aug 2050 02.01.18 GMT")], .asked),
    .answer("an hour of one digit", [("Date", "{0}"), ("Expires", "Thu, 18 Aug 2050 2:01:18 GMT")], .asked),
    .answer("a day that is not there", [("Date", "{0}"), ("Expires", "Wed, 30 Feb 2050 02:01:18 GMT")], .asked),
    .answer("an hour that is not there", [("Date", "{0}"), ("Expires", "Thu, 18 Aug 2050 24:01:18 GMT")], .asked),
    .answer("something after it", [("Date", "{0}"), ("Expires", "Thu, 18 Aug 2050 02:01:18 GMT x")], .asked),
  ])
  func `Expires determines freshness without max-age`(_ rule: CacheRule) { rule.check() }

  private static let tenSeconds = ("Cache-Control", "max-age=10")

  @Test(arguments: [
    CacheRule.answer("Age is subtracted", [tenSeconds, ("Age", "9")], wait: 0, .used),
    .answer("Age is subtracted, to the end", [tenSeconds, ("Age", "10")], wait: 0, .asked),
    .answer("Age and the time since", [tenSeconds, ("Age", "6")], wait: 5, .asked),
    .answer("no number is ignored", [tenSeconds, ("Age", "abc")], .used),
    .answer("a negative one is ignored", [tenSeconds, ("Age", "-7200")], .used),
    .answer("a fraction is ignored", [tenSeconds, ("Age", "7200.0")], .used),
    .answer("one with a parameter is ignored", [tenSeconds, ("Age", "7200;foo=bar")], .used),
    .answer("2^31 - 1", [tenSeconds, ("Age", "2147483647")], .asked),
    .answer("2^31", [tenSeconds, ("Age", "2147483648")], .asked),
    .answer("2^31 + 1", [tenSeconds, ("Age", "2147483649")], .asked),
    .answer("beyond 64 bits", [tenSeconds, ("Age", "99999999999999999999")], .asked),
    .answer(
      "2^31 against the longest lifetime", [("Cache-Control", "max-age=2147483648"), ("Age", "2147483648")], .asked),
    .answer("the first member counts: old", [tenSeconds, ("Age", "7200, 0")], .asked),
    .answer("the first member counts: new", [tenSeconds, ("Age", "0, 7200")], .used),
    .answer("the first line counts: old", [tenSeconds, ("Age", "7200"), ("Age", "0")], .asked),
    .answer("the first line counts: new", [tenSeconds, ("Age", "0"), ("Age", "7200")], .used),
    .answer("the same twice", [tenSeconds, ("Age", "3"), ("Age", "3")], .used),
    .answer("Date says that it is older", [tenSeconds, ("Date", "{-20}")], wait: 0, .asked),
    .answer("Date and Age: the larger counts", [tenSeconds, ("Date", "{-3}"), ("Age", "8")], wait: 3, .asked),
    .answer("a Date to come makes it no younger", [tenSeconds, ("Date", "{3600}")], wait: 11, .asked),
    CacheRule(
      name: "the time that the answer took is added to Age", fields: [tenSeconds, ("Age", "5")], wait: 2, latency: 4,
      expected: .asked),
    CacheRule(
      name: "the time that the answer took counts", fields: [tenSeconds, ("Date", "{4}")], wait: 7, latency: 4,
      expected: .asked),
  ])
  func `a response's age is its Age field plus the time since it arrived`(_ rule: CacheRule) { rule.check() }

  private static func unchanged(for seconds: Int, _ fields: [(String, String)] = []) -> [(String, String)] {
    [("Date", "{0}"), ("Last-Modified", "{-\(seconds)}")] + fields
  }
  private static let condition = CacheRule.Expected.validated(["If-Modified-Since: {-1000}"])

  @Test(arguments: [
    CacheRule.answer("a tenth of the time", unchanged(for: 1000), wait: 99, .used),
    .answer("not longer", unchanged(for: 1000), wait: 100, condition),
    .answer("not beside max-age", unchanged(for: 1000, [("Cache-Control", "max-age=5")]), wait: 6, condition),
    .answer("not beside Expires", unchanged(for: 1000, [("Expires", "{5}")]), wait: 6, condition),
    .answer("not beside an Expires that is none", unchanged(for: 1000, [("Expires", "0")]), condition),
    .answer("not after Date", [("Date", "{0}"), ("Last-Modified", "{10}")], .validated(["If-Modified-Since: {10}"])),
    .answer(
      "not without a date", [("Last-Modified", "yesterday")], .validated(["If-Modified-Since: yesterday"])),
    .answer("without Date, from the arrival", [("Last-Modified", "{-1000}")], wait: 99, .used),
    .answer("s-maxage isn't an explicit time here", unchanged(for: 1000, [("Cache-Control", "s-maxage=0")]), .used),
    .answer("Pragma of an answer says nothing", unchanged(for: 1000, [("Pragma", "no-cache")]), .used),
  ])
  func `without other information, a response is fresh for a tenth of its time unmodified`(_ rule: CacheRule) {
    rule.check()
  }

  @Test(arguments: [200, 203, 204, 300, 404, 405, 410, 414, 501])
  func `some statuses are heuristically fresh`(status: Int) {
    CacheRule(name: "\(status)", status: status, fields: Self.unchanged(for: 1000), expected: .used).check()
  }

  @Test(arguments: [201, 202, 302, 303, 307, 400, 401, 403, 416, 418, 500, 502, 503, 504, 599])
  func `other statuses aren't stored without explicit freshness`(status: Int) {
    CacheRule(name: "\(status)", status: status, fields: Self.unchanged(for: 1000), expected: .asked).check()
  }

  @Test(arguments: [200, 203, 204, 299, 400, 404, 410, 418, 499, 500, 502, 503, 504, 599])
  func `any final status with explicit freshness is stored`(status: Int) {
    CacheRule(name: "\(status)", status: status, fields: [Self.tenSeconds], expected: .used).check()
    CacheRule(name: "\(status)", status: status, fields: [Self.tenSeconds], wait: 11, expected: .asked).check()
  }

  @Test(arguments: [201, 403, 503, 599])
  func `public allows heuristic freshness for any status`(status: Int) {
    let fields = Self.unchanged(for: 1000, [("Cache-Control", "public")])
    CacheRule(name: "\(status)", status: status, fields: fields, expected: .used).check()
  }
}
