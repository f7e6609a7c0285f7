// Overloads of `combineLatest` in which some of the publishers cannot fail; those take on the failure type of the
// others. The overloads are disfavored: the compiler tries them only where the failure types differ, so type checking
// takes no longer.
extension Publisher {
  /// Combines the newest values of this publisher and one that cannot fail.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func combineLatest<P: Publisher>(_ other: P)
    -> Publishers.CombineLatest<Self, Publishers.SetFailureType<P, Failure>> where P.Failure == Never
  {
    combineLatest(other.setFailureType(to: Failure.self))
  }

  /// Combines the newest values of this publisher and one that cannot fail, and maps them with `transform`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func combineLatest<P: Publisher, T>(_ other: P, _ transform: @escaping (Output, P.Output) -> T)
    -> Publishers.Map<Publishers.CombineLatest<Self, Publishers.SetFailureType<P, Failure>>, T>
  where P.Failure == Never {
    combineLatest(other.setFailureType(to: Failure.self), transform)
  }

  /// Combines the newest values of this publisher and two that cannot fail.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func combineLatest<P: Publisher, Q: Publisher>(_ publisher1: P, _ publisher2: Q)
    -> Publishers.CombineLatest3<Self, Publishers.SetFailureType<P, Failure>, Publishers.SetFailureType<Q, Failure>>
  where P.Failure == Never, Q.Failure == Never {
    combineLatest(publisher1.setFailureType(to: Failure.self), publisher2.setFailureType(to: Failure.self))
  }

  /// Combines the newest values of this publisher and two that cannot fail, and maps them with `transform`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func combineLatest<P: Publisher, Q: Publisher, T>(
    _ publisher1: P, _ publisher2: Q, _ transform: @escaping (Output, P.Output, Q.Output) -> T
  )
    -> Publishers.Map<
      Publishers.CombineLatest3<Self, Publishers.SetFailureType<P, Failure>, Publishers.SetFailureType<Q, Failure>>, T
    > where P.Failure == Never, Q.Failure == Never
  {
    combineLatest(publisher1.setFailureType(to: Failure.self), publisher2.setFailureType(to: Failure.self), transform)
  }

  /// Combines the newest values of this publisher and three that cannot fail.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func combineLatest<P: Publisher, Q: Publisher, R: Publisher>(_ publisher1: P, _ publisher2: Q, _ publisher3: R)
    -> Publishers.CombineLatest4<
      Self, Publishers.SetFailureType<P, Failure>, Publishers.SetFailureType<Q, Failure>,
      Publishers.SetFailureType<R, Failure>
    > where P.Failure == Never, Q.Failure == Never, R.Failure == Never
  {
    combineLatest(
      publisher1.setFailureType(to: Failure.self), publisher2.setFailureType(to: Failure.self),
      publisher3.setFailureType(to: Failure.self))
  }

  /// Combines the newest values of this publisher and three that cannot fail, and maps them with `transform`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func combineLatest<P: Publisher, Q: Publisher, R: Publisher, T>(
    _ publisher1: P, _ publisher2: Q, _ publisher3: R,
    _ transform: @escaping (Output, P.Output, Q.Output, R.Output) -> T
  )
    -> Publishers.Map<
      Publishers.CombineLatest4<
        Self, Publishers.SetFailureType<P, Failure>, Publishers.SetFailureType<Q, Failure>,
        Publishers.SetFailureType<R, Failure>
      >, T
    > where P.Failure == Never, Q.Failure == Never, R.Failure == Never
  {
    combineLatest(
      publisher1.setFailureType(to: Failure.self), publisher2.setFailureType(to: Failure.self),
      publisher3.setFailureType(to: Failure.self), transform)
  }
}

extension Publisher where Failure == Never {
  /// Combines the newest values of this publisher, which cannot fail, and one that can.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func combineLatest<P: Publisher>(_ other: P)
    -> Publishers.CombineLatest<Publishers.SetFailureType<Self, P.Failure>, P>
  {
    setFailureType(to: P.Failure.self).combineLatest(other)
  }

  /// Combines the newest values of this publisher, which cannot fail, and one that can, and maps them with `transform`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func combineLatest<P: Publisher, T>(_ other: P, _ transform: @escaping (Output, P.Output) -> T)
    -> Publishers.Map<Publishers.CombineLatest<Publishers.SetFailureType<Self, P.Failure>, P>, T>
  {
    setFailureType(to: P.Failure.self).combineLatest(other, transform)
  }

  /// Combines the newest values of this publisher, which cannot fail, and two that can.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func combineLatest<P: Publisher, Q: Publisher>(_ publisher1: P, _ publisher2: Q)
    -> Publishers.CombineLatest3<Publishers.SetFailureType<Self, P.Failure>, P, Q> where Q.Failure == P.Failure
  {
    setFailureType(to: P.Failure.self).combineLatest(publisher1, publisher2)
  }

  /// Combines the newest values of this publisher, which cannot fail, and two that can, and maps them with `transform`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func combineLatest<P: Publisher, Q: Publisher, T>(
    _ publisher1: P, _ publisher2: Q, _ transform: @escaping (Output, P.Output, Q.Output) -> T
  ) -> Publishers.Map<Publishers.CombineLatest3<Publishers.SetFailureType<Self, P.Failure>, P, Q>, T>
  where Q.Failure == P.Failure {
    setFailureType(to: P.Failure.self).combineLatest(publisher1, publisher2, transform)
  }

  /// Combines the newest values of this publisher, which cannot fail, and three that can.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func combineLatest<P: Publisher, Q: Publisher, R: Publisher>(_ publisher1: P, _ publisher2: Q, _ publisher3: R)
    -> Publishers.CombineLatest4<Publishers.SetFailureType<Self, P.Failure>, P, Q, R>
  where Q.Failure == P.Failure, R.Failure == P.Failure {
    setFailureType(to: P.Failure.self).combineLatest(publisher1, publisher2, publisher3)
  }

  /// Combines the newest values of this publisher, which cannot fail, and three that can, and maps them with
  /// `transform`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/combineLatest(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func combineLatest<P: Publisher, Q: Publisher, R: Publisher, T>(
    _ publisher1: P, _ publisher2: Q, _ publisher3: R,
    _ transform: @escaping (Output, P.Output, Q.Output, R.Output) -> T
  ) -> Publishers.Map<Publishers.CombineLatest4<Publishers.SetFailureType<Self, P.Failure>, P, Q, R>, T>
  where Q.Failure == P.Failure, R.Failure == P.Failure {
    setFailureType(to: P.Failure.self).combineLatest(publisher1, publisher2, publisher3, transform)
  }
}
