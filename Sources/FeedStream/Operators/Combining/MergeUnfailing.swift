// Overloads of `merge` in which some of the publishers cannot fail; those take on the failure type of the others. The
// overloads are disfavored: the compiler tries them only where the failure types differ, so type checking takes no
// longer.
extension Publisher {
  /// Delivers the values of this publisher and another that cannot fail, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func merge<B: Publisher<Output, Never>>(with other: B)
    -> Publishers.Merge<Self, Publishers.SetFailureType<B, Failure>>
  {
    merge(with: other.setFailureType(to: Failure.self))
  }

  /// Delivers the values of this publisher and two others that cannot fail, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func merge<B: Publisher<Output, Never>, C: Publisher<Output, Never>>(with b: B, _ c: C)
    -> Publishers.Merge3<Self, Publishers.SetFailureType<B, Failure>, Publishers.SetFailureType<C, Failure>>
  {
    merge(with: b.setFailureType(to: Failure.self), c.setFailureType(to: Failure.self))
  }

  /// Delivers the values of this publisher and three others that cannot fail, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func merge<B: Publisher<Output, Never>, C: Publisher<Output, Never>, D: Publisher<Output, Never>>(
    with b: B, _ c: C, _ d: D
  )
    -> Publishers.Merge4<
      Self, Publishers.SetFailureType<B, Failure>, Publishers.SetFailureType<C, Failure>,
      Publishers.SetFailureType<D, Failure>
    >
  {
    merge(
      with: b.setFailureType(to: Failure.self), c.setFailureType(to: Failure.self), d.setFailureType(to: Failure.self))
  }

  /// Delivers the values of this publisher and four others that cannot fail, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func merge<
    B: Publisher<Output, Never>, C: Publisher<Output, Never>, D: Publisher<Output, Never>, E: Publisher<Output, Never>
  >(with b: B, _ c: C, _ d: D, _ e: E)
    -> Publishers.Merge5<
      Self, Publishers.SetFailureType<B, Failure>, Publishers.SetFailureType<C, Failure>,
      Publishers.SetFailureType<D, Failure>, Publishers.SetFailureType<E, Failure>
    >
  {
    merge(
      with: b.setFailureType(to: Failure.self), c.setFailureType(to: Failure.self), d.setFailureType(to: Failure.self),
      e.setFailureType(to: Failure.self))
  }

  /// Delivers the values of this publisher and five others that cannot fail, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func merge<
    B: Publisher<Output, Never>, C: Publisher<Output, Never>, D: Publisher<Output, Never>, E: Publisher<Output, Never>,
    F: Publisher<Output, Never>
  >(with b: B, _ c: C, _ d: D, _ e: E, _ f: F)
    -> Publishers.Merge6<
      Self, Publishers.SetFailureType<B, Failure>, Publishers.SetFailureType<C, Failure>,
      Publishers.SetFailureType<D, Failure>, Publishers.SetFailureType<E, Failure>,
      Publishers.SetFailureType<F, Failure>
    >
  {
    merge(
      with: b.setFailureType(to: Failure.self), c.setFailureType(to: Failure.self), d.setFailureType(to: Failure.self),
      e.setFailureType(to: Failure.self), f.setFailureType(to: Failure.self))
  }

  /// Delivers the values of this publisher and six others that cannot fail, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func merge<
    B: Publisher<Output, Never>, C: Publisher<Output, Never>, D: Publisher<Output, Never>, E: Publisher<Output, Never>,
    F: Publisher<Output, Never>, G: Publisher<Output, Never>
  >(with b: B, _ c: C, _ d: D, _ e: E, _ f: F, _ g: G)
    -> Publishers.Merge7<
      Self, Publishers.SetFailureType<B, Failure>, Publishers.SetFailureType<C, Failure>,
      Publishers.SetFailureType<D, Failure>, Publishers.SetFailureType<E, Failure>,
      Publishers.SetFailureType<F, Failure>, Publishers.SetFailureType<G, Failure>
    >
  {
    merge(
      with: b.setFailureType(to: Failure.self), c.setFailureType(to: Failure.self), d.setFailureType(to: Failure.self),
      e.setFailureType(to: Failure.self), f.setFailureType(to: Failure.self), g.setFailureType(to: Failure.self))
  }

  /// Delivers the values of this publisher and seven others that cannot fail, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func merge<
    B: Publisher<Output, Never>, C: Publisher<Output, Never>, D: Publisher<Output, Never>, E: Publisher<Output, Never>,
    F: Publisher<Output, Never>, G: Publisher<Output, Never>, H: Publisher<Output, Never>
  >(with b: B, _ c: C, _ d: D, _ e: E, _ f: F, _ g: G, _ h: H)
    -> Publishers.Merge8<
      Self, Publishers.SetFailureType<B, Failure>, Publishers.SetFailureType<C, Failure>,
      Publishers.SetFailureType<D, Failure>, Publishers.SetFailureType<E, Failure>,
      Publishers.SetFailureType<F, Failure>, Publishers.SetFailureType<G, Failure>,
      Publishers.SetFailureType<H, Failure>
    >
  {
    merge(
      with: b.setFailureType(to: Failure.self), c.setFailureType(to: Failure.self), d.setFailureType(to: Failure.self),
      e.setFailureType(to: Failure.self), f.setFailureType(to: Failure.self), g.setFailureType(to: Failure.self),
      h.setFailureType(to: Failure.self))
  }
}

