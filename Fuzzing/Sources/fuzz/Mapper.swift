import FeedFormats
import Foundation
import ImageFeed
import PlainText

/// Checks that any body is a feed or an error. A feed names only http and https URLs, and reads back the same; an error
/// is short and harmless.
func fuzzMapper(_ input: UnsafeBufferPointer<UInt8>) -> Int32 {
  let body = Data(input)
  do throws(InvalidData) {
    let images = try read(body)
    // Even the shortest possible item takes more bytes than this.
    guard images.count <= body.count / 16 else { finding("\(images.count) images in \(body.count) bytes") }
    for image in images { check(image) }
    let again = written(images)
    guard try read(again) == images else {
      finding("another feed when written and read again: \(String(decoding: again, as: UTF8.self))")
    }
  } catch {
    expectHarmless("\(error)", upTo: 3_000)
    expectSameError(error, body)
  }
  return 0
}

private func read(_ body: Data) throws(InvalidData) -> FeedImages {
  try CaseStudyFormat().images(
    of: WebDocument(body: body, url: URL(string: "https://example.com/feed")!), within: FeedLimits())
}

private func check(_ image: FeedImage) {
  let address = image.url.absoluteString
  guard let scheme = image.url.scheme?.lowercased(), scheme == "http" || scheme == "https",
    let host = image.url.host(), !host.isEmpty
  else { finding("not a web address: \(address)") }
  guard address.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { finding("raw characters in \(address)") }
  for text in [image.description, image.location] {
    guard let text else { continue }
    guard text.printable.printable == text.printable else { finding("escaped twice: \(text.debugDescription)") }
    guard text.printable.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }) else {
      finding("raw characters in \(text.debugDescription)")
    }
  }
}

/// `images` as a server would send them, escaped without an encoder: the mapper must not depend on one way of writing
/// JSON.
private func written(_ images: some Sequence<FeedImage>) -> Data {
  var text = "{\"items\":["
  for (index, image) in images.enumerated() {
    text += index == 0 ? "{" : ",{"
    text += "\"id\":\"\(image.id)\",\"image\":\(quoted(image.url.absoluteString))"
    if let description = image.description { text += ",\"description\":\(quoted(description))" }
    if let location = image.location { text += ",\"location\":\(quoted(location))" }
    text += "}"
  }
  return Data((text + "]}").utf8)
}

private func quoted(_ text: String) -> String {
  var result = "\""
  for unit in text.utf16 {
    let isPlain = unit >= 0x20 && unit < 0x7F && unit != 0x22 && unit != 0x5C
    result += isPlain ? String(Unicode.Scalar(UInt8(unit))) : "\\u" + String(0x10000 + Int(unit), radix: 16).dropFirst()
  }
  return result + "\""
}

private func expectSameError(_ error: InvalidData, _ body: Data) {
  // Check only one length in eight, so that runs stay fast.
  guard body.count % 8 == 0 else { return }
  do throws(InvalidData) {
    _ = try read(body)
    finding("an error the first time, a feed the second: \(error)")
  } catch let second {
    guard second == error else { finding("one error the first time, another the second: \(error), \(second)") }
  }
}
