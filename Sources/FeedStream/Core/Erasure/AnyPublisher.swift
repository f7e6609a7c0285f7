extension Publisher {
  /// Hides this publisher's type.
  ///
  /// **Cost:** one indirect call per value.
  @inlinable public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { AnyPublisher(self) }
}

/// A publisher whose concrete type is hidden; only its output and failure types are known.
@frozen
public struct AnyPublisher<Output, Failure: Error>: Publisher, CustomStringConvertible,
  CustomPlaygroundDisplayConvertible
{
  @usableFromInline let box: PublisherBox<Output, Failure>

  /// Wraps `publisher`.
  @inlinable public init<P: Publisher>(_ publisher: P) where P.Output == Output, P.Failure == Failure {
    if let erased = publisher as? AnyPublisher<Output, Failure> {
      self = erased
    } else {
      box = PublisherBoxOf(publisher)
    }
  }

  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    box.attach(box, ErasedSubscriber(subscriber))
  }

  @inlinable public func _deliverAll(to deliver: (Output) -> Bool) -> Bool { box.deliverAll(box, deliver) }
  @_documentation(visibility: internal)
  @inlinable public var _deliversAtHome: Bool { box.deliversAtHome(box) }

  public var description: String { "AnyPublisher" }
  public var playgroundDescription: Any { description }
}

/// An erased publisher. Its functions take this object and are created where the publisher's type is known, so that
/// everything above it stays specialized.
@usableFromInline class PublisherBox<Output, Failure: Error> {
  @usableFromInline final let attach: (PublisherBox, ErasedSubscriber<Output, Failure>) -> Void
  @usableFromInline final let deliverAll: (PublisherBox, (Output) -> Bool) -> Bool
  // A function, because the place of delivery may depend on the subscribing thread.
  @usableFromInline final let deliversAtHome: (PublisherBox) -> Bool

  @inlinable init(
    deliversAtHome: @escaping (PublisherBox) -> Bool,
    attach: @escaping (PublisherBox, ErasedSubscriber<Output, Failure>) -> Void,
    deliverAll: @escaping (PublisherBox, (Output) -> Bool) -> Bool
  ) {
    self.deliversAtHome = deliversAtHome
    self.attach = attach
    self.deliverAll = deliverAll
  }
}

/// The box that contains the publisher. Because the box and the publisher are one object, an erased publisher is one
/// word and is passed on with one retain.
@usableFromInline final class PublisherBoxOf<P: Publisher>: PublisherBox<P.Output, P.Failure> {
  @usableFromInline let publisher: P

  @inlinable init(_ publisher: P) {
    self.publisher = publisher
    super.init(
      deliversAtHome: { unsafeDowncast($0, to: PublisherBoxOf<P>.self).publisher._deliversAtHome },
      attach: { unsafeDowncast($0, to: PublisherBoxOf<P>.self).publisher.receive(subscriber: $1) },
      deliverAll: { unsafeDowncast($0, to: PublisherBoxOf<P>.self).publisher._deliverAll(to: $1) })
  }
}
