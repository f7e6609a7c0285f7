import FeedFormats
import Foundation
import ImageFeed
import Samples
import TestSupport
import Testing

/// Payloads that a server should not send: each has a clear error or the right result, in bounded time.
@Suite(.settled) struct HostilePayloadTests {
  private let feed: FeedImages

  init() throws {
    feed = try map(Samples.CaseStudyFeed.body)
  }

  @Test func `an empty body is reported as empty`() {
    #expect(throws: InvalidData.empty) { try map(Data()) }
  }

  @Test(arguments: [
    "<!DOCTYPE html><title>Log in</title>", "\n  <html>", "\u{FEFF}<HTML>", "<?xml version=\"1.0\"?><html/>",
  ])
  func `a web page is reported as such`(page: String) {
    #expect(throws: InvalidData.webPage) { try map(Data(page.utf8)) }
    #expect(throws: InvalidData.webPage) { try map(page.data(using: .utf16)!) }
  }

  @Test(arguments: [
    "hello", "{", #"{"items": ["#, #"{"items": []} trailing"#, #"{"items": []}{"items": []}"#, "   ", "nan", "'a'",
    "{\"items\": [{\"id\": \"\u{0}\"}]}", #"{"items": [{"id": "\ud800"}]}"#, "\u{0}\u{0}\u{0}\u{0}\u{0}",
  ])
  func `a body that isn't JSON is reported as such`(text: String) {
    let error = #expect(throws: InvalidData.self) { try map(Data(text.utf8)) }
    guard case .notJSON(let detail) = error else {
      Issue.record("\(error as Any)")
      return
    }
    // The message must describe the error and its position.
    #expect(detail != "The given data was not valid JSON" && !detail.isEmpty)
  }

  /// Each value would take fifty bytes of memory: 800 MB for a body of 32 MiB.
  @Test(arguments: [String.Encoding.utf8, .utf16LittleEndian, .utf16])
  func `a body with too many values is refused without being read`(encoding: String.Encoding) throws {
    let zeros = #"{"items":[],"x":[0"# + String(repeating: ",0", count: 60) + "]}"
    let body = try #require(zeros.data(using: encoding))
    #expect(throws: InvalidData.tooManyValues(limit: 60)) { try map(body, maxValues: 60) }
    #expect(try map(body, maxValues: 100).isEmpty)
  }

  @Test func `brackets and commas in strings don't count as values`() throws {
    let body = Data(#"{"items":[],"x":"\#(String(repeating: #",[\"{"#, count: 60))"}"#.utf8)
    #expect(try map(body, maxValues: 10).isEmpty)
  }

  @Test func `a byte order mark and UTF-16 are read`() throws {
    let text = String(decoding: Samples.CaseStudyFeed.body, as: UTF8.self)
    #expect(try map(Data([0xEF, 0xBB, 0xBF]) + Samples.CaseStudyFeed.body) == feed)
    for encoding in [
      String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian,
    ] {
      #expect(try map(text.data(using: encoding)!) == feed, "\(encoding)")
    }
  }

  @Test(arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82]] as [[UInt8]])
  func `invalid UTF-8 is reported as invalid JSON`(bytes: [UInt8]) {
    let head = Data(#"{"items": [{"id": "73A7F70C-75DA-4C2E-B5A3-EED40DC53AA6", "description": "a"#.utf8)
    let tail = Data(#"b", "image": "http://a"}]}"#.utf8)
    let error = #expect(throws: InvalidData.self) { try map(head + bytes + tail) }
    guard case .notJSON = error else {
      Issue.record("\(error as Any)")
      return
    }
  }

  @Test func `escaped NULs and control characters are kept`() throws {
    let body = #"""
      {"items": [{"id": "73A7F70C-75DA-4C2E-B5A3-EED40DC53AA6", "description": "a\u0000\u001b[2J", "image": "http://a"}]}
      """#
    #expect(try map(Data(body.utf8)).map(\.description) == ["a\0\u{1B}[2J"])
  }

  @Test(arguments: ["[", "{\"items\":", "{\"items\":[", "[{\"a\":"])
  func `deep nesting is an error, not a crash`(opening: String) {
    let body = Data(String(repeating: opening, count: 100_000).utf8)
    #expect(throws: InvalidData.self) { try map(body) }
  }

  @Test func `deep nesting under an unknown key is an error, not a crash`() {
    let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
    #expect(throws: InvalidData.self) { try map(Data(#"{"items": [], "x": \#(deep)}"#.utf8)) }
  }

  @Test func `every truncated feed is invalid, never a partial feed`() {
    let body = Samples.CaseStudyFeed.body
    for length in 0..<(body.count - 1) {
      #expect(throws: InvalidData.self) { try map(body.prefix(length)) }
    }
  }

  @Test func `reading time grows linearly up to a hundred thousand items`() throws {
    func body(_ count: Int) -> Data {
      let items = (0..<count).map {
        #"{"id":"73A7F70C-75DA-4C2E-B5A3-\#(String(format: "%012X", $0))","description":"d","image":"https://a/\#($0)"}"#
      }
      return Data(#"{"items":[\#(items.joined(separator: ","))]}"#.utf8)
    }
    let (small, large) = (body(10_000), body(100_000))
    var counts: [Int] = []
    let short = try processorTime { counts.append(try map(small).count) }
    let long = try processorTime { counts.append(try map(large).count) }
    #expect(counts == [10_000, 100_000])
    // With quadratic time, the long document would take a hundred times as long.
    #expect(long < short * 50)
  }
}

/// The CPU time of this thread for `work`, in nanoseconds, however busy the machine is.
private func processorTime(of work: () throws -> Void) rethrows -> Int {
  func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
  let before = now()
  try work()
  return now() - before
}

private func map(_ body: Data, maxValues: Int = FeedLimits().values) throws(InvalidData) -> FeedImages {
  var limits = FeedLimits()
  limits.values = maxValues
  return try CaseStudyFormat().images(of: WebDocument(body: body, url: address), within: limits)
}
