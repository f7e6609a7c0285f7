extension Publisher {
  /// Hides this publisher's type.
  ///
  /// **Cost:** one indirect call per value.
  @inlinable
  public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { AnyPublisher(self) }
}

/// A publisher of which only what it delivers is known.
@frozen
public struct AnyPublisher<Output, Failure: Error>: Publisher, CustomStringConvertible,
  CustomPlaygroundDisplayConvertible
{
  @usableFromInline
  let box: PublisherBox<Output, Failure>

  /// Wraps `publisher`.
  @inlinable
  public init<P: Publisher>(_ publisher: P) where P.Output == Output, P.Failure == Failure {
    if let erased = publisher as? AnyPublisher<Output, Failure> {
      self = erased
    } else {
      box = PublisherBox { publisher.receive(subscriber: Link($0)) }
    }
  }

  @inlinable
  public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    box.attach(Downstream(subscriber))
  }

  public var description: String { "AnyPublisher" }
  public var playgroundDescription: Any { description }
}

/// A publisher of which nothing is left but how to attach to it. One object, so that what is erased is one word and is
/// passed around with one retain.
@usableFromInline
final class PublisherBox<Output, Failure: Error> {
  // Formed where the concrete publisher is known, so that everything above it is specialized.
  @usableFromInline
  let attach: (Downstream<Output, Failure>) -> Void

  @inlinable
  init(_ attach: @escaping (Downstream<Output, Failure>) -> Void) { self.attach = attach }
}
