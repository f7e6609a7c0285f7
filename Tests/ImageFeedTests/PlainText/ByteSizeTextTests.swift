import PlainText
import TestSupport
import Testing

@Suite(.settled) struct ByteSizeTextTests {
  @Test(arguments: [
    (0, "0 bytes"), (1, "1 byte"), (1_023, "1023 bytes"), (1_024, "1 KiB"), (1_536, "1.5 KiB"),
    (1_048_524, "1023.9 KiB"), (1_048_525, "1 MiB"), (1_048_575, "1 MiB"), (33_554_432, "32 MiB"),
    (1_073_689_395, "1023.9 MiB"), (1_073_741_823, "1 GiB"),
  ])
  func `a size is rounded before its unit is chosen`(bytes: Int, text: String) {
    #expect(bytes.byteSize == text)
  }
}
