extension Duration {
  /// Reads a whole number with one unit: `500ms`, `90s`, `15m`, `36h` or `7d`. The duration must be at most
  /// ``longestText``, not negative, and without spaces or fractions (`90m`, not `1.5h`).
  public init(parsing text: String) throws(DurationTextError) {
    guard !text.isEmpty else { throw .empty }
    guard !text.hasPrefix("-") else { throw .negative(text) }
    let digits = text.prefix { ("0"..."9").contains($0) }
    guard !digits.isEmpty else { throw .noNumber(text) }
    let unit = text[digits.endIndex...]
    guard !unit.isEmpty else { throw .noUnit(text) }
    guard !unit.hasPrefix("."), !unit.hasPrefix(",") else { throw .fraction(text) }
    guard let milliseconds = Self.units.first(where: { $0.name == unit })?.milliseconds else {
      throw .unknownUnit(text)
    }
    guard let number = Int64(digits) else { throw .tooLong(text) }
    let (product, overflow) = number.multipliedReportingOverflow(by: milliseconds)
    guard !overflow, Duration.milliseconds(product) <= Self.longestText else { throw .tooLong(text) }
    self = .milliseconds(product)
  }

  /// The longest duration that ``init(parsing:)`` accepts: 36,500 days. A longer one would be a mistake, and would not
  /// fit into dates or timers.
  public static let longestText = Duration.seconds(36_500 * 86_400)

  /// The shortest spelling that ``init(parsing:)`` reads back: `7d`, `90s`, `1500ms`. Fractions of a millisecond are
  /// dropped.
  public var text: String {
    let total = wholeMilliseconds
    guard total != 0 else { return "0s" }
    // This always finds a unit, because the smallest one is a millisecond.
    let unit = Self.units.first { total % $0.milliseconds == 0 } ?? Self.units[Self.units.count - 1]
    return "\(total / unit.milliseconds)\(unit.name)"
  }

  /// The duration in one unit, rounded down: "3 days", "1 minute", "2 seconds"; "less than a second" below one.
  ///
  /// Negative durations are written without their sign.
  public var words: String {
    let total = wholeMilliseconds.magnitude
    guard let unit = Self.units.first(where: { $0.milliseconds >= 1000 && total >= $0.milliseconds.magnitude }) else {
      return "less than a second"
    }
    let count = total / unit.milliseconds.magnitude
    return "\(count) \(unit.word)\(count == 1 ? "" : "s")"
  }

  /// The duration as text, such as `90 seconds`, `15 minutes` or `1 hour`; below ten seconds, with one decimal, as in
  /// `0.4 seconds`.
  package var brief: String {
    let seconds = self / .seconds(1)
    for (size, name) in [(86_400.0, "day"), (3600, "hour"), (60, "minute")] where seconds >= size {
      let count = seconds / size
      guard count == count.rounded() else { continue }
      return count == 1 ? "1 \(name)" : "\(Int(count)) \(name)s"
    }
    let shown = abs(seconds) < 10 ? (seconds * 10).rounded() / 10 : seconds.rounded()
    return shown == 1 ? "1 second" : "\(shown == shown.rounded() ? "\(Int(shown))" : "\(shown)") seconds"
  }

  /// An age as text: "3 days ago", "just now" below a second, and "5 minutes in the future" for a negative one.
  public var ago: String {
    let total = wholeMilliseconds
    if total.magnitude < 1000 { return "just now" }
    return total > 0 ? "\(words) ago" : "\(words) in the future"
  }

  private static let units: [(name: String, word: String, milliseconds: Int64)] = [
    ("d", "day", 86_400_000), ("h", "hour", 3_600_000), ("m", "minute", 60_000), ("s", "second", 1000),
    ("ms", "millisecond", 1),
  ]

  /// The number of milliseconds. It saturates, because text needn't distinguish durations above 292 million years.
  private var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    guard !overflow else { return seconds < 0 ? -Int64.max : Int64.max }
    let (sum, carried) = milliseconds.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    return carried ? (seconds < 0 ? -Int64.max : Int64.max) : sum
  }
}

/// The reason why text isn't a duration.
public enum DurationTextError: Error, Hashable, Sendable {
  /// The text is empty.
  case empty
  /// The text begins with a minus sign.
  case negative(String)
  /// The text does not begin with a digit.
  case noNumber(String)
  /// A number without a unit.
  case noUnit(String)
  /// A fractional number.
  case fraction(String)
  /// An unknown unit, or more than one.
  case unknownUnit(String)
  /// More than ``Swift/Duration/longestText``.
  case tooLong(String)
}

extension DurationTextError: CustomStringConvertible {
  /// The mistake, and the correct way to write a duration.
  public var description: String {
    switch self {
    case .empty: "A duration is missing. \(Self.usage)"
    case .negative(let text): "\(Self.quote(text)) is negative. \(Self.usage)"
    case .noNumber(let text): "\(Self.quote(text)) is not a duration. \(Self.usage)"
    case .noUnit(let text): "\(Self.quote(text)) has no unit. \(Self.usage)"
    case .fraction(let text) where text.hasSuffix("ms"): "\(Self.quote(text)) is not a whole number. \(Self.usage)"
    case .fraction(let text): "\(Self.quote(text)) is not a whole number; use a smaller unit. \(Self.usage)"
    case .unknownUnit(let text): "\(Self.quote(text)) is not a number with a known unit. \(Self.usage)"
    case .tooLong(let text): "\(Self.quote(text)) is too long; the maximum is \(Duration.longestText.text)."
    }
  }

  private static let usage = "Write a whole number and a unit, such as 500ms, 90s, 15m, 36h or 7d."

  private static func quote(_ text: String) -> String { "\"\(text.printable(limit: 40))\"" }
}
