import Foundation
import TestSupport
import Testing

@testable import ImageFeed

@Suite(.settled) struct WebAddressTests {
  /// Valid and invalid parts of URLs, which are combined at random.
  private static let pieces = [
    "http", "https", "HTTP", "://", ":/", "//", "/", "a", "Z9", "example.com", "-", ".", "..", "~", "_", "?", "&", "=",
    "+",
    "#", "%20", "%", " ", "ä", "[", "]", "@", ":", ":80", ":99999999", ",", ";", "!", "*", "'", "\\", "^", "|", "\u{0}",
  ]

  @Test func `Foundation parses every plain URL unchanged`() throws {
    var random = SystemRandomNumberGenerator()
    var plain = 0
    for _ in 0..<200_000 {
      let tail = (0..<Int.random(in: 0...8, using: &random)).map { _ in Self.pieces.randomElement(using: &random)! }
      let text = ["http://", "https://", "https://example.com/", ""].randomElement(using: &random)! + tail.joined()
      guard WebAddress.isPlain(text) else { continue }
      plain += 1
      let url = try #require(URL(string: text), "\(text)")
      #expect(url.absoluteString == text && url.host()?.isEmpty == false)
    }
    #expect(plain > 10_000)
  }

  @Test(arguments: [
    "ftp://example.com", "http:///path", "https://", "http://a:80/", "http://a/%zz", "http://a/ b", "http://ä/",
    "http://a#b",
    "https//a", "httpss://a", "http://a?b", "http://user@a/", "HTTP://a/", "",
  ])
  func `a URL that parsers could read differently isn't plain`(_ text: String) {
    #expect(!WebAddress.isPlain(text))
  }

  @Test(arguments: ["https://example.com/1.jpg", "https://example.com:8080/a%20b.jpg", "http://ä.example/ö"])
  func `a WebAddress is the same from a URL and from text`(_ text: String) throws {
    let url = try #require(URL(string: text))
    #expect(WebAddress(url) == WebAddress(url.absoluteString))
    #expect(WebAddress(url).url == url)
    #expect(WebAddress(url).text == url.absoluteString)
  }

  @Test func `a relative URL becomes the absolute URL`() throws {
    let url = try #require(URL(string: "1.jpg", relativeTo: URL(string: "https://example.com/images/")))
    #expect(WebAddress(url) == .plain("https://example.com/images/1.jpg"))
  }
}
