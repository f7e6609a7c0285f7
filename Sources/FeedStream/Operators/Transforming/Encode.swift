extension Publisher where Output: Encodable {
  /// Encodes each value with `encoder`, and fails with the first error that `encoder` throws.
  ///
  ///     upstream    --a----b----|
  ///     encode(encoder: JSONEncoder())
  ///     downstream  --{…}--{…}--|
  ///
  /// **Demand, cancellation:** pass through. **Failure:** a thrown error cancels upstream; upstream's own failure
  /// passes through. **Policy:** forwards.
  @inlinable public func encode<Coder: TopLevelEncoder>(encoder: Coder) -> Publishers.Encode<Self, Coder> {
    Publishers.Encode(upstream: self, encoder: encoder)
  }
}

extension Publisher {
  /// Decodes each value with `decoder`, and fails with the first error that `decoder` throws.
  ///
  ///     upstream    --{…}--{…}--|
  ///     decode(type: Item.self, decoder: JSONDecoder())
  ///     downstream  --a----b----|
  ///
  /// **Demand, cancellation:** pass through. **Failure:** a thrown error cancels upstream; upstream's own failure
  /// passes through. **Policy:** forwards.
  @inlinable public func decode<Item: Decodable, Coder: TopLevelDecoder>(
    type: Item.Type, decoder: Coder
  ) -> Publishers.Decode<Self, Item, Coder> where Output == Coder.Input {
    Publishers.Decode(upstream: self, decoder: decoder)
  }
}

extension Publishers {
  /// See ``Publisher/encode(encoder:)``.
  public struct Encode<Upstream: Publisher, Coder: TopLevelEncoder>: Operator where Upstream.Output: Encodable {
    public typealias Output = Coder.Output
    public typealias Failure = any Error

    public let upstream: Upstream
    @usableFromInline let encoder: Coder

    @inlinable public init(upstream: Upstream, encoder: Coder) {
      self.upstream = upstream
      self.encoder = encoder
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let down = ErasedSubscriber(subscriber)
      upstream.receive(
        stage: TryStage<Upstream.Output, Upstream.Failure, Output>("Encode", strays: .earlyPass, down) {
          [encoder] in
          down.receive(try encoder.encode($0))
        })
    }
  }

  /// See ``Publisher/decode(type:decoder:)``.
  public struct Decode<Upstream: Publisher, Output: Decodable, Coder: TopLevelDecoder>: Operator
  where Upstream.Output == Coder.Input {
    public typealias Failure = any Error

    public let upstream: Upstream
    @usableFromInline let decoder: Coder

    @inlinable public init(upstream: Upstream, decoder: Coder) {
      self.upstream = upstream
      self.decoder = decoder
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let down = ErasedSubscriber(subscriber)
      upstream.receive(
        stage: TryStage<Upstream.Output, Upstream.Failure, Output>("Decode", strays: .earlyPass, down) {
          [decoder] in
          down.receive(try decoder.decode(Output.self, from: $0))
        })
    }
  }
}
