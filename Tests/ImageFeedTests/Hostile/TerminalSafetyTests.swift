import Foundation
import ImageFeed
import TestSupport
import Testing

@testable import HTTPTestSupport

/// No text from a server, in any place, has an effect on the terminal.
@Suite(.settled) struct TerminalSafetyTests {
  /// Characters that terminals act upon: escape sequences with ESC and with C1's CSI, a title, control characters that move, delete
  /// and ring, and marks that reorder text.
  static let nasty =
    "\u{1B}[2J\u{1B}]0;owned\u{7}\u{1B}P1$r\u{1B}\\\u{9B}31m\u{9D}0;x\u{9C}\u{8}\u{B}\u{C}\u{E}\u{7F}\u{85}"
    + "\u{202E}\u{2066}\u{2069}\u{200F}\u{61C}\u{2028}\u{FEFF}\u{FFF9}owned"

  /// The part that a header line may contain: everything except the line break.
  private static var header: String { nasty.replacing("\u{85}", with: "") }

  struct Place: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let answer: @Sendable () -> Data

    init(_ name: String, _ answer: @escaping @Sendable () -> Data) {
      testDescription = name
      self.answer = answer
    }

    init(_ name: String, raw text: String) { self.init(name) { Data(text.utf8) } }
  }

  /// `nasty`, escaped as in JSON.
  private static var escaped: String {
    nasty.utf16.map { "\\u" + String(0x10000 + Int($0), radix: 16).dropFirst() }.joined()
  }

  private static func feed(_ member: String) -> Data {
    RawOrigin.answer("200 OK", [], Data(#"{"items":[{"id":"73A7F70C-75DA-4C2E-B5A3-EED40DC53AA6",\#(member)}]}"#.utf8))
  }

  static let places = [
    Place("a description and a location, escaped") {
      feed(#""description":"\#(escaped)","location":"\#(escaped)","image":"https://a.example""#)
    },
    Place("a description, raw where JSON lets it") {
      let raw = String(nasty.unicodeScalars.filter { $0.value >= 0x20 }.map(Character.init))
      return feed(#""description":"\#(raw)","image":"https://a.example""#)
    },
    Place("an image's address") { feed(#""image":"https://a.example/\#(escaped)""#) },
    Place("an image's host") { feed(#""image":"https://\#(escaped)/""#) },
    Place("an id") { RawOrigin.answer("200 OK", [], Data(#"{"items":[{"id":"\#(escaped)"}]}"#.utf8)) },
    Place("what is no JSON") { RawOrigin.answer("200 OK", [], Data(nasty.utf8)) },
    Place("a key") { RawOrigin.answer("200 OK", [], Data(#"{"\#(escaped)":[]}"#.utf8)) },
    Place("an error's body") { RawOrigin.answer("500 Oops", [], Data(nasty.utf8)) },
    Place("a reason", raw: "HTTP/1.1 500 \(header)\r\nContent-Length: 0\r\n\r\n"),
    Place("a status line", raw: "HTTP/1.1 \(header)\r\n\r\n"),
    Place("a version", raw: "HTTP/\(header) 200 OK\r\n\r\n"),
    Place("what is no HTTP", raw: nasty),
    Place("a header's name", raw: "HTTP/1.1 200 OK\r\n\(header): x\r\nContent-Length: 2\r\n\r\n{}"),
    Place("a coding", raw: "HTTP/1.1 200 OK\r\nContent-Encoding: \(header)\r\nContent-Length: 2\r\n\r\n{}"),
    Place("a transfer coding", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(header)\r\n\r\n{}"),
    Place("a length", raw: "HTTP/1.1 200 OK\r\nContent-Length: \(header)\r\n\r\n{}"),
    Place(
      "a redirect to another scheme", raw: "HTTP/1.1 302 F\r\nLocation: \(header)://x\r\nContent-Length: 0\r\n\r\n"),
    Place("a redirect to a host", raw: "HTTP/1.1 302 F\r\nLocation: http://\(header)/\r\nContent-Length: 0\r\n\r\n"),
    Place("a redirect to a path", raw: "HTTP/1.1 302 F\r\nLocation: /\(header)\r\nContent-Length: 0\r\n\r\n"),
  ]

  @Test(.timeLimit(.minutes(5)), arguments: places)
  func `escape sequences from a server don't reach the terminal`(_ place: Place) throws {
    let folder = TemporaryFolder()
    let answer = place.answer
    let origin = RawOrigin.sending(answer())
    defer { origin.stop() }
    let url = origin.url().absoluteString
    // Save an equally hostile feed, which is shown after a failure.
    let store = SQLiteFeedStore(path: folder.file("feeds.db"))
    let image = FeedImage(
      id: UUID(), description: Self.nasty, location: Self.nasty, url: try #require(URL(string: "https://b.example/1")))
    _ = try store.replace(
      for: origin.url(), with: CachedFeed(images: [image], timestamp: Date(timeIntervalSinceNow: -60)), now: Date())
    store.close()
    for arguments in [
      ["load", url, "--verbose", "--timeout", "2s"], ["load", url, "--format", "json", "--timeout", "2s"],
      ["load", url, "--fallback", "connectivity", "--timeout", "2s"],
      ["watch", url, "--every", "50ms", "--count", "1", "--timeout", "2s"],
      ["cache", "show", url], ["cache", "show"], ["cache", "validate"],
    ] {
      let run = try MeasuredRun(arguments, in: folder)
      #expect(run.status == 0 || run.status == 1, "\(arguments): \(run.status)")
      expectHarmless(run, arguments)
    }
  }

  @Test(arguments: [
    "http://\(nasty)/", "http://127.0.0.1:1/\(nasty)", "http://\(nasty)@127.0.0.1:1/", "\(nasty)://x", nasty,
  ])
  func `escape sequences in a URL argument don't reach the terminal`(address: String) throws {
    let folder = TemporaryFolder()
    for command in [["load"], ["watch", "--every", "\(Self.nasty)"], ["cache", "show"], ["cache", "clear"]] {
      let run = try MeasuredRun(command + [address], in: folder)
      expectHarmless(run, command)
    }
  }

  private func expectHarmless(_ run: MeasuredRun, _ arguments: [String]) {
    let actedUpon = Set(Self.nasty.unicodeScalars).subtracting("[]\\;0123456789JmPrxowned$".unicodeScalars)
    for text in [run.output, run.errors] {
      let raw = text.unicodeScalars.filter { $0 != "\n" && ($0.value < 0x20 || actedUpon.contains($0)) }
      #expect(raw.isEmpty, "\(arguments.prefix(2)): \(text.debugDescription.prefix(1_000))")
      // Invalid UTF-8 was repaired when the text was read; there must be none.
      #expect(!text.unicodeScalars.contains("\u{FFFD}"))
    }
  }
}
