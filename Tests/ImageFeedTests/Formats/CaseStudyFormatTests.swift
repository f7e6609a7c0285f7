import FeedFormats
import Foundation
import ImageFeed
import Samples
import TestSupport
import Testing

@Suite(.settled) struct CaseStudyFormatTests {
  @Test func `the eight images of Essential Feed JSON keep their order and missing texts`() throws {
    let images = try map(Samples.CaseStudyFeed.body)
    #expect(images.map(\.url.absoluteString) == (1...8).map { "https://url-\($0).com" })
    #expect(images.map { $0.description != nil } == [true, false, true, false, true, true, true, true])
    #expect(images.map { $0.location != nil } == [true, true, false, false, true, true, true, true])
    #expect(
      images[0]
        == FeedImage(
          id: UUID(uuidString: "73A7F70C-75DA-4C2E-B5A3-EED40DC53AA6")!, description: "Description 1",
          location: "Location 1", url: URL(string: "https://url-1.com")!))
  }

  @Test func `a document without items is an empty feed`() throws {
    #expect(try map(#"{"items": []}"#) == [])
  }

  @Test func `null is read as missing, and unknown keys are ignored`() throws {
    let images = try map(
      """
      {"next": {"a": [1e99999, null]}, "items": [
        {"id": "\(id)", "description": null, "location": null, "image": "http://a", "size": 12345678901234567890}]}
      """)
    #expect(images == [FeedImage(id: UUID(uuidString: id)!, url: URL(string: "http://a")!)])
  }

  @Test(arguments: [
    id, id.lowercased(), "00000000-0000-0000-0000-000000000000", "ffffffff-FFFF-ffff-FFFF-ffffffffffff",
  ])
  func `an id may use upper or lower case`(text: String) throws {
    #expect(
      try map(#"{"items": [{"id": "\#(text)", "image": "http://a"}]}"#).map(\.id.uuid) == [UUID(uuidString: text)])
  }

  @Test(arguments: [
    "", " \(id)", "\(id) ", "\(id)0", String(id.dropLast()), id.filter { $0 != "-" }, "{\(id)}",
    "73A7F70C-75DA-4C2E-B5A3-EED40DC53AAG", "73A7F70C-75DA-4C2E-B5A3-EED40DC53A+6",
    "73A7F70C75-DA-4C2E-B5A3-EED40DC53AA6", "73A7F70C-75DA-4C2E-B5A3-EED40DC53Aé", "----",
  ])
  func `an id that isn't a UUID is invalid`(text: String) {
    #expect(throws: InvalidData.wrongShape(at: "items[0].id", "it is not a UUID")) {
      try map(#"{"items": [{"id": "\#(text)", "image": "http://a"}]}"#)
    }
  }

  @Test func `items with the same id are kept in order`() throws {
    let images = try map(#"{"items": [\#(item("http://b")), \#(item("http://a")), \#(item("http://b"))]}"#)
    #expect(images.map(\.url.absoluteString) == ["http://b", "http://a", "http://b"])
  }

  @Test(arguments: [
    "", "ftp://a/b", "file:///etc/passwd", "javascript:alert(1)", "data:image/png;base64,AA", "/relative.png", "a.png",
    "//host/path", "https:", "https://", "https:///path", "http:relative", "https://?q", "https://[::1", "ht tp://a",
  ])
  func `an image URL that isn't absolute HTTP is invalid`(text: String) {
    #expect(throws: InvalidData.imageAddress(item: 1, text)) {
      try map(#"{"items": [\#(item("https://a")), \#(item(text))]}"#)
    }
  }

  @Test(arguments: [
    "HTTPS://a", "http://[::1]:8080/a?b#c", "https://a/b%20c", "https://user:pw@a", "https://xn--bcher-kva.example",
  ])
  func `any absolute HTTP URL is kept unchanged`(text: String) throws {
    #expect(try map(#"{"items": [\#(item(text))]}"#).map(\.url.absoluteString) == [text])
  }

  @Test func `characters that are invalid in a URL are percent-encoded`() throws {
    let images = try map(#"{"items": [\#(item("https://a/b c/é\\u0000\\n"))]}"#)
    #expect(images.map(\.url.absoluteString) == ["https://a/b%20c/%C3%A9%00%0A"])
  }

  @Test(arguments: [
    (#"{}"#, InvalidData.wrongShape(at: "", "\"items\" is missing")),
    (#"{"items": [{"image": "http://a"}]}"#, .wrongShape(at: "items[0]", "\"id\" is missing")),
    (#"{"items": [\#(item("http://a")), {"id": "\#(id)"}]}"#, .wrongShape(at: "items[1]", "\"image\" is missing")),
  ])
  func `a missing key is reported with its place`(body: String, error: InvalidData) {
    #expect(throws: error) { try map(body) }
  }

  @Test(arguments: [
    ("[]", ""), ("null", ""), ("3", ""), (#""text""#, ""), (#"{"items": null}"#, "items"), (#"{"items": {}}"#, "items"),
    (#"{"items": [3]}"#, "items[0]"), (#"{"items": [{"id": "no uuid", "image": "http://a"}]}"#, "items[0].id"),
    (#"{"items": [{"id": 1e99999, "image": "http://a"}]}"#, "items[0].id"),
    (#"{"items": [{"id": "\#(id)", "image": null}]}"#, "items[0].image"),
    (#"{"items": [{"id": "\#(id)", "image": "http://a", "location": 3}]}"#, "items[0].location"),
  ])
  func `a value of the wrong type is reported with its place`(body: String, place: String) {
    let error = #expect(throws: InvalidData.self) { try map(body) }
    guard case .wrongShape(at: place, _) = error else {
      Issue.record("\(error as Any)")
      return
    }
  }

  @Test func `errors about invalid data are readable`() throws {
    let wrong = #expect(throws: InvalidData.self) { try map(#"{"items": [{"id": 3}]}"#) }
    #expect(wrong?.description.hasPrefix("The server's response is not a feed: items[0].id: ") == true)
    #expect(InvalidData.status(404).description == "The server responded with status 404 (not found): check the URL.")
    #expect(InvalidData.status(418).description == "The server responded with status 418.")
    #expect(
      InvalidData.imageAddress(item: 3, "file:\u{1B}[2J").description
        == "The server's response is not a feed: items[3].image is not an absolute http or https URL "
        + "(\"file:\\u{1B}[2J\").")
  }
}

private let id = "73A7F70C-75DA-4C2E-B5A3-EED40DC53AA6"

private func item(_ image: String) -> String { #"{"id": "\#(id)", "image": "\#(image)"}"# }

private func map(_ text: String) throws(InvalidData) -> FeedImages {
  try map(Data(text.utf8))
}

private func map(_ body: Data) throws(InvalidData) -> FeedImages {
  try CaseStudyFormat().images(of: WebDocument(body: body, url: address), within: FeedLimits())
}