extension Publisher where Failure == Never {
  /// Delivers the values of this publisher, which cannot fail, and another that can, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func merge<B: Publisher>(with other: B) -> Publishers.Merge<Publishers.SetFailureType<Self, B.Failure>, B>
  where B.Output == Output {
    setFailureType(to: B.Failure.self).merge(with: other)
  }

  /// Delivers the values of this publisher, which cannot fail, and two others that can, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func merge<B: Publisher, C: Publisher<Output, B.Failure>>(with b: B, _ c: C)
    -> Publishers.Merge3<Publishers.SetFailureType<Self, B.Failure>, B, C> where B.Output == Output
  {
    setFailureType(to: B.Failure.self).merge(with: b, c)
  }

  /// Delivers the values of this publisher, which cannot fail, and three others that can, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func merge<B: Publisher, C: Publisher<Output, B.Failure>, D: Publisher<Output, B.Failure>>(
    with b: B, _ c: C, _ d: D
  ) -> Publishers.Merge4<Publishers.SetFailureType<Self, B.Failure>, B, C, D> where B.Output == Output {
    setFailureType(to: B.Failure.self).merge(with: b, c, d)
  }

  /// Delivers the values of this publisher, which cannot fail, and four others that can, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func merge<
    B: Publisher, C: Publisher<Output, B.Failure>, D: Publisher<Output, B.Failure>, E: Publisher<Output, B.Failure>
  >(with b: B, _ c: C, _ d: D, _ e: E) -> Publishers.Merge5<Publishers.SetFailureType<Self, B.Failure>, B, C, D, E>
  where B.Output == Output {
    setFailureType(to: B.Failure.self).merge(with: b, c, d, e)
  }

  /// Delivers the values of this publisher, which cannot fail, and five others that can, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func merge<
    B: Publisher, C: Publisher<Output, B.Failure>, D: Publisher<Output, B.Failure>, E: Publisher<Output, B.Failure>,
    F: Publisher<Output, B.Failure>
  >(with b: B, _ c: C, _ d: D, _ e: E, _ f: F)
    -> Publishers.Merge6<Publishers.SetFailureType<Self, B.Failure>, B, C, D, E, F> where B.Output == Output
  {
    setFailureType(to: B.Failure.self).merge(with: b, c, d, e, f)
  }

  /// Delivers the values of this publisher, which cannot fail, and six others that can, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func merge<
    B: Publisher, C: Publisher<Output, B.Failure>, D: Publisher<Output, B.Failure>, E: Publisher<Output, B.Failure>,
    F: Publisher<Output, B.Failure>, G: Publisher<Output, B.Failure>
  >(with b: B, _ c: C, _ d: D, _ e: E, _ f: F, _ g: G)
    -> Publishers.Merge7<Publishers.SetFailureType<Self, B.Failure>, B, C, D, E, F, G> where B.Output == Output
  {
    setFailureType(to: B.Failure.self).merge(with: b, c, d, e, f, g)
  }

  /// Delivers the values of this publisher, which cannot fail, and seven others that can, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func merge<
    B: Publisher, C: Publisher<Output, B.Failure>, D: Publisher<Output, B.Failure>, E: Publisher<Output, B.Failure>,
    F: Publisher<Output, B.Failure>, G: Publisher<Output, B.Failure>, H: Publisher<Output, B.Failure>
  >(with b: B, _ c: C, _ d: D, _ e: E, _ f: F, _ g: G, _ h: H)
    -> Publishers.Merge8<Publishers.SetFailureType<Self, B.Failure>, B, C, D, E, F, G, H> where B.Output == Output
  {
    setFailureType(to: B.Failure.self).merge(with: b, c, d, e, f, g, h)
  }
}
