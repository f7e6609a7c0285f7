import FeedStream

/// A value that a character in a marble diagram can stand for by itself.
public protocol MarbleValue {
  /// The value that `marble` stands for; `nil` when it stands for none.
  init?(marble: Character)
}

extension Character: MarbleValue {
  public init(marble: Character) { self = marble }
}

extension String: MarbleValue {
  public init(marble: Character) { self.init(marble) }
}

extension Int: MarbleValue {
  /// The digit.
  public init?(marble: Character) {
    guard let digit = marble.wholeNumberValue else { return nil }
    self = digit
  }
}

/// The failure that `#` stands for when a test names no other.
public struct MarbleFailure: Error, Equatable, CustomStringConvertible {
  public init() {}
  public var description: String { "#" }
}

/// What the characters of a diagram stand for.
struct MarbleKey<Value, Failure: Error> {
  let values: KeyValuePairs<Character, Value>
  let failure: Failure?

  /// The events in a diagram; the first character that stands for nothing is an error.
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
    for marble in marbles.marbles {
      switch event(for: marble.symbol) {
      case .success(let event): events.append((marble.time, event))
      case .failure(let reason): throw MarbleError(text: marbles.text, offset: marble.offset, reason: reason.text)
      }
    }
    return events
  }

  private struct Reason: Error { let text: String }

  private func event(for symbol: Marbles.Symbol) -> Result<StreamEvent<Value, Failure>, Reason> {
    switch symbol {
    case .finished: return .success(.completion(.finished))
    case .failed:
      guard let failure = failure ?? MarbleFailure() as? Failure else {
        return .failure(Reason(text: "say what # stands for: failure: …, of type \(Failure.self)"))
      }
      return .success(.completion(.failure(failure)))
    case .value(let character):
      let meanings = values.filter { $0.key == character }.map(\.value)
      if let value = meanings.first {
        guard let other = meanings.first(where: { !isSame($0, value) }) else { return .success(.value(value)) }
        return .failure(Reason(text: "\(character) stands for \(value) and for \(other); keep one of them in values:"))
      }
      if values.isEmpty, let type = Value.self as? any MarbleValue.Type,
        let value = type.init(marble: character) as? Value
      {
        return .success(.value(value))
      }
      return .failure(
        Reason(text: "say what \(character) stands for: values: [\"\(character)\": …], of type \(Value.self)"))
    }
  }

  /// What the characters among `tokens` stand for, in lines of their own, as far as a test has said so.
  func legend(for tokens: [String]) -> String {
    values.filter { tokens.contains(String($0.key)) && String($0.key) != "\($0.value)" }
      .map { "\n\($0.key) is \("\($0.value)".onOneLine)" }.joined() + failureLegend(for: tokens)
  }

  private func failureLegend(for tokens: [String]) -> String {
    guard let failure, tokens.contains("#"), "\(failure)" != "#" else { return "" }
    return "\n# is \("\(failure)".onOneLine)"
  }

  /// How an event is drawn: as its character if it has one.
  func token(for event: StreamEvent<Value, Failure>) -> String {
    switch event {
    case .completion(.finished): return "|"
    case .completion(.failure(let error)):
      if let failure, !isSame(failure, error) { return "#\("\(error)".onOneLine)" }
      return failure == nil && !(error is MarbleFailure) ? "#\("\(error)".onOneLine)" : "#"
    case .value(let value):
      if let key = values.first(where: { isSame($0.value, value) })?.key { return String(key) }
      let text = "\(value)".onOneLine
      return text.count == 1 ? text : "‹\(text)›"
    }
  }
}

extension Character {
  /// Whether it says something of its own in a diagram.
  fileprivate var isNotation: Bool { isWhitespace || "-()^|#".contains(self) }
}

/// Whether two values are equal, or, when they cannot be compared, look the same.
func isSame<T>(_ first: T, _ second: T) -> Bool {
  func compare<E: Equatable>(_ first: E) -> Bool { first == (second as? E) }
  if let first = first as? any Equatable { return compare(first) }
  return String(describing: first) == String(describing: second)
}
