// Overloads of `zip` in which some of the publishers cannot fail; those take on the failure type of the others. The
// overloads are disfavored: the compiler tries them only where the failure types differ, so type checking takes no
// longer.
extension Publisher {
  /// Combines values at the same index from this publisher and one that cannot fail.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func zip<P: Publisher>(_ other: P) -> Publishers.Zip<Self, Publishers.SetFailureType<P, Failure>>
  where P.Failure == Never {
    zip(other.setFailureType(to: Failure.self))
  }

  /// Combines values at the same index from this publisher and one that cannot fail, and maps them with `transform`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func zip<P: Publisher, T>(_ other: P, _ transform: @escaping (Output, P.Output) -> T)
    -> Publishers.Map<Publishers.Zip<Self, Publishers.SetFailureType<P, Failure>>, T> where P.Failure == Never
  {
    zip(other.setFailureType(to: Failure.self), transform)
  }

  /// Combines values at the same index from this publisher and two that cannot fail.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func zip<P: Publisher, Q: Publisher>(_ publisher1: P, _ publisher2: Q)
    -> Publishers.Zip3<Self, Publishers.SetFailureType<P, Failure>, Publishers.SetFailureType<Q, Failure>>
  where P.Failure == Never, Q.Failure == Never {
    zip(publisher1.setFailureType(to: Failure.self), publisher2.setFailureType(to: Failure.self))
  }

  /// Combines values at the same index from this publisher and two that cannot fail, and maps them with `transform`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func zip<P: Publisher, Q: Publisher, T>(
    _ publisher1: P, _ publisher2: Q, _ transform: @escaping (Output, P.Output, Q.Output) -> T
  )
    -> Publishers.Map<
      Publishers.Zip3<Self, Publishers.SetFailureType<P, Failure>, Publishers.SetFailureType<Q, Failure>>, T
    > where P.Failure == Never, Q.Failure == Never
  {
    zip(publisher1.setFailureType(to: Failure.self), publisher2.setFailureType(to: Failure.self), transform)
  }

  /// Combines values at the same index from this publisher and three that cannot fail.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func zip<P: Publisher, Q: Publisher, R: Publisher>(_ publisher1: P, _ publisher2: Q, _ publisher3: R)
    -> Publishers.Zip4<
      Self, Publishers.SetFailureType<P, Failure>, Publishers.SetFailureType<Q, Failure>,
      Publishers.SetFailureType<R, Failure>
    > where P.Failure == Never, Q.Failure == Never, R.Failure == Never
  {
    zip(
      publisher1.setFailureType(to: Failure.self), publisher2.setFailureType(to: Failure.self),
      publisher3.setFailureType(to: Failure.self))
  }

  /// Combines values at the same index from this publisher and three that cannot fail, and maps them with `transform`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func zip<P: Publisher, Q: Publisher, R: Publisher, T>(
    _ publisher1: P, _ publisher2: Q, _ publisher3: R,
    _ transform: @escaping (Output, P.Output, Q.Output, R.Output) -> T
  )
    -> Publishers.Map<
      Publishers.Zip4<
        Self, Publishers.SetFailureType<P, Failure>, Publishers.SetFailureType<Q, Failure>,
        Publishers.SetFailureType<R, Failure>
      >, T
    > where P.Failure == Never, Q.Failure == Never, R.Failure == Never
  {
    zip(
      publisher1.setFailureType(to: Failure.self), publisher2.setFailureType(to: Failure.self),
      publisher3.setFailureType(to: Failure.self), transform)
  }
}

extension Publisher where Failure == Never {
  /// Combines values at the same index from this publisher, which cannot fail, and one that can.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func zip<P: Publisher>(_ other: P) -> Publishers.Zip<Publishers.SetFailureType<Self, P.Failure>, P> {
    setFailureType(to: P.Failure.self).zip(other)
  }

  /// Combines values at the same index from this publisher, which cannot fail, and one that can, and maps them with
  /// `transform`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func zip<P: Publisher, T>(_ other: P, _ transform: @escaping (Output, P.Output) -> T)
    -> Publishers.Map<Publishers.Zip<Publishers.SetFailureType<Self, P.Failure>, P>, T>
  {
    setFailureType(to: P.Failure.self).zip(other, transform)
  }

  /// Combines values at the same index from this publisher, which cannot fail, and two that can.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func zip<P: Publisher, Q: Publisher>(_ publisher1: P, _ publisher2: Q)
    -> Publishers.Zip3<Publishers.SetFailureType<Self, P.Failure>, P, Q> where Q.Failure == P.Failure
  {
    setFailureType(to: P.Failure.self).zip(publisher1, publisher2)
  }

  /// Combines values at the same index from this publisher, which cannot fail, and two that can, and maps them with
  /// `transform`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func zip<P: Publisher, Q: Publisher, T>(
    _ publisher1: P, _ publisher2: Q, _ transform: @escaping (Output, P.Output, Q.Output) -> T
  ) -> Publishers.Map<Publishers.Zip3<Publishers.SetFailureType<Self, P.Failure>, P, Q>, T>
  where Q.Failure == P.Failure {
    setFailureType(to: P.Failure.self).zip(publisher1, publisher2, transform)
  }

  /// Combines values at the same index from this publisher, which cannot fail, and three that can.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func zip<P: Publisher, Q: Publisher, R: Publisher>(_ publisher1: P, _ publisher2: Q, _ publisher3: R)
    -> Publishers.Zip4<Publishers.SetFailureType<Self, P.Failure>, P, Q, R>
  where Q.Failure == P.Failure, R.Failure == P.Failure {
    setFailureType(to: P.Failure.self).zip(publisher1, publisher2, publisher3)
  }

  /// Combines values at the same index from this publisher, which cannot fail, and three that can, and maps them with
  /// `transform`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/zip(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func zip<P: Publisher, Q: Publisher, R: Publisher, T>(
    _ publisher1: P, _ publisher2: Q, _ publisher3: R,
    _ transform: @escaping (Output, P.Output, Q.Output, R.Output) -> T
  ) -> Publishers.Map<Publishers.Zip4<Publishers.SetFailureType<Self, P.Failure>, P, Q, R>, T>
  where Q.Failure == P.Failure, R.Failure == P.Failure {
    setFailureType(to: P.Failure.self).zip(publisher1, publisher2, publisher3, transform)
  }
}
