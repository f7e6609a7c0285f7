import Foundation
import TestSupport
import Testing

@testable import FeedHTTP

@Suite(.settled) struct CookieTests {
  private final class Clock { var now = Date(timeIntervalSince1970: 1_800_000_000) }
  private let clock = Clock()

  private func jar(_ suffixes: PublicSuffixes = PublicSuffixes()) -> CookieJar {
    CookieJar(suffixes: suffixes) { [clock] in clock.now }
  }

  private func set(_ jar: CookieJar, _ field: String, at url: String = "http://www.example.com/a/b") {
    jar.store([("Set-Cookie", field)], from: URL(string: url)!)
  }

  private func sent(_ jar: CookieJar, _ url: String) -> String? { jar.field(for: URL(string: url)!) }

  /// A field that is set at http://www.example.com/a/b, a URL, and the field that is sent to that URL.
  @Test(arguments: [
    ("a=1", "http://www.example.com/a/c", "a=1"), ("a=1", "http://www.example.com/c", nil),
    ("a=1", "http://www.example.com/a", "a=1"), ("a=1", "http://www.example.com/ab", nil),
    ("a=1", "http://example.com/a/", nil), ("a=1", "http://x.www.example.com/a/", nil),
    ("a=1; Path=/", "http://www.example.com/", "a=1"), ("a=1; path=c", "http://www.example.com/a/", "a=1"),
    ("a=1; Path=/x/", "http://www.example.com/x", nil), ("a=1; Path=/x", "http://www.example.com/x/y", "a=1"),
    ("a=1; Domain=example.com; Path=/", "http://other.example.com/", "a=1"),
    ("a=1; Domain=.EXAMPLE.com; Path=/", "http://example.com/", "a=1"),
    ("a=1; Domain=example.com; Path=/", "http://badexample.com/", nil),
    ("a=1; Domain=other.com; Path=/", "http://other.com/", nil),
    ("a=1; Domain=com; Path=/", "http://other.com/", nil),
    ("a=1; Domain=x.www.example.com; Path=/", "http://x.www.example.com/", nil),
    ("a=1; Domain=; Path=/", "http://www.example.com/", "a=1"),
    ("a=1; Max-Age=0; Path=/", "http://www.example.com/", nil),
    ("a=1; Max-Age=-5; Path=/", "http://www.example.com/", nil),
    ("a=1; Max-Age=x; Path=/", "http://www.example.com/", "a=1"),
    ("a=1; Expires=Wed, 21 Oct 2015 07:28:00 GMT; Path=/", "http://www.example.com/", nil),
    ("a=1; Expires=Wed, 21 Oct 2015 07:28:00 GMT; Max-Age=9; Path=/", "http://www.example.com/", "a=1"),
    ("a=1; Expires=never; Path=/", "http://www.example.com/", "a=1"),
    ("a=1; Secure; Path=/", "https://www.example.com/", nil),
    ("  a =  1 2  ; Path=/", "http://www.example.com/", "a=1 2"),
    ("a=\"1\"; Path=/", "http://www.example.com/", "a=\"1\""),
    ("a=b=c; Path=/", "http://www.example.com/", "a=b=c"), ("=1; Path=/", "http://www.example.com/", "1"),
    ("1; Path=/", "http://www.example.com/", "1"), ("=; Path=/", "http://www.example.com/", nil),
    ("a=; Path=/", "http://www.example.com/", "a="), ("a=1\u{1}; Path=/", "http://www.example.com/", nil),
    ("__Host-a=1; Path=/", "https://www.example.com/", nil), ("=__Host-a=1; Path=/", "http://www.example.com/", nil),
  ]) func `a cookie is sent to the hosts and paths that it is set for`(field: String, url: String, expected: String?) {
    let jar = jar()
    set(jar, field)
    #expect(sent(jar, url) == expected)
  }

  @Test(arguments: ["\u{600}", "\u{6DD}", "\u{70F}"])
  func `a cookie's value ends at the byte of a semicolon`(before: String) {
    let jar = jar()
    set(jar, "a=1\(before); __Host-sid=2; Domain=example.com; Path=/", at: "http://other.example.com/")
    #expect(sent(jar, "https://www.example.com/") == "a=1\(before)")
  }

  @Test func `a cookie's name ends at the byte of an equals sign`() {
    let jar = jar()
    set(jar, "a\u{600}=1; Path=/")
    #expect(jar.cookies.map(\.name) == ["a\u{600}"])
  }

  @Test func `a name has a prefix even if a combining character follows`() {
    let jar = jar()
    set(jar, "__Host-\u{301}a=1; Path=/")
    #expect(jar.cookies.isEmpty)
  }

  @Test func `public suffixes in other scripts count in the form that hosts have`() {
    let list = PublicSuffixes(list: "cn\n公司.cn\n*.网络.cn\n")
    #expect(list.contains("xn--55qx5d.cn") && list.contains("a.xn--io0a7i.cn") && !list.contains("a.xn--55qx5d.cn"))
    let jar = jar(list)
    set(jar, "a=1; Domain=xn--55qx5d.cn; Path=/", at: "http://a.xn--55qx5d.cn/")
    #expect(jar.cookies.isEmpty)
  }

  @Test func `a Domain attribute in another script counts in the form that hosts have`() {
    let jar = jar(PublicSuffixes(list: "cn\n公司.cn\n"))
    set(jar, "a=1; Domain=网络.cn; Path=/", at: "http://www.xn--io0a7i.cn/")
    set(jar, "b=1; Domain=公司.cn; Path=/", at: "http://www.xn--55qx5d.cn/")
    #expect(jar.cookies.map(\.domain) == ["xn--io0a7i.cn"])
  }

