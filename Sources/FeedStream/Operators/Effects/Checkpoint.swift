extension Publisher {
  /// Names this place in the pipeline, for messages about problems above it.
  ///
  ///     http.get(url).tryMap(decode).timeout(…).checkpoint("load feed")
  ///
  ///     upstream    --a--b--#
  ///     checkpoint("load feed")
  ///     downstream  --a--b--#       (the failure has passed "load feed")
  ///
  /// The name, the file and the line appear in:
  /// - the message when an operator above traps,
  /// - the ``TimedOut`` that a `timeout` above passes to its `customError`,
  /// - ``StreamDiagnostics/onUnhandledFailure(_:)`` and the message of `assertNoFailure`, when a failure that passed
  ///   here is not handled below.
  ///
  /// A checkpoint costs nothing until something goes wrong. Then an operator searches its chain of subscribers for the
  /// next checkpoint, and a failure records the checkpoints that it passes. The search and the record end at a subject,
  /// at `share`, and where a scheduler delivers: put a checkpoint on both sides.
  ///
  /// **Demand, failure, cancellation:** pass through; values pass at no cost. **Policy:** forwards.
  ///
  /// - Parameters:
  ///   - name: the name of the place.
  ///   - file: the file in which the pipeline was assembled.
  ///   - line: the line on which the pipeline was assembled.
  @inlinable public func checkpoint(
    _ name: String = "", file: StaticString = #fileID, line: UInt = #line
  ) -> Publishers.Checkpoint<Self> {
    Publishers.Checkpoint(upstream: self, place: Place(name: name, file: "\(file)", line: line))
  }
}

/// The place in the code where a pipeline was assembled.
public struct Place: Hashable, Sendable, CustomStringConvertible {
  /// The name; may be empty.
  public let name: String
  /// The module and the file.
  public let file: String
  public let line: UInt

  public init(name: String = "", file: String, line: UInt) {
    self.name = name
    self.file = file
    self.line = line
  }

  /// The place as text: `"load feed" at App/Feed.swift:12`.
  public var description: String { (name.isEmpty ? "" : "\"\(name)\" ") + "at \(file):\(line)" }
}

extension Publishers {
  /// See ``Publisher/checkpoint(_:file:line:)``.
  @frozen public struct Checkpoint<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let place: Place

    @inlinable public init(upstream: Upstream, place: Place) {
      self.upstream = upstream
      self.place = place
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      if S.isFused {
        upstream.receive(subscriber: CheckpointStage(subscriber.erased, place))
      } else {
        upstream.receive(subscriber: CheckpointStage(subscriber, place))
      }
    }
  }
}

extension Publishers.Checkpoint: Equatable where Upstream: Equatable {}

@frozen @usableFromInline struct CheckpointStage<Downstream: Subscriber>: FusedStage {
  @usableFromInline let downstream: Downstream
  @usableFromInline let place: Place

  @inlinable init(_ downstream: Downstream, _ place: Place) {
    self.downstream = downstream
    self.place = place
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand { downstream.receive(input) }

  @inlinable func receive(completion: Subscribers.Completion<Failure>) {
    guard case .failure = completion else { return downstream.receive(completion: completion) }
    StreamDiagnostics.passing(place) { downstream.receive(completion: completion) }
  }

  @usableFromInline var checkpoint: Place? { place }
}
