extension Publisher where Output: Comparable {
  /// Delivers the least value, when upstream finishes; the first of equals.
  ///
  /// **Demand:** asks upstream for everything; the result waits until asked for. **Failure:** passes through, without a value.
  /// **Cancellation:** passes through. Policy: keeps one value.
  @inlinable
  public func min() -> Publishers.Comparison<Self> { max(by: >) }

  /// Delivers the greatest value, when upstream finishes; the first of equals.
  ///
  ///     upstream    --2--3--1--|
  ///     max()
  ///     downstream  -----------3|
  ///
  /// **Demand:** asks upstream for everything; the result waits until asked for. **Failure:** passes through, without a value.
  /// **Cancellation:** passes through. Policy: keeps one value.
  @inlinable
  public func max() -> Publishers.Comparison<Self> { max(by: <) }
}

extension Publisher {
  /// Delivers the value that comes first in the order, when upstream finishes.
  ///
  /// **Demand:** asks upstream for everything; the result waits until asked for. **Failure:** passes through, without a value.
  /// **Cancellation:** passes through. Policy: keeps one value.
  ///
  /// - Parameter areInIncreasingOrder: whether its first argument is less than its second.
  @inlinable
  public func min(
    by areInIncreasingOrder: @escaping (Output, Output) -> Bool
  ) -> Publishers.Comparison<Self> {
    max { areInIncreasingOrder($1, $0) }
  }

  /// Delivers the value that comes last in the order, when upstream finishes.
  ///
  /// **Demand:** asks upstream for everything; the result waits until asked for. **Failure:** passes through, without a value.
  /// **Cancellation:** passes through. Policy: keeps one value.
  ///
  /// - Parameter areInIncreasingOrder: whether its first argument is less than its second.
  @inlinable
  public func max(
    by areInIncreasingOrder: @escaping (Output, Output) -> Bool
  ) -> Publishers.Comparison<Self> {
    Publishers.Comparison(upstream: self, areInIncreasingOrder: areInIncreasingOrder)
  }

  /// Delivers the value that comes first in the order, and fails with the first error that comparing throws.
  ///
  /// **Demand:** asks upstream for everything; the result waits until asked for. **Failure:** an error thrown cancels upstream.
  /// **Cancellation:** passes through. Policy: keeps one value.
  @inlinable
  public func tryMin(
    by areInIncreasingOrder: @escaping (Output, Output) throws -> Bool
  ) -> Publishers.TryComparison<Self> {
    tryMax { try areInIncreasingOrder($1, $0) }
  }

  /// Delivers the value that comes last in the order, and fails with the first error that comparing throws.
  ///
  /// **Demand:** asks upstream for everything; the result waits until asked for. **Failure:** an error thrown cancels upstream.
  /// **Cancellation:** passes through. Policy: keeps one value.
  @inlinable
  public func tryMax(
    by areInIncreasingOrder: @escaping (Output, Output) throws -> Bool
  ) -> Publishers.TryComparison<Self> {
    Publishers.TryComparison(upstream: self, areInIncreasingOrder: areInIncreasingOrder)
  }
}

extension Publishers {
  /// See ``Publisher/max(by:)``.
  @frozen
  public struct Comparison<Upstream: Publisher>: Publisher {
    public typealias Output = Upstream.Output
    public typealias Failure = Upstream.Failure

    public let upstream: Upstream
    public let areInIncreasingOrder: (Upstream.Output, Upstream.Output) -> Bool

    @inlinable
    public init(upstream: Upstream, areInIncreasingOrder: @escaping (Upstream.Output, Upstream.Output) -> Bool) {
      self.upstream = upstream
      self.areInIncreasingOrder = areInIncreasingOrder
    }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: ReduceStage<Upstream.Output, Failure, Never, Output, Failure>(
          "Comparison", Downstream(subscriber), .passing, nil
        ) { [areInIncreasingOrder] greatest, value in
          if greatest.map({ areInIncreasingOrder($0, value) }) ?? true { greatest = value }
          return false
        })
    }
  }

  /// See ``Publisher/tryMax(by:)``.
  @frozen
  public struct TryComparison<Upstream: Publisher>: Publisher {
    public typealias Output = Upstream.Output
    public typealias Failure = any Error

    public let upstream: Upstream
    public let areInIncreasingOrder: (Upstream.Output, Upstream.Output) throws -> Bool

    @inlinable
    public init(upstream: Upstream, areInIncreasingOrder: @escaping (Upstream.Output, Upstream.Output) throws -> Bool) {
      self.upstream = upstream
      self.areInIncreasingOrder = areInIncreasingOrder
    }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: ReduceStage<Upstream.Output, Upstream.Failure, any Error, Output, any Error>(
          "TryComparison", Downstream(subscriber), .throwing, nil
        ) { [areInIncreasingOrder] greatest, value in
          if try greatest.map({ try areInIncreasingOrder($0, value) }) ?? true { greatest = value }
          return false
        })
    }
  }
}
