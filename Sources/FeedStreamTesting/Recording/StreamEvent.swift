import FeedStream

/// An event that a subscriber receives after its subscription.
public enum StreamEvent<Value, Failure: Error> {
  case value(Value)
  case completion(Subscribers.Completion<Failure>)
}

extension StreamEvent: Equatable where Value: Equatable, Failure: Equatable {}
extension StreamEvent: Sendable where Value: Sendable, Failure: Sendable {}

extension StreamEvent: CustomStringConvertible {
  public var description: String {
    switch self {
    case .value(let value): "\(value)"
    case .completion(.finished): "finished"
    case .completion(.failure(let error)): "failure(\(error))"
    }
  }

  /// True if the event ends the stream.
  public var isCompletion: Bool {
    if case .completion = self { true } else { false }
  }
}

/// An event with its time.
public struct Timed<Content>: CustomStringConvertible {
  public var time: StreamInstant
  public var content: Content

  public init(_ content: Content, at time: StreamInstant) {
    self.time = time
    self.content = content
  }

  public var description: String { "\(time.nanoseconds.asTime) \(content)" }
}

extension Timed: Equatable where Content: Equatable {}
extension Timed: Sendable where Content: Sendable {}
