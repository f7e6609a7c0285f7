import Foundation
import TestSupport
import Testing

@testable import FeedFormats

/// simdjson must accept the same documents as `JSONDecoder`; errors are reported in the decoder's words.
@Suite(.settled) struct CaseStudyTests {
  static let id = "73A7F70C-75DA-4C2E-B5A3-EED40DC53AA6"

  static let bodies: [String] = [
    #"{"items": []}"#, #"{"items": [{"id": "ID", "image": "https://e.com/1.jpg"}]}"#,
    #"{"items": [{"id": "ID", "image": "https://e.com/1.jpg", "description": "D", "location": "L", "more": [1, {}]}]}"#,
    #"{"items": [{"id": "ID", "image": "https://e.com/1.jpg", "description": null, "location": null}], "x": 1e999}"#,
    #"{"items": [{"id": "ID", "image": "https://e.com/1.jpg", "description": "\u00e9\ud83d\ude00\n\u0000\"\\\/"}]}"#,
    #"{"items": [{"id": "ID", "image": "https://e.com/a b?é"}]}"#, #"{"items": [{"id": "ID", "image": "/relative"}]}"#,
    #"{"items": [{"id": "ID", "image": "https://"}]}"#, #"{"items": [{"id": "ID", "image": "ftp://e.com"}]}"#,
    #"{"items": [{"id": "id", "image": "https://e.com"}]}"#, #"{"items": [{"id": 7, "image": "https://e.com"}]}"#,
    #"{"items": [{"image": "https://e.com"}]}"#, #"{"items": [{"id": "ID"}]}"#, #"{"items": [7]}"#,
    #"{"items": [{"id": "ID", "image": "https://e.com", "description": 7}]}"#, #"{"items": {}}"#, #"{"items": null}"#,
    #"{"item": []}"#, "[]", "7", "null", "", " ", "{", #"{"items": []"#, #"{"items": []} x"#, #"{"items": [],}"#,
    #"{"items": [{"id": "ID", "image": "https://e.com", "description": "\ud83d"}]}"#,
    #"{"items": [], "items": [{"id": "ID", "image": "https://e.com/1.jpg"}]}"#,
    #"{"items": [{"id": "bad", "id": "ID", "image": "https://e.com/1.jpg"}]}"#,
    #"{"items": [{"id": "ID", "id": "bad", "image": "https://e.com/1.jpg"}]}"#,
    #"{"items": [{"id": "ID", "image": "https://e.com/1.jpg", "image": 7}]}"#,
    #"{"items": [{"id": "ID", "image": "https://e.com/1.jpg", "description": "D", "description": null}]}"#,
    "<html></html>", "\u{FEFF}{\"items\": []}", "{\"items\": [\u{0}]}", #"{"items": [], "x": 01}"#,
    #"{"items": [], "x": "\#u{1}"}"#, String(repeating: "[", count: 600) + String(repeating: "]", count: 600),
    #"{"items": [], "x": \#(String(repeating: "[", count: 505) + String(repeating: "]", count: 505))}"#,
  ]

  @Test(arguments: bodies) func `CaseStudyFeed reads each document like JSONDecoder`(body: String) {
    expectSame(Array(body.replacing("ID", with: Self.id).utf8))
  }

  @Test func `CaseStudyFeed reads UTF-16 and invalid UTF-8 like JSONDecoder`() {
    let text = #"{"items": [{"id": "\#(Self.id)", "image": "https://e.com/1.jpg", "description": "é"}]}"#
    expectSame(text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
    expectSame(text.utf8.map { $0 == 0xA9 ? 0xFF : $0 })
  }

  @Test func `a valid document is read without JSONDecoder`() {
    let body = Array(#"{"items": [{"id": "\#(Self.id)", "image": "https://e.com/1.jpg", "description": "é"}]}"#.utf8)
    let images = JSONTape.parse(body) { CaseStudyFeed.images(in: $0, ofBytes: body.count) }
    #expect(images??.map(\.id.uuidString) == [Self.id])
    #expect(images??.map(\.description?.string) == ["é"])
    #expect(images??.map(\.isPlain) == [true])
  }

  @Test func `the texts of images outlive the document`() throws {
    var body = Array(#"{"items": [{"id": "\#(Self.id)", "image": "https://e.com/1.jpg", "location": "L"}]}"#.utf8)
    let images = try CaseStudyFeed.images(in: body)
    body.removeAll()
    #expect(images[0].location == "L" && images[0].address == "https://e.com/1.jpg")
    #expect(images[0].location?.hashValue == SharedText("L").hashValue)
  }

  @Test func `Essential Feed JSON is read as a document`() throws {
    let document = try read(
      #"{"items": [{"id": "\#(Self.id.lowercased())", "image": "https://e.com", "location": "L"}]}"#)
    #expect(document.format == .caseStudy)
    #expect(document.items[0].guid == Self.id)
    #expect(document.items[0].location?.text == "L")
  }

  private func expectSame(_ body: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
    let fast = Result { () throws(FeedFormatError) in try CaseStudyFeed.images(in: body) }
    let oracle = Result { () throws(FeedFormatError) in
      try CaseStudyFeed.imagesByDecoder(in: body)
    }
    #expect(fast == oracle, sourceLocation: sourceLocation)
  }
}
