import ArgumentParser
import ImageFeed

/// The limits of the history, in the notation of the command line.
enum HistoryArgument {
  /// Reads `none`, `all`, a number of items, an age, or both: `500`, `90d`, `500,90d`.
  static func policy(_ text: String) throws -> HistoryPolicy {
    if text == "none" { return .none }
    if text == "all" { return HistoryPolicy(items: .max, age: nil) }
    var policy = HistoryPolicy()
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    let numbers = parts.count { Int($0) != nil }
    // At most one part of each kind.
    guard numbers <= 1, parts.count - numbers <= 1 else { throw problem }
    for part in parts {
      if let items = Int(part) {
        guard items >= 0 else { throw problem }
        policy.items = items
      } else {
        guard let age = try? DurationArgument(positive: String(part)) else { throw problem }
        policy.age = age.duration
      }
    }
    return policy
  }

  private static var problem: ValidationError {
    ValidationError("--keep takes a number of items (500), an age (90d), both (500,90d), none, or all.")
  }
}