  @Test func `Secure cookies are set and sent over https only, and http can't overwrite them`() {
    let jar = jar()
    set(jar, "a=1; Secure; Path=/", at: "https://example.com/")
    #expect(sent(jar, "http://example.com/") == nil)
    #expect(sent(jar, "https://example.com/") == "a=1")
    set(jar, "a=2; Path=/", at: "http://example.com/")
    #expect(sent(jar, "https://example.com/") == "a=1")
    set(jar, "__Host-b=1; Secure; Path=/", at: "https://example.com/")
    set(jar, "__Host-c=1; Secure; Path=/; Domain=example.com", at: "https://example.com/")
    set(jar, "__Secure-d=1; Path=/", at: "https://example.com/")
    #expect(sent(jar, "https://example.com/") == "a=1; __Host-b=1")
  }

  @Test func `cookies with longer paths are sent first, then older ones`() {
    let jar = jar()
    for (index, field) in ["b=2; Path=/", "a=1; Path=/", "c=3; Path=/a"].enumerated() {
      clock.now += Double(index)
      set(jar, field)
    }
    #expect(sent(jar, "http://www.example.com/a/") == "c=3; b=2; a=1")
    clock.now += 1
    // A new value keeps the cookie's place in the order.
    set(jar, "b=4; Path=/")
    #expect(sent(jar, "http://www.example.com/") == "b=4; a=1")
  }

  @Test func `a cookie expires at its time, and after at most 400 days`() {
    let jar = jar()
    set(jar, "a=1; Max-Age=100; Path=/")
    set(jar, "b=1; Max-Age=999999999999; Path=/")
    clock.now += 99
    #expect(sent(jar, "http://www.example.com/") == "a=1; b=1")
    clock.now += 1
    #expect(sent(jar, "http://www.example.com/") == "b=1")
    clock.now += 400 * 86_400
    #expect(sent(jar, "http://www.example.com/") == nil)
    #expect(jar.cookies.isEmpty)
  }

  @Test func `a cookie's domain can't be a public suffix`() {
    let list = PublicSuffixes(list: "// a comment\ncom\ngithub.io\n*.ck\n!www.ck\nco.uk\n")
    #expect(list.contains("com") && list.contains("github.io") && list.contains("x.ck") && list.contains("co.uk"))
    #expect(!list.contains("example.com") && !list.contains("www.ck") && !list.contains("a.x.ck"))
    let jar = jar(list)
    set(jar, "a=1; Domain=github.io; Path=/", at: "http://me.github.io/")
    #expect(jar.cookies.isEmpty)
    // The suffix's own host may have a cookie for itself.
    set(jar, "a=1; Domain=github.io; Path=/", at: "http://github.io/")
    #expect(jar.cookies.map(\.isHostOnly) == [true])
    #expect(PublicSuffixes().contains("co.uk") && PublicSuffixes().contains("com.au"))
    #expect(!PublicSuffixes().contains("bbc.uk.com") && !PublicSuffixes().contains("example.de"))
  }

  @Test func `the number of cookies per domain and the size of a cookie are limited`() {
    let jar = jar()
    jar.mostPerDomain = 3
    for number in 0..<5 { set(jar, "a\(number)=1; Path=/") }
    #expect(jar.cookies.map(\.name).sorted() == ["a2", "a3", "a4"])
    set(jar, "n=" + String(repeating: "x", count: 4096))
    #expect(!jar.cookies.contains { $0.name == "n" })
  }

  @Test func `a response that sets a thousand cookies is handled as a whole, with the same limits`() {
    final class Calls { var count = 0 }
    let calls = Calls()
    let jar = CookieJar(suffixes: PublicSuffixes()) { [clock] in
      calls.count += 1
      return clock.now
    }
    let url = URL(string: "https://example.com/")!
    jar.store([("Set-Cookie", "kept=1; Secure; Path=/"), ("Set-Cookie", "gone=1; Path=/")], from: url)
    calls.count = 0
    let fields = (0..<1_000).map { "a\($0)=1; Path=/" } + ["a999=1; Max-Age=0; Path=/"]
    jar.store(HTTPHeaders(fields.map { (name: "Set-Cookie", value: $0) }), from: url)
    // Each call stands for a pass over all cookies.
    #expect(calls.count == 1)
    #expect(jar.cookies.map(\.name) == ["kept"] + (950..<999).map { "a\($0)" })
    let saved = jar.cookies
    calls.count = 0
    jar.cookies = saved
    #expect(calls.count == 1 && jar.cookies == saved)
  }

  @Test(
    arguments: [
      ("Wed, 21 Oct 2015 07:28:00 GMT", 1_445_412_480), ("Wednesday, 21-Oct-15 07:28:00 GMT", 1_445_412_480),
      ("Wed Oct 21 07:28:00 2015", 1_445_412_480), ("21 oct 70 07:28:00", 25_342_080),
      ("7:28:0 21 OCTOBER 2015", 1_445_412_480),
      ("30 Feb 2015 07:28:00", nil), ("21 Oct 2015 24:00:00", nil), ("21 Oct 1600 00:00:00", nil), ("21 Oct 2015", nil),
    ] as [(String, Int?)]) func `cookie dates are parsed leniently`(text: String, seconds: Int?)
  {
    #expect(CookieDate.parse(text).map { Int($0.timeIntervalSince1970) } == seconds)
  }
}
