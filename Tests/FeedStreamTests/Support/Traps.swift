import Testing

extension ExitTest.Result {
  /// True when the message of a trap contains `text`.
  func says(_ text: String) -> Bool { String(decoding: standardErrorContent, as: UTF8.self).contains(text) }
}
