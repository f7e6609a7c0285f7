import PlainText
import TestSupport
import Testing

@Suite(.settled) struct DurationTextTests {
  @Test(arguments: [
    ("500ms", Duration.milliseconds(500)), ("90s", .seconds(90)), ("15m", .seconds(900)), ("36h", .seconds(129_600)),
    ("7d", .seconds(604_800)), ("0s", .zero), ("007s", .seconds(7)), ("36500d", Duration.longestText),
  ])
  func `a number and a unit are parsed as a duration`(text: String, duration: Duration) throws {
    #expect(try Duration(parsing: text) == duration)
  }

  @Test(arguments: [
    ("", DurationTextError.empty), ("-1s", .negative("-1s")), ("s", .noNumber("s")), (" 1s", .noNumber(" 1s")),
    ("+1s", .noNumber("+1s")), ("none", .noNumber("none")), ("٣s", .noNumber("٣s")), ("7", .noUnit("7")),
    ("1.5h", .fraction("1.5h")), ("1,5h", .fraction("1,5h")), ("7w", .unknownUnit("7w")), ("7D", .unknownUnit("7D")),
    ("7 d", .unknownUnit("7 d")), ("1h30m", .unknownUnit("1h30m")), ("1s\0", .unknownUnit("1s\0")),
    ("36501d", .tooLong("36501d")), ("9223372036854775807d", .tooLong("9223372036854775807d")),
    ("99999999999999999999999999s", .tooLong("99999999999999999999999999s")),
  ])
  func `any other text is an error that quotes it`(text: String, error: DurationTextError) {
    #expect(throws: error) { try Duration(parsing: text) }
  }

  @Test func `errors about durations give examples, and escape the text they quote`() {
    #expect(
      DurationTextError.unknownUnit("7\u{1B}[2J").description
        == "\"7\\u{1B}[2J\" is not a number with a known unit. "
        + "Write a whole number and a unit, such as 500ms, 90s, 15m, 36h or 7d.")
    #expect(DurationTextError.tooLong("9d").description == "\"9d\" is too long; the maximum is 36500d.")
  }

  @Test(arguments: ["500ms", "90s", "15m", "36h", "7d", "0s", "1ms", "36500d", "1001ms"])
  func `a duration's text parses to the same duration`(text: String) throws {
    #expect(try Duration(parsing: text).text == text)
  }

  @Test func `a duration's text uses the largest unit that fits`() {
    #expect(Duration.seconds(604_800).text == "7d")
    #expect(Duration.seconds(3600).text == "1h")
    #expect(Duration.milliseconds(1500).text == "1500ms")
    #expect(Duration.seconds(Int64.max).text.hasSuffix("ms"))
    #expect(Duration.seconds(Int64.min).text.hasPrefix("-"))
  }

  @Test(arguments: [
    (Duration.milliseconds(999), "just now"), (.zero, "just now"), (.seconds(1), "1 second ago"),
    (.milliseconds(59_999), "59 seconds ago"), (.seconds(60), "1 minute ago"), (.seconds(7199), "1 hour ago"),
    (.seconds(3 * 86_400), "3 days ago"), (.seconds(-120), "2 minutes in the future"), (.milliseconds(-10), "just now"),
  ])
  func `ages are written in words`(age: Duration, words: String) {
    #expect(age.ago == words)
  }
}
