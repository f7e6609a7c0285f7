extension Publisher where Output: Comparable {
  /// Delivers the smallest value when upstream finishes. If several values are equally small, delivers the first of
  /// them.
  ///
  ///     upstream    --2--3--1--|
  ///     min()
  ///     downstream  -----------1|
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** passes through, without a
  /// value. **Cancellation:** passes through. **Policy:** keeps one value.
  @inlinable public func min() -> Publishers.Comparison<Self> { max(by: >) }

  /// Delivers the largest value when upstream finishes. If several values are equally large, delivers the first of
  /// them.
  ///
  ///     upstream    --2--3--1--|
  ///     max()
  ///     downstream  -----------3|
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** passes through, without a
  /// value. **Cancellation:** passes through. **Policy:** keeps one value.
  @inlinable public func max() -> Publishers.Comparison<Self> { max(by: <) }
}

extension Publisher {
  /// Delivers the value that comes first in the order, when upstream finishes. If several values are equal, delivers
  /// the first of them.
  ///
  ///     upstream    --"aa"--"b"--"ccc"--|
  ///     min { $0.count < $1.count }
  ///     downstream  --------------------"b"|
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** passes through, without a
  /// value. **Cancellation:** passes through. **Policy:** keeps one value.
  ///
  /// - Parameter areInIncreasingOrder: returns true when its first argument is less than its second.
  @inlinable public func min(
    by areInIncreasingOrder: @escaping (Output, Output) -> Bool
  ) -> Publishers.Comparison<Self> {
    max { areInIncreasingOrder($1, $0) }
  }

  /// Delivers the value that comes last in the order, when upstream finishes. If several values are equal, delivers the
  /// first of them.
  ///
  ///     upstream    --"aa"--"b"--"ccc"--|
  ///     max { $0.count < $1.count }
  ///     downstream  --------------------"ccc"|
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** passes through, without a
  /// value. **Cancellation:** passes through. **Policy:** keeps one value.
  ///
  /// - Parameter areInIncreasingOrder: returns true when its first argument is less than its second.
  @inlinable public func max(
    by areInIncreasingOrder: @escaping (Output, Output) -> Bool
  ) -> Publishers.Comparison<Self> {
    Publishers.Comparison(upstream: self, areInIncreasingOrder: areInIncreasingOrder)
  }

  /// Delivers the value that comes first in the order, when upstream finishes; fails with the first error that the
  /// comparison throws.
  ///
  ///     upstream    --2--3--x--|
  ///     tryMin { try isLess($0, $1) }   (throws on x)
  ///     downstream  --------#
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** a thrown error cancels
  /// upstream; upstream's own failure passes through, without a result. **Cancellation:** passes through. **Policy:**
  /// keeps one value.
  @inlinable public func tryMin(
    by areInIncreasingOrder: @escaping (Output, Output) throws -> Bool
  ) -> Publishers.TryComparison<Self> {
    tryMax { try areInIncreasingOrder($1, $0) }
  }

  /// Delivers the value that comes last in the order, when upstream finishes; fails with the first error that the
  /// comparison throws.
  ///
  ///     upstream    --2--3--x--|
  ///     tryMax { try isLess($0, $1) }   (throws on x)
  ///     downstream  --------#
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** a thrown error cancels
  /// upstream; upstream's own failure passes through, without a result. **Cancellation:** passes through. **Policy:**
  /// keeps one value.
  @inlinable public func tryMax(
    by areInIncreasingOrder: @escaping (Output, Output) throws -> Bool
  ) -> Publishers.TryComparison<Self> {
    Publishers.TryComparison(upstream: self, areInIncreasingOrder: areInIncreasingOrder)
  }
}

extension Publishers {
  /// See ``Publisher/max(by:)``.
  public typealias Comparison<Upstream: Publisher> = Comparing<Upstream, NonThrowing<Upstream.Failure>>
  /// See ``Publisher/tryMax(by:)``.
  public typealias TryComparison<Upstream: Publisher> = Comparing<Upstream, Throwing<Upstream.Failure>>

  /// The type that ``Comparison`` and ``TryComparison`` share.
  @frozen public struct Comparing<Upstream: Publisher, Mode: FailureMode<Upstream.Failure>>: Operator {
    public typealias Output = Upstream.Output
    public typealias Failure = Mode.Failure
    public typealias Order = (Output, Output) throws(Mode.RuleError) -> Bool

    public let upstream: Upstream
    public let areInIncreasingOrder: Order

    @inlinable public init(upstream: Upstream, areInIncreasingOrder: @escaping Order) {
      self.upstream = upstream
      self.areInIncreasingOrder = areInIncreasingOrder
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        stage: ReduceStage<Output, Output, Mode>("Comparison", ErasedSubscriber(subscriber), nil) {
          [areInIncreasingOrder] (greatest: inout Output?, value: Output) throws(Mode.RuleError) in
          if let known = greatest, try !areInIncreasingOrder(known, value) { return false }
          greatest = value
          return false
        })
    }
  }
}
