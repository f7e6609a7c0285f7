import FeedFormats
import TestSupport
import Testing

@Suite(.settled) struct FeedLinkTests {
  private func links(_ html: String) -> [String] {
    FeedLink.links(inPage: Array(html.utf8), address: "https://example.com/a/b").map(\.address)
  }

  @Test(arguments: [
    ("<link rel=alternate type='application/rss+xml' href=c.xml>", ["https://example.com/a/c.xml"]),
    (
      "<LINK HREF='?a&amp;b' TYPE='Application/Atom+XML; charset=x' REL='home ALTERNATE'/>",
      ["https://example.com/a/b?a&b"]
    ),
    ("<base href='http://cdn/x/'><link rel=alternate type=application/feed+json href=y>", ["http://cdn/x/y"]),
    ("<link rel=alternate type=application/json href=/feed.json>", ["https://example.com/feed.json"]),
    ("<link rel=alternate type=application/json href=/wp-json/1>", []),
    ("<link rel='feed' href=/all title=All>", ["https://example.com/all"]),
    ("<link rel=alternate type=text/xml href=/index.rdf>", ["https://example.com/index.rdf"]),
    ("<link rel=alternate type=application/xml href=/osd.xml>", []),
    ("<link rel='alternate\thome' type=' application/x.atom+xml ' href=/1>", ["https://example.com/1"]),
    ("<link rel=stylesheet type=application/rss+xml href=c>", []), ("<link rel=alternate type=text/html href=c>", []),
    ("<link rel=alternate type=application/rss+xml href='javascript:x'>", []),
    ("<!-- <link rel=alternate type=application/rss+xml href=c> -->", []),
    ("<script>'<link rel=alternate type=application/rss+xml href=c>'</script>", []),
    ("<SCRIPT SRC=x></SCRIPT><Style>a</STYLE ><link rel=feed href=/1>", ["https://example.com/1"]),
    ("<script-x><styled-x><link rel=feed href=/1>", ["https://example.com/1"]),
    ("<script src=x /><link rel=feed href=/1>", ["https://example.com/1"]),
    ("<script>'</scripts><link rel=feed href=/1>'</script>", []),
    ("<textarea><link rel=feed href=/1></textarea>", []), ("<style><link rel=feed href=/1>", []),
    ("<linkage rel=alternate type=application/rss+xml href=c>", []), ("<link", []), ("", []),
  ])
  func `a link to a feed has a feed's media type and an http or https URL`(html: String, addresses: [String]) {
    #expect(links(html) == addresses)
  }

  @Test func `a base longer than 2 KiB is ignored`() {
    let base = "http://cdn/" + String(repeating: "a", count: 900_000) + "/"
    let page = "<base href='\(base)'>" + (0..<1000).map { "<link rel=feed href=\($0)>" }.joined()
    #expect(links(page) == (0..<1000).map { "https://example.com/a/\($0)" })
  }

  @Test(arguments: [
    ("<!DOCTYPE HTML>", true), ("\u{FEFF}\n<!-- a --><html lang=en>", true), ("<?xml version='1.0'?><html>", true),
    ("<body>", true), ("<meta charset=utf-8><title>x", true),
    ("<rss>", false), ("<?xml version='1.0'?><!DOCTYPE rss><rss><html/>", false), ("<htmlx", true),
    (#"{"a": "<html>"}"#, false), ("", false), ("words <html>", false),
  ])
  func `a web page is recognized by its first element`(text: String, isPage: Bool) {
    #expect(FeedLink.isPage(Array(text.utf8)) == isPage)
  }

  @Test func `a page has at most 1,000 feeds, each only once`() {
    let page = (0..<20_000).map { "<link rel=feed href=/\($0 / 2)>" }.joined()
    let links = FeedLink.links(inPage: Array(page.utf8), address: "https://e.com/")
    #expect(links.map(\.address) == (0..<1000).map { "https://e.com/\($0)" })
  }
}
