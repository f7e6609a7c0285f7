import FeedFormats
import TestSupport
import Testing

@Suite(.settled) struct PageImageTests {
  private func image(_ html: String) -> String? {
    PageImage.address(inPage: Array(html.utf8), address: "https://example.com/a/post")
  }

  @Test(arguments: [
    ("<meta property=og:image content=/1.jpg>", "https://example.com/1.jpg"),
    ("<SCRIPT>x</SCRIPT><meta property=og:image content=/1.jpg>", "https://example.com/1.jpg"),
    (
      "<body title='<textarea>'><meta property=og:image content=/1.jpg><textarea>x</textarea>",
      "https://example.com/1.jpg"
    ),
    ("<META CONTENT='x.jpg?a&amp;b' NAME='OG:Image'/>", "https://example.com/a/x.jpg?a&b"),
    ("<base href='http://cdn/x/'><meta property=og:image content=y.png>", "http://cdn/x/y.png"),
    ("<meta property=og:image content=y.png><base href='http://cdn/x/'>", "http://cdn/x/y.png"),
    (
      "<meta name=twitter:image content=/t.jpg><meta property='og:image:secure_url' content=https://h/s.jpg>"
        + "<meta property=og:image content=/o.jpg>", "https://h/s.jpg"
    ),
    ("<meta name=twitter:image:src content=/t.jpg><img src=i.jpg width=900 height=900>", "https://example.com/t.jpg"),
    ("<link rel=image_src href=/l.jpg>", "https://example.com/l.jpg"),
    ("<meta property=og:image content=/1.jpg><meta property=og:image content=/2.jpg>", "https://example.com/1.jpg"),
    (
      "<meta property=og:image content=/drawing.svg><meta name=twitter:image content=/t.jpg>",
      "https://example.com/t.jpg"
    ),
  ])
  func `a page's og:image or similar metadata is its image`(html: String, address: String) {
    #expect(image(html) == address)
  }

  @Test(arguments: [
    ("<img src=s.jpg width=120 height=90><img src=l.jpg width=800 height=600>", "https://example.com/a/l.jpg"),
    ("<img src=/site-logo.png width=900 height=300><img src=p.jpg width=640>", "https://example.com/a/p.jpg"),
    (
      "<img src=top.jpg width=999 height=999><article class=x><img src=first.jpg><img src=second.jpg></article>",
      "https://example.com/a/first.jpg"
    ),
    ("<main><img srcset='s.jpg 400w, w.jpg 1200w' src=s.jpg></main>", "https://example.com/a/w.jpg"),
    (
      "<script>'<img src=s.jpg width=900 height=900>'</script><img src=p.jpg width=640>", "https://example.com/a/p.jpg"
    ),
    (
      "<script>'<article>'</script><img src=top.jpg width=999 height=999><article><img src=first.jpg></article>",
      "https://example.com/a/first.jpg"
    ),
    ("<main><img data-src=late.jpg src='data:image/gif;base64,R0'></main>", "https://example.com/a/late.jpg"),
  ])
  func `without image metadata, a page's largest image is used, else the first in its article`(
    html: String, address: String
  ) {
    #expect(image(html) == address)
  }

  @Test(arguments: [
    "", "<", "<meta", "<meta property=og:image", "<meta property=og:image content=>", "<p>words</p>",
    "<meta property=og:image content='javascript:x'>", "<meta property=og:image content='data:image/png;base64,AA'>",
    "<!-- <meta property=og:image content=/1.jpg> -->", "<script>'<meta property=og:image content=/1.jpg>'</script>",
    "<img src=unknown.jpg>", "<article><img src=/icons/a.png></article>", "<article><img src=a.svg></article>",
    "<article><img src=pixel.gif width=1 height=1></article>", "<img src=small.jpg width=80 height=80>",
    "<img src=huge.jpg width=99999999999999999999 height=-5>",
  ])
  func `a page without a suitable image has none`(html: String) {
    #expect(image(html) == nil)
  }

  @Test func `only the first 128 KiB of a page are read`() {
    let tag = "<meta property=og:image content=/1.jpg>"
    let space = String(repeating: " ", count: PageImage.mostBytes - tag.utf8.count)
    #expect(image(space + tag) != nil)
    #expect(image(space + " " + tag) == nil)
  }

  @Test(arguments: ["<script>", "<!--", "<textarea>"])
  func `an image in a script or a comment whose end isn't read isn't a page's image`(start: String) {
    let rest = String(repeating: " ", count: PageImage.mostBytes)
    let hidden = start + "<img src=hidden.jpg width=900 height=900>" + rest
    #expect(image("<img src=p.jpg width=640 height=400>" + hidden) == "https://example.com/a/p.jpg")
  }

  /// A scanner that searches for an end repeatedly would take quadratic time for each of these.
  @Test(arguments: [
    "<", "<!--", "<meta ", "<script>", "<script></x>", "<script ", "<style/>", "<img ",
    "<meta property=og:image content='", "<a<b", "<a title='", "<a title=\"'", "<textarea><script>",
  ])
  func `a page that repeats one part endlessly is read in linear time`(part: String) {
    let page = String(repeating: part, count: 2 * PageImage.mostBytes / part.utf8.count)
    #expect(image(page)?.hasPrefix("https://example.com/a/") ?? true)
  }
}
