import PlainText

extension HostPace {
  /// The pace as text: one sentence per known fact, without a period.
  ///
  /// - Parameter host: the host's name.
  public func words(for host: String) -> [String] {
    var words: [String] = []
    if let gap {
      words.append(
        "\(host) gets one request every \(Duration.seconds(gap).brief), because it refused more frequent ones "
          + "(\(refusals) \(refusals == 1 ? "refusal" : "refusals"))")
    }
    if let quota {
      var text = "\(host) says that it allows "
      if let limit = quota.limit {
        text += Self.requests(limit)
        if let window = quota.window { text += " in \(Duration.seconds(window).brief)" }
        text += ", and that \(Int(quota.remaining)) \(Int(quota.remaining) == 1 ? "was" : "were") left"
      } else {
        text += Self.requests(quota.remaining, more: true)
      }
      if let seconds = quota.resetsAfter { text += " for the next \(Duration.seconds(seconds).brief)" }
      words.append(text + " (RateLimit)")
    }
    return words
  }

  private static func requests(_ number: Double, more: Bool = false) -> String {
    "\(Int(number)) \(more ? "more " : "")\(Int(number) == 1 ? "request" : "requests")"
  }
}
