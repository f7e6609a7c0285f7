extension String {
  /// The text as a label's value in Prometheus' text format, escaped by scalars: a quote with a combining mark after it
  /// is a quote.
  var metricLabel: String {
    unicodeScalars.map { scalar in
      switch scalar {
      case "\\", "\"": "\\\(scalar)"
      case "\n": "\\n"
      default: String(scalar)
      }
    }.joined()
  }
}
