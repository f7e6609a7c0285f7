// Combine has a type for each number of merged publishers. Here, these types are aliases: a merge of three publishers
// is a merge of a merge and the third, and one stage subscribes to all three.
extension Publishers {
  /// See ``Publisher/merge(with:)-(B)``.
  public typealias Merge3<
    A: Publisher, B: Publisher<A.Output, A.Failure>, C: Publisher<A.Output, A.Failure>
  > = Merge<Merge<A, B>, C>

  /// See ``Publisher/merge(with:)-(B)``.
  public typealias Merge4<
    A: Publisher, B: Publisher<A.Output, A.Failure>, C: Publisher<A.Output, A.Failure>,
    D: Publisher<A.Output, A.Failure>
  > = Merge<Merge3<A, B, C>, D>

  /// See ``Publisher/merge(with:)-(B)``.
  public typealias Merge5<
    A: Publisher, B: Publisher<A.Output, A.Failure>, C: Publisher<A.Output, A.Failure>,
    D: Publisher<A.Output, A.Failure>, E: Publisher<A.Output, A.Failure>
  > = Merge<Merge4<A, B, C, D>, E>

  /// See ``Publisher/merge(with:)-(B)``.
  public typealias Merge6<
    A: Publisher, B: Publisher<A.Output, A.Failure>, C: Publisher<A.Output, A.Failure>,
    D: Publisher<A.Output, A.Failure>, E: Publisher<A.Output, A.Failure>, F: Publisher<A.Output, A.Failure>
  > = Merge<Merge5<A, B, C, D, E>, F>

  /// See ``Publisher/merge(with:)-(B)``.
  public typealias Merge7<
    A: Publisher, B: Publisher<A.Output, A.Failure>, C: Publisher<A.Output, A.Failure>,
    D: Publisher<A.Output, A.Failure>, E: Publisher<A.Output, A.Failure>, F: Publisher<A.Output, A.Failure>,
    G: Publisher<A.Output, A.Failure>
  > = Merge<Merge6<A, B, C, D, E, F>, G>

  /// See ``Publisher/merge(with:)-(B)``.
  public typealias Merge8<
    A: Publisher, B: Publisher<A.Output, A.Failure>, C: Publisher<A.Output, A.Failure>,
    D: Publisher<A.Output, A.Failure>, E: Publisher<A.Output, A.Failure>, F: Publisher<A.Output, A.Failure>,
    G: Publisher<A.Output, A.Failure>, H: Publisher<A.Output, A.Failure>
  > = Merge<Merge7<A, B, C, D, E, F, G>, H>
}

// `Publishers.Merge3(a, b, c)`, as in Combine: all but the last are merged first.
extension Publishers.Merge {
  @inlinable public init<P1, P2>(_ p1: P1, _ p2: P2, _ last: B) where A == Publishers.Merge<P1, P2> {
    self.init(Publishers.Merge(p1, p2), last)
  }

  @inlinable public init<P1, P2, P3>(_ p1: P1, _ p2: P2, _ p3: P3, _ last: B) where A == Publishers.Merge3<P1, P2, P3> {
    self.init(Publishers.Merge3(p1, p2, p3), last)
  }

  @inlinable public init<P1, P2, P3, P4>(
    _ p1: P1, _ p2: P2, _ p3: P3, _ p4: P4, _ last: B
  ) where A == Publishers.Merge4<P1, P2, P3, P4> {
    self.init(Publishers.Merge4(p1, p2, p3, p4), last)
  }

  @inlinable public init<P1, P2, P3, P4, P5>(
    _ p1: P1, _ p2: P2, _ p3: P3, _ p4: P4, _ p5: P5, _ last: B
  ) where A == Publishers.Merge5<P1, P2, P3, P4, P5> {
    self.init(Publishers.Merge5(p1, p2, p3, p4, p5), last)
  }

