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
        guard let other = meanings.dropFirst().first(where: { !isSame($0, value) }) else { return .value(value) }
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

/// True when two values are equal: those that aren't `Equatable` are compared by their elements if they are containers,
/// by their description if they have one, by identity if they are objects, and otherwise by their parts. Functions are
/// never equal.
func isSame<T>(_ first: T, _ second: T) -> Bool {
  func compare<E: Equatable>(_ first: E) -> Bool { first == (second as? E) }
  if let first = first as? any Equatable { return compare(first) }
  return isSameByParts(first, second)
}

private func isSameByParts(_ first: Any, _ second: Any) -> Bool {
  guard type(of: first) == type(of: second) else { return false }
  if let first = first as? any Entries { return first.areSame(as: second) }
  var hasSameDescription: Bool { String(describing: first) == String(describing: second) }
  let isDescribed = first is any CustomStringConvertible || first is any CustomDebugStringConvertible
  // Don't read an object's properties: other threads may change them.
  if type(of: first) is AnyClass {
    return isDescribed ? hasSameDescription : (first as AnyObject) === (second as AnyObject)
  }
  // A mirror reads a property when its child is visited, which traps if the property is unowned and its object is gone.
  let (mirror, other) = (Mirror(reflecting: first), Mirror(reflecting: second))
  switch mirror.displayStyle {
  // A container's description doesn't show which objects it contains.
  case .optional, .collection, .set, .dictionary, .tuple: break
  case _ where isDescribed: return hasSameDescription
  // Of the values without a style, only types and those with a mirror of their own aren't functions.
  case nil where !(first is any CustomReflectable || first is Any.Type): return false
  case _ where mirror.children.isEmpty: return hasSameDescription
  default: break
  }
  return mirror.children.count == other.children.count
    && zip(mirror.children, other.children).allSatisfy { $0.label == $1.label && isSame($0.value, $1.value) }
}

/// A dictionary, whose entries have no order.
private protocol Entries {
  func areSame(as other: Any) -> Bool
}

extension Dictionary: Entries {
  fileprivate func areSame(as other: Any) -> Bool {
    guard let other = other as? Self, count == other.count else { return false }
    return allSatisfy { key, value in other[key].map { isSame(value, $0) } ?? false }
  }
}

/// True when two values that aren't equal have the same description, because they differ in objects or functions that
/// it doesn't show.
func looksSame<T>(_ first: T, _ second: T) -> Bool {
  !(first is any Equatable) && !isSame(first, second) && String(describing: first) == String(describing: second)
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

/// True when two events that aren't the same look the same; see ``looksSame(_:_:)``.
func looksSame<Value, Failure>(_ first: StreamEvent<Value, Failure>, _ second: StreamEvent<Value, Failure>) -> Bool {
  switch (first, second) {
  case (.value(let first), .value(let second)): looksSame(first, second)
  case (.completion(.failure(let first)), .completion(.failure(let second))): looksSame(first, second)
  default: false
  }
}
