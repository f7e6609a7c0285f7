extension Publisher {
  /// Writes a line for every event, without changing the events.
  ///
  ///     upstream    --1--|
  ///     print("numbers")
  ///     downstream  --1--|
  ///
  ///     numbers: receive subscription: (Sequence)
  ///     numbers: request unlimited
  ///     numbers: receive value: (1)
  ///     numbers: receive finished
  ///
  /// **Demand, failure, cancellation:** pass through. **Policy:** forwards.
  ///
  /// - Parameters:
  ///   - prefix: the text at the start of every line; a colon follows it unless it is empty.
  ///   - stream: the output; standard output when `nil`.
  @inlinable public func print(_ prefix: String = "", to stream: (any TextOutputStream)? = nil)
    -> Publishers.Print<Self>
  {
    Publishers.Print(upstream: self, prefix: prefix, to: stream)
  }
}

extension Publishers {
  /// See ``Publisher/print(_:to:)``.
  public struct Print<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output

    public let prefix: String
    public let upstream: Upstream
    public let stream: (any TextOutputStream)?

    @inlinable public init(upstream: Upstream, prefix: String, to stream: (any TextOutputStream)? = nil) {
      self.upstream = upstream
      self.prefix = prefix
      self.stream = stream
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(subscriber: newStage(ErasedSubscriber(subscriber)))
    }

    @usableFromInline func newStage(_ subscriber: ErasedSubscriber<Output, Failure>) -> TapStage<Output, Failure> {
      var log = LineLog(prefix: prefix.isEmpty ? "" : "\(prefix): ", stream: stream)
      // Both closures share one log.
      let write = { (line: String) in log.write(line) }
      return TapStage(
        "Print", subscriber, reportsAfterEnd: true, onValue: { write("receive value: (\($0))") },
        report: { event in
          switch event {
          case .subscription(let subscription): write("receive subscription: (\(subscription))")
          case .completion(.finished): write("receive finished")
          case .completion(.failure(let error)): write("receive error: (\(error))")
          case .cancel: write("receive cancel")
          case .request(let demand): write("request \(demand.logged)")
          case .answer(let demand): write("request \(demand.logged) (synchronous)")
          }
        })
    }
  }
}

private struct LineLog {
  let prefix: String
  var stream: (any TextOutputStream)?

  mutating func write(_ line: String) {
    if stream == nil {
      Swift.print(prefix + line)
    } else {
      var target = AnyOutput(stream: stream!)
      Swift.print(prefix + line, to: &target)
      stream = target.stream
    }
  }

  /// Wraps any stream in a concrete type, which `Swift.print` requires.
  private struct AnyOutput: TextOutputStream {
    var stream: any TextOutputStream
    mutating func write(_ string: String) { stream.write(string) }
  }
}

extension Subscribers.Demand {
  fileprivate var logged: String { max.map { "max: (\($0))" } ?? "unlimited" }
}
