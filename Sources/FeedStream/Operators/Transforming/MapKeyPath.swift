extension Publisher {
  /// Delivers a property of each value.
  ///
  ///     upstream    --"a"--"bc"--|
  ///     map(\.count)
  ///     downstream  --1----2-----|
  ///
  /// **Demand, failure, cancellation:** pass through. **Policy:** forwards.
  @inlinable public func map<T>(_ keyPath: KeyPath<Output, T>) -> Publishers.MapKeyPath<Self, T> {
    Publishers.MapKeyPath(upstream: self, keyPath: keyPath)
  }

  /// Delivers two properties of each value as a tuple.
  ///
  ///     upstream    --"a"---------"bc"--------|
  ///     map(\.count, \.isEmpty)
  ///     downstream  --(1,false)---(2,false)---|
  ///
  /// **Demand, failure, cancellation:** pass through. **Policy:** forwards.
  @inlinable public func map<T0, T1>(
    _ keyPath0: KeyPath<Output, T0>, _ keyPath1: KeyPath<Output, T1>
  ) -> Publishers.MapKeyPath2<Self, T0, T1> {
    Publishers.MapKeyPath2(upstream: self, keyPath0: keyPath0, keyPath1: keyPath1)
  }

  /// Delivers three properties of each value as a tuple.
  ///
  ///     upstream    --"a"-------------"bc"------------|
  ///     map(\.count, \.isEmpty, \.first)
  ///     downstream  --(1,false,"a")---(2,false,"b")---|
  ///
  /// **Demand, failure, cancellation:** pass through. **Policy:** forwards.
  @inlinable public func map<T0, T1, T2>(
    _ keyPath0: KeyPath<Output, T0>, _ keyPath1: KeyPath<Output, T1>, _ keyPath2: KeyPath<Output, T2>
  ) -> Publishers.MapKeyPath3<Self, T0, T1, T2> {
    Publishers.MapKeyPath3(upstream: self, keyPath0: keyPath0, keyPath1: keyPath1, keyPath2: keyPath2)
  }
}

extension Publishers {
  /// See `map(_:)`.
  @frozen public struct MapKeyPath<Upstream: Publisher, Output>: Operator {
    public let upstream: Upstream
    public let keyPath: KeyPath<Upstream.Output, Output>

    @inlinable init(upstream: Upstream, keyPath: KeyPath<Upstream.Output, Output>) {
      self.upstream = upstream
      self.keyPath = keyPath
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.map { [keyPath] in $0[keyPath: keyPath] }.receive(subscriber: subscriber)
    }
  }

  /// See ``Publisher/map(_:_:)``.
  @frozen public struct MapKeyPath2<Upstream: Publisher, Output0, Output1>: Operator {
    public typealias Output = (Output0, Output1)

    public let upstream: Upstream
    public let keyPath0: KeyPath<Upstream.Output, Output0>
    public let keyPath1: KeyPath<Upstream.Output, Output1>

    @inlinable init(
      upstream: Upstream, keyPath0: KeyPath<Upstream.Output, Output0>, keyPath1: KeyPath<Upstream.Output, Output1>
    ) {
      self.upstream = upstream
      self.keyPath0 = keyPath0
      self.keyPath1 = keyPath1
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.map { [keyPath0, keyPath1] in ($0[keyPath: keyPath0], $0[keyPath: keyPath1]) }
        .receive(subscriber: subscriber)
    }
  }

  /// See ``Publisher/map(_:_:_:)``.
  @frozen public struct MapKeyPath3<Upstream: Publisher, Output0, Output1, Output2>: Operator {
    public typealias Output = (Output0, Output1, Output2)

    public let upstream: Upstream
    public let keyPath0: KeyPath<Upstream.Output, Output0>
    public let keyPath1: KeyPath<Upstream.Output, Output1>
    public let keyPath2: KeyPath<Upstream.Output, Output2>

    @inlinable init(
      upstream: Upstream, keyPath0: KeyPath<Upstream.Output, Output0>, keyPath1: KeyPath<Upstream.Output, Output1>,
      keyPath2: KeyPath<Upstream.Output, Output2>
    ) {
      self.upstream = upstream
      self.keyPath0 = keyPath0
      self.keyPath1 = keyPath1
      self.keyPath2 = keyPath2
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.map { [keyPath0, keyPath1, keyPath2] in
        ($0[keyPath: keyPath0], $0[keyPath: keyPath1], $0[keyPath: keyPath2])
      }
      .receive(subscriber: subscriber)
    }
  }
}
