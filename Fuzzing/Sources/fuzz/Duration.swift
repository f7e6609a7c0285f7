import ImageFeed
import PlainText

/// Checks that any text is a duration that reads back the same, or an error with a message of one short, harmless line.
func fuzzDuration(_ input: UnsafeBufferPointer<UInt8>) -> Int32 {
  let text = String(decoding: input, as: UTF8.self)
  do throws(DurationTextError) {
    let duration = try Duration(parsing: text)
    guard duration >= .zero, duration <= Duration.longestText else { finding("\(text) is \(duration)") }
    guard let again = try? Duration(parsing: duration.text), again == duration else {
      finding("\(text) is \(duration), whose text \(duration.text) is another")
    }
    guard !duration.words.isEmpty, !duration.ago.isEmpty else { finding("\(text) has no words") }
  } catch {
    expectHarmless("\(error)", upTo: 600)
  }
  return 0
}

/// Checks that a message is safe for a terminal: it has at most `limit` characters, and a terminal interprets none of
/// them.
func expectHarmless(_ message: String, upTo limit: Int) {
  guard message.printable == message else { finding("not harmless: \(message.debugDescription)") }
  guard !message.isEmpty, message.unicodeScalars.count <= limit else {
    finding("a message of \(message.unicodeScalars.count) characters: \(message.debugDescription)")
  }
}
