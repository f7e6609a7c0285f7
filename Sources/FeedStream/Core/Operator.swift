extension Publishers {
  /// A publisher that transforms another publisher's stream. The structs behind the methods of ``Publisher`` are
  /// operators.
  ///
  /// An operator fails with upstream's failure, unless it declares a failure type of its own.
  public protocol Operator<Upstream>: Publisher {
    associatedtype Upstream: Publisher
    associatedtype Failure = Upstream.Failure

    /// The publisher that this one subscribes to.
    var upstream: Upstream { get }
  }
}

extension Publishers.Operator {
  /// An operator delivers where its upstream does, unless its events may come from several threads (`_JoinsPublishers`).
  @_documentation(visibility: internal)
  @inlinable public var _deliversAtHome: Bool { upstream._deliversAtHome }
}
