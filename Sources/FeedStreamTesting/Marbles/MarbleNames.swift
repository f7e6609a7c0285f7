import FeedStream

/// Gives characters to values that a test has not named, so that the actual events can be pasted into the test.
struct MarbleNames<Value, Failure: Error> {
  private static var letters: String { "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" }

  let key: MarbleKey<Value, Failure>
  private var free: [Character]
  private var added: [(key: Character, value: Value)] = []
  private var failure: Failure?

  /// - Parameter events: all events to name.
  init(_ key: MarbleKey<Value, Failure>, for events: [StreamEvent<Value, Failure>]) {
    self.key = key
    let tokens = events.map { key.token(for: $0) }
    let taken = key.values.map(\.key) + tokens.compactMap { $0.count == 1 ? $0.first : nil }
    free = Self.letters.filter { !taken.contains($0) }
  }

  /// The diagram of `events`.
  mutating func text(
    of events: [(time: StreamInstant.Stride, event: StreamEvent<Value, Failure>)], frame: StreamInstant.Stride
  ) -> String {
    MarbleWriter(frame: frame).text(events.map { (time: $0.time, character: character(for: $0.event)) })
  }

  mutating func character(for event: StreamEvent<Value, Failure>) -> Character {
    let token = key.token(for: event)
    switch event {
    case .completion(.finished): return "|"
    case .completion(.failure(let error)):
      if token != "#" { failure = error }
      return "#"
    case .value(let value):
      if token.count == 1, let character = token.first, !character.mergesWithOthers {
        let isKnown =
          key.values.contains { $0.key == character } || added.contains { $0.key == character }
          || MarbleKey<Value, Failure>.meaning(of: character) != nil
        if !isKnown { added.append((character, value)) }
        return character
      }
      if let name = added.first(where: { isSame($0.value, value) })?.key { return name }
      // With more values than letters, the diagram isn't worth pasting.
      let name = free.isEmpty ? "?" : free.removeFirst()
      added.append((name, value))
      return name
    }
  }

  /// The arguments that a test needs besides the diagram: `, values: ["A": 13]`.
  ///
  /// - Parameter label: the label of the argument for a failure.
  func arguments(failure label: String = "failure") -> String {
    let values = added.map { "\"\($0.key)\": \(String(reflecting: $0.value))" }.joined(separator: ", ")
    return (added.isEmpty ? "" : ", \(key.values.isEmpty ? "values:" : "and in values:") [\(values)]")
      + (failure.map { ", \(label): \(String(reflecting: $0))" } ?? "")
  }
}

extension Character {
  /// True if the character becomes a part of the one before or after it in a string, as a combining mark does.
  fileprivate var mergesWithOthers: Bool { "a\(self)\(self)a".count < 4 }
}

extension String {
  /// The text as a Swift string literal.
  var quoted: String { String(reflecting: self) }
}
