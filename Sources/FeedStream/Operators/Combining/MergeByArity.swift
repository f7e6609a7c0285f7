// Combine names a merge by its arity. Here the arity is in the types only: a merge of three is a merge of a merge.
extension Publishers {
  /// See ``Publisher/merge(with:)-(B)``.
  public typealias Merge3<A: Publisher, B: Publisher, C: Publisher> = Merge<Merge<A, B>, C>
  where
    A.Output == B.Output, A.Failure == B.Failure,
    B.Output == C.Output, B.Failure == C.Failure

  /// See ``Publisher/merge(with:)-(B)``.
  public typealias Merge4<A: Publisher, B: Publisher, C: Publisher, D: Publisher> = Merge<Merge3<A, B, C>, D>
  where
    A.Output == B.Output, A.Failure == B.Failure,
    B.Output == C.Output, B.Failure == C.Failure,
    C.Output == D.Output, C.Failure == D.Failure

  /// See ``Publisher/merge(with:)-(B)``.
  public typealias Merge5<A: Publisher, B: Publisher, C: Publisher, D: Publisher, E: Publisher> = Merge<
    Merge4<A, B, C, D>, E
  >
  where
    A.Output == B.Output, A.Failure == B.Failure,
    B.Output == C.Output, B.Failure == C.Failure,
    C.Output == D.Output, C.Failure == D.Failure,
    D.Output == E.Output, D.Failure == E.Failure

  /// See ``Publisher/merge(with:)-(B)``.
  public typealias Merge6<A: Publisher, B: Publisher, C: Publisher, D: Publisher, E: Publisher, F: Publisher> = Merge<
    Merge5<A, B, C, D, E>, F
  >
  where
    A.Output == B.Output, A.Failure == B.Failure,
    B.Output == C.Output, B.Failure == C.Failure,
    C.Output == D.Output, C.Failure == D.Failure,
    D.Output == E.Output, D.Failure == E.Failure,
    E.Output == F.Output, E.Failure == F.Failure

  /// See ``Publisher/merge(with:)-(B)``.
  public typealias Merge7<
    A: Publisher, B: Publisher, C: Publisher, D: Publisher, E: Publisher, F: Publisher, G: Publisher
  > = Merge<Merge6<A, B, C, D, E, F>, G>
  where
    A.Output == B.Output, A.Failure == B.Failure,
    B.Output == C.Output, B.Failure == C.Failure,
    C.Output == D.Output, C.Failure == D.Failure,
    D.Output == E.Output, D.Failure == E.Failure,
    E.Output == F.Output, E.Failure == F.Failure,
    F.Output == G.Output, F.Failure == G.Failure

  /// See ``Publisher/merge(with:)-(B)``.
  public typealias Merge8<
    A: Publisher, B: Publisher, C: Publisher, D: Publisher, E: Publisher, F: Publisher, G: Publisher, H: Publisher
  > = Merge<Merge7<A, B, C, D, E, F, G>, H>
  where
    A.Output == B.Output, A.Failure == B.Failure,
    B.Output == C.Output, B.Failure == C.Failure,
    C.Output == D.Output, C.Failure == D.Failure,
    D.Output == E.Output, D.Failure == E.Failure,
    E.Output == F.Output, E.Failure == F.Failure,
    F.Output == G.Output, F.Failure == G.Failure,
    G.Output == H.Output, G.Failure == H.Failure

}

// `Publishers.Merge3(a, b, c)`, as in Combine: all but the last are merged first.
extension Publishers.Merge {
  @inlinable public init<P1: Publisher, P2: Publisher>(_ p1: P1, _ p2: P2, _ last: B)
  where A == Publishers.Merge<P1, P2> {
    self.init(Publishers.Merge(p1, p2), last)
  }

  @inlinable public init<P1: Publisher, P2: Publisher, P3: Publisher>(_ p1: P1, _ p2: P2, _ p3: P3, _ last: B)
  where A == Publishers.Merge3<P1, P2, P3> {
    self.init(Publishers.Merge3(p1, p2, p3), last)
  }

  @inlinable public init<P1: Publisher, P2: Publisher, P3: Publisher, P4: Publisher>(
    _ p1: P1, _ p2: P2, _ p3: P3, _ p4: P4, _ last: B
  )
  where A == Publishers.Merge4<P1, P2, P3, P4> {
    self.init(Publishers.Merge4(p1, p2, p3, p4), last)
  }

  @inlinable public init<P1: Publisher, P2: Publisher, P3: Publisher, P4: Publisher, P5: Publisher>(
    _ p1: P1, _ p2: P2, _ p3: P3, _ p4: P4, _ p5: P5, _ last: B
  )
  where A == Publishers.Merge5<P1, P2, P3, P4, P5> {
    self.init(Publishers.Merge5(p1, p2, p3, p4, p5), last)
  }