  @inlinable public init<P1, P2, P3, P4, P5, P6>(
    _ p1: P1, _ p2: P2, _ p3: P3, _ p4: P4, _ p5: P5, _ p6: P6, _ last: B
  ) where A == Publishers.Merge6<P1, P2, P3, P4, P5, P6> {
    self.init(Publishers.Merge6(p1, p2, p3, p4, p5, p6), last)
  }

  @inlinable public init<P1, P2, P3, P4, P5, P6, P7>(
    _ p1: P1, _ p2: P2, _ p3: P3, _ p4: P4, _ p5: P5, _ p6: P6, _ p7: P7, _ last: B
  ) where A == Publishers.Merge7<P1, P2, P3, P4, P5, P6, P7> {
    self.init(Publishers.Merge7(p1, p2, p3, p4, p5, p6, p7), last)
  }
}

extension Publisher {
  /// Delivers the values of this publisher and two others, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @inlinable
  public func merge<
    B: Publisher<Output, Failure>, C: Publisher<Output, Failure>
  >(with b: B, _ c: C) -> Publishers.Merge3<Self, B, C> {
    merge(with: b).merge(with: c)
  }

  /// Delivers the values of this publisher and three others, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @inlinable
  public func merge<
    B: Publisher<Output, Failure>, C: Publisher<Output, Failure>, D: Publisher<Output, Failure>
  >(with b: B, _ c: C, _ d: D) -> Publishers.Merge4<Self, B, C, D> {
    merge(with: b, c).merge(with: d)
  }

  /// Delivers the values of this publisher and four others, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @inlinable
  public func merge<
    B: Publisher<Output, Failure>, C: Publisher<Output, Failure>, D: Publisher<Output, Failure>,
    E: Publisher<Output, Failure>
  >(with b: B, _ c: C, _ d: D, _ e: E) -> Publishers.Merge5<Self, B, C, D, E> {
    merge(with: b, c, d).merge(with: e)
  }

  /// Delivers the values of this publisher and five others, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @inlinable
  public func merge<
    B: Publisher<Output, Failure>, C: Publisher<Output, Failure>, D: Publisher<Output, Failure>,
    E: Publisher<Output, Failure>, F: Publisher<Output, Failure>
  >(with b: B, _ c: C, _ d: D, _ e: E, _ f: F) -> Publishers.Merge6<Self, B, C, D, E, F> {
    merge(with: b, c, d, e).merge(with: f)
  }

  /// Delivers the values of this publisher and six others, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @inlinable
  public func merge<
    B: Publisher<Output, Failure>, C: Publisher<Output, Failure>, D: Publisher<Output, Failure>,
    E: Publisher<Output, Failure>, F: Publisher<Output, Failure>, G: Publisher<Output, Failure>
  >(with b: B, _ c: C, _ d: D, _ e: E, _ f: F, _ g: G) -> Publishers.Merge7<Self, B, C, D, E, F, G> {
    merge(with: b, c, d, e, f).merge(with: g)
  }

  /// Delivers the values of this publisher and seven others, as they arrive.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @inlinable
  public func merge<
    B: Publisher<Output, Failure>, C: Publisher<Output, Failure>, D: Publisher<Output, Failure>,
    E: Publisher<Output, Failure>, F: Publisher<Output, Failure>, G: Publisher<Output, Failure>,
    H: Publisher<Output, Failure>
  >(with b: B, _ c: C, _ d: D, _ e: E, _ f: F, _ g: G, _ h: H) -> Publishers.Merge8<Self, B, C, D, E, F, G, H> {
    merge(with: b, c, d, e, f, g).merge(with: h)
  }
}

/// Delivers the values of any number of publishers, of any types, as they arrive.
///
///     merge(cached, remote, pushed).sink { print($0) }
///
/// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``. For two to eight publishers,
/// `merge(with:)` is faster, because this function erases the publishers' types.
public func merge<Value, Failure: Error>(
  _ publishers: any Publisher<Value, Failure>...
) -> Publishers.MergeMany<AnyPublisher<Value, Failure>> {
  Publishers.MergeMany(publishers.map { $0.eraseToAnyPublisher() })
}
