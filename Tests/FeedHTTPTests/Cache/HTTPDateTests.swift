import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@testable import FeedHTTP

@Suite(.settled) struct HTTPDateTests {
  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
  ])
  func `all three HTTP date formats parse to the same instant`(text: String) {
    #expect(HTTPDate.parse(text)?.timeIntervalSince1970 == 784_111_777)
  }

  @Test func `a date is written in the format that it is parsed from`() throws {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<2_000 {
      // From the year 1 to 9999.
      let date = Date(timeIntervalSince1970: Double(Int.random(in: -62_135_596_800...253_402_300_799, using: &random)))
      let text = HTTPDate.text(date)
      #expect(HTTPDate.parse(text) == date, "\(text)")
    }
    #expect(HTTPDate.text(Date(timeIntervalSince1970: 784_111_777.9)) == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(HTTPDate.text(Date(timeIntervalSince1970: -1)) == "Wed, 31 Dec 1969 23:59:59 GMT")
    #expect(HTTPDate.text(Date(timeIntervalSince1970: 951_782_400)) == "Tue, 29 Feb 2000 00:00:00 GMT")
  }

  @Test func `a two-digit year is at most fifty years in the future`() throws {
    let now = try #require(HTTPDate.parse("Sun, 22 Nov 2026 05:00:00 GMT"))
    func year(_ digits: Int) throws -> String {
      let text = digits < 10 ? "0\(digits)" : "\(digits)"
      let date = try #require(HTTPDate.parse("Sunday, 01-Jan-\(text) 00:00:00 GMT", now: now))
      return String(HTTPDate.text(date).split(separator: " ")[3])
    }
    #expect(try year(26) == "2026")
    #expect(try year(76) == "2076")
    #expect(try year(77) == "1977")
    #expect(try year(99) == "1999")
    #expect(try year(0) == "2000")
    let late = try #require(HTTPDate.parse("Sunday, 23-Nov-76 00:00:00 GMT", now: now))
    #expect(HTTPDate.text(late).contains("1976"), "more than fifty years ahead")
  }
}
