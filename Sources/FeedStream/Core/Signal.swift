/// An event of a stream, as an enum: one of the stream's values, or its completion.
@frozen public enum Signal<Output, Failure: Error> {
  case value(Output)
  case completion(Subscribers.Completion<Failure>)
}

extension Signal: Sendable where Output: Sendable {}
extension Signal: Equatable where Output: Equatable, Failure: Equatable {}