  @inlinable public init<P1: Publisher, P2: Publisher, P3: Publisher, P4: Publisher, P5: Publisher, P6: Publisher>(
    _ p1: P1, _ p2: P2, _ p3: P3, _ p4: P4, _ p5: P5, _ p6: P6, _ last: B
  )
  where A == Publishers.Merge6<P1, P2, P3, P4, P5, P6> {
    self.init(Publishers.Merge6(p1, p2, p3, p4, p5, p6), last)
  }

  @inlinable
  public init<P1: Publisher, P2: Publisher, P3: Publisher, P4: Publisher, P5: Publisher, P6: Publisher, P7: Publisher>(
    _ p1: P1, _ p2: P2, _ p3: P3, _ p4: P4, _ p5: P5, _ p6: P6, _ p7: P7, _ last: B
  )
  where A == Publishers.Merge7<P1, P2, P3, P4, P5, P6, P7> {
    self.init(Publishers.Merge7(p1, p2, p3, p4, p5, p6, p7), last)
  }
}

extension Publisher {
  /// Delivers the values of this publisher and of two others, as they come.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @inlinable public func merge<B: Publisher, C: Publisher>(
    with b: B, _ c: C
  ) -> Publishers.Merge3<Self, B, C>
  where
    B.Output == Output, B.Failure == Failure,
    C.Output == Output, C.Failure == Failure
  {
    merge(with: b).merge(with: c)
  }

  /// Delivers the values of this publisher and of three others, as they come.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @inlinable public func merge<B: Publisher, C: Publisher, D: Publisher>(
    with b: B, _ c: C, _ d: D
  ) -> Publishers.Merge4<Self, B, C, D>
  where
    B.Output == Output, B.Failure == Failure,
    C.Output == Output, C.Failure == Failure,
    D.Output == Output, D.Failure == Failure
  {
    merge(with: b, c).merge(with: d)
  }

  /// Delivers the values of this publisher and of four others, as they come.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @inlinable public func merge<B: Publisher, C: Publisher, D: Publisher, E: Publisher>(
    with b: B, _ c: C, _ d: D, _ e: E
  ) -> Publishers.Merge5<Self, B, C, D, E>
  where
    B.Output == Output, B.Failure == Failure,
    C.Output == Output, C.Failure == Failure,
    D.Output == Output, D.Failure == Failure,
    E.Output == Output, E.Failure == Failure
  {
    merge(with: b, c, d).merge(with: e)
  }

  /// Delivers the values of this publisher and of five others, as they come.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @inlinable public func merge<B: Publisher, C: Publisher, D: Publisher, E: Publisher, F: Publisher>(
    with b: B, _ c: C, _ d: D, _ e: E, _ f: F
  ) -> Publishers.Merge6<Self, B, C, D, E, F>
  where
    B.Output == Output, B.Failure == Failure,
    C.Output == Output, C.Failure == Failure,
    D.Output == Output, D.Failure == Failure,
    E.Output == Output, E.Failure == Failure,
    F.Output == Output, F.Failure == Failure
  {
    merge(with: b, c, d, e).merge(with: f)
  }

  /// Delivers the values of this publisher and of six others, as they come.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @inlinable public func merge<B: Publisher, C: Publisher, D: Publisher, E: Publisher, F: Publisher, G: Publisher>(
    with b: B, _ c: C, _ d: D, _ e: E, _ f: F, _ g: G
  ) -> Publishers.Merge7<Self, B, C, D, E, F, G>
  where
    B.Output == Output, B.Failure == Failure,
    C.Output == Output, C.Failure == Failure,
    D.Output == Output, D.Failure == Failure,
    E.Output == Output, E.Failure == Failure,
    F.Output == Output, F.Failure == Failure,
    G.Output == Output, G.Failure == Failure
  {
    merge(with: b, c, d, e, f).merge(with: g)
  }

  /// Delivers the values of this publisher and of seven others, as they come.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``.
  @inlinable
  public func merge<B: Publisher, C: Publisher, D: Publisher, E: Publisher, F: Publisher, G: Publisher, H: Publisher>(
    with b: B, _ c: C, _ d: D, _ e: E, _ f: F, _ g: G, _ h: H
  ) -> Publishers.Merge8<Self, B, C, D, E, F, G, H>
  where
    B.Output == Output, B.Failure == Failure,
    C.Output == Output, C.Failure == Failure,
    D.Output == Output, D.Failure == Failure,
    E.Output == Output, E.Failure == Failure,
    F.Output == Output, F.Failure == Failure,
    G.Output == Output, G.Failure == Failure,
    H.Output == Output, H.Failure == Failure
  {
    merge(with: b, c, d, e, f, g).merge(with: h)
  }
}

/// Delivers the values of any number of publishers, of any types, as they arrive.
///
///     merge(cached, remote, pushed).sink { print($0) }
///
/// **Demand, failure, cancellation, policy:** as in ``Publisher/merge(with:)-(B)``. For two to eight publishers the
/// method is the faster: here the publishers' types are erased.
public func merge<Value, Failure: Error>(
  _ publishers: any Publisher<Value, Failure>...
) -> Publishers.MergeMany<AnyPublisher<Value, Failure>> {
  Publishers.MergeMany(publishers.map { $0.eraseToAnyPublisher() })
}
