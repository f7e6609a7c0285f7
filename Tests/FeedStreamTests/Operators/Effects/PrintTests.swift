import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct PrintTests {
  @Test func `print writes a line for each event`() {
    let lines = Lines()
    let recorder = [1].publisher.print("numbers", to: lines).record(demand: .max(2))
    #expect(recorder.values == [1])
    #expect(
      lines.text == """
        numbers: receive subscription: ([1])
        numbers: request max: (2)
        numbers: receive value: (1)
        numbers: receive finished

        """)
  }
}

private final class Lines: TextOutputStream {
  var text = ""
  func write(_ string: String) { text += string }
}
