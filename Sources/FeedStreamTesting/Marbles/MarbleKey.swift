import FeedStream

/// Maps the characters of a diagram to events.
struct MarbleKey<Value, Failure: Error> {
  let values: [(key: Character, value: Value)]
  let failure: Failure?

  init(values: KeyValuePairs<Character, Value>, failure: Failure?) {
    self.values = Array(values)
    self.failure = failure
  }

  /// Makes a key from a dictionary. If a value has several characters, the alphabetically first one is drawn.
  init(sorting values: [Character: Value], failure: Failure?) {
    self.values = values.sorted { $0.key < $1.key }
    self.failure = failure
  }

  /// The events in a diagram. Throws an error for the first character without a meaning.
  func events(in marbles: Marbles) throws(MarbleError) -> [(
    time: StreamInstant.Stride, event: StreamEvent<Value, Failure>
  )] {
    for (offset, character) in marbles.text.enumerated() where character.isNotation {
      guard values.contains(where: { $0.key == character }) else { continue }
      throw MarbleError(
        text: marbles.text, offset: offset,
        reason: "\(character) is part of the notation and cannot stand for a value; use another character in values:")
    }
    var events: [(time: StreamInstant.Stride, event: StreamEvent<Value, Failure>)] = []
    for marble in marbles.marbles { events.append((marble.time, try event(for: marble, in: marbles.text))) }
    return events
  }

  /// The event that `marble` represents in `text`.
  func event(for marble: Marbles.Marble, in text: String) throws(MarbleError) -> StreamEvent<Value, Failure> {
    do throws(Reason) {
      return try event(for: marble.symbol)
    } catch {
      throw MarbleError(text: text, offset: marble.offset, reason: error.text)
    }
  }

  private struct Reason: Error { let text: String }

  private func event(for symbol: Marbles.Symbol) throws(Reason) -> StreamEvent<Value, Failure> {
    switch symbol {
    case .finished: return .completion(.finished)
    case .failed:
      if let failure = failure ?? MarbleFailure() as? Failure { return .completion(.failure(failure)) }
      guard Failure.self != Never.self else { throw Reason(text: "this stream's Failure is Never; remove the #") }
      throw Reason(text: "pass failure:, a value of type \(Failure.self), for the #")
    case .value(let character):
      let meanings = values.filter { $0.key == character }.map(\.value)
      if let value = meanings.first {
        guard let other = meanings.first(where: { !isSame($0, value) }) else { return .value(value) }
        throw Reason(text: "\(character) stands for \(value) and for \(other); keep one of them in values:")
      }
      if let value = Self.meaning(of: character) { return .value(value) }
      throw Reason(text: "say what \(character) stands for: values: [\"\(character)\": …], of type \(Value.self)")
    }
  }

  /// The value that a character represents without a definition; `nil` if there is none.
  static func meaning(of character: Character) -> Value? {
    guard let type = Value.self as? any MarbleValue.Type else { return nil }
    return type.init(marble: character) as? Value
  }

  /// The meanings of those characters in `tokens` that the test has defined, on separate lines.
  func legend(for tokens: [String]) -> String {
    values.filter { tokens.contains(String($0.key)) && String($0.key) != "\($0.value)" }
      .map { "\n\($0.key) is \("\($0.value)".onOneLine)" }.joined() + failureLegend(for: tokens)
  }

  private func failureLegend(for tokens: [String]) -> String {
    guard let failure, tokens.contains("#"), "\(failure)" != "#" else { return "" }
    return "\n# is \("\(failure)".onOneLine)"
  }

  /// The text that is drawn for an event: its character if it has one, otherwise its description.
  func token(for event: StreamEvent<Value, Failure>) -> String {
    switch event {
    case .completion(.finished): return "|"
    case .completion(.failure(let error)):
      if let failure, !isSame(failure, error) { return "#\("\(error)".onOneLine)" }
      return failure == nil && !(error is MarbleFailure) ? "#\("\(error)".onOneLine)" : "#"
    case .value(let value):
      if let key = values.first(where: { isSame($0.value, value) })?.key { return String(key) }
      let text = "\(value)".onOneLine
      // Quote a character that has another meaning in this diagram, because it would be misread.
      guard text.count == 1, let character = text.first, !character.isNotation,
        !values.contains(where: { $0.key == character })
      else { return "‹\(text)›" }
      return text
    }
  }
}

extension Character {
  /// True if the character has a meaning in the notation.
  var isNotation: Bool { isWhitespace || "-()^|#".contains(self) }
}

/// True when two values are equal. Values that aren't `Equatable` are equal if they have the same description, and
/// objects without a description of their own only if they are the same object.
func isSame<T>(_ first: T, _ second: T) -> Bool {
  func compare<E: Equatable>(_ first: E) -> Bool { first == (second as? E) }
  if let first = first as? any Equatable { return compare(first) }
  if type(of: first) is AnyClass, !(first is any CustomStringConvertible || first is any CustomDebugStringConvertible) {
    return (first as AnyObject) === (second as AnyObject)
  }
  return String(describing: first) == String(describing: second)
}

/// True when two events are the same: an event is `Equatable` only if both its values and its failure are.
func isSame<Value, Failure>(_ first: StreamEvent<Value, Failure>, _ second: StreamEvent<Value, Failure>) -> Bool {
  switch (first, second) {
  case (.value(let first), .value(let second)): isSame(first, second)
  case (.completion(.finished), .completion(.finished)): true
  case (.completion(.failure(let first)), .completion(.failure(let second))): isSame(first, second)
  default: false
  }
}
