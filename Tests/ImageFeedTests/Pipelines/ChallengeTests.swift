import FeedPolling
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

/// Pages that ask visitors to prove that they are human.
@Suite(.settled) struct ChallengeTests {
  private let time = VirtualTimeScheduler()
  private let network: VirtualNetwork
  private let store = InMemoryFeedStore()

  init() {
    network = VirtualNetwork(on: time)
    time.offloadLatency = .milliseconds(1)
  }

  private func error(_ status: Int, _ headers: HTTPHeaders, _ body: String) -> RemoteFeedError? {
    network.serve("example.com") { _, _ in .answer(status: status, headers: headers, Data(body.utf8)) }
    let cache = FeedCache(store: store, on: time, now: { noon })
    var options = FeedLoader.Options()
    options.retry = .immediate(limit: 0)
    let loader = FeedLoader(address, client: network, cache: cache, on: time, options: options)
    return Outcome(of: loader.load()) { time.run() }.failure?.remote
  }

  private static func page(_ part: String) -> String {
    "<!doctype html><html><head><title>Wait</title>\(part)</head><body></body></html>"
  }

  @Test(
    arguments: [
      (403, [("cf-mitigated", "challenge")], ""), (503, [("CF-Mitigated", "Challenge")], "down"),
      (202, [("x-amzn-waf-action", "challenge")], ""), (405, [("x-amzn-waf-action", "captcha")], ""),
      (403, [("Server", "cloudflare")], page("<script src=\"/cdn-cgi/challenge-platform/h/b/orchestrate\"></script>")),
      (503, [("Content-Type", "text/html; charset=UTF-8")], page("<title>Just a moment...</title>")),
      (
        403, [("Server", "ddos-guard")], page("<script src=\"/.well-known/ddos-guard/js-challenge/index.js\"></script>")
      ),
      (403, [], page("<script src=\"https://geo.captcha-delivery.com/captcha/\"></script>")),
      (
        200, [("Content-Type", "text/html")],
        page("<script id=\"anubis_challenge\" type=\"application/json\">{}</script>")
      ),
      (200, [], page("<img src=\"/.within.website/x/cmd/anubis/static/img/pensive.webp\">")),
      (401, [], page("<link href=\"/.well-known/.git.gammaspectra.live/git/go-away/cmd/style.css\">")),
    ] as [(Int, [(String, String)], String)])
  func `a challenge page is reported as such, not taken for a feed`(
    status: Int, fields: [(String, String)], body: String
  ) throws {
    let found = try #require(error(status, HTTPHeaders(fields.map { (name: $0.0, value: $0.1) }), body))
    #expect(found == .invalidData(.challenge(status)))
    #expect(
      "\(found)".contains("asks visitors to prove that they are human") && "\(found)".contains("Ask the site's owner"))
  }

  @Test(
    arguments: [
      (403, [("Content-Type", "application/json")], "{\"error\": \"Just a moment...\"}"), (403, [], page("Forbidden")),
      (403, [("cf-mitigated", "none")], ""), (500, [], page("Just a moment...")),
      (202, [("x-amzn-waf-action", "count")], ""),
      (403, [], page(String(repeating: " ", count: 20_000) + "Just a moment...")),
    ] as [(Int, [(String, String)], String)])
  func `other error responses aren't reported as challenges`(status: Int, fields: [(String, String)], body: String) {
    #expect(error(status, HTTPHeaders(fields.map { (name: $0.0, value: $0.1) }), body) == .invalidData(.status(status)))
  }

  @Test func `neither a login page nor a feed about challenges is a challenge`() {
    #expect(error(200, [], Self.page("<form action=\"/login\">")) == .invalidData(.webPage))
    let feed =
      "<rss version='2.0'><channel><title>Just a moment... /cdn-cgi/challenge-platform/</title></channel></rss>"
    #expect(error(200, [], feed) == nil)
  }

  @Test func `a challenge with status 429 or 503 pauses the host`() {
    for status in [429, 503] {
      let facts = AnswerFacts(.challenged(status))
      #expect(facts.pauses && facts.pause == Schedule.defaultPause)
    }
    #expect(!AnswerFacts(.challenged(403)).pauses)
  }
}
