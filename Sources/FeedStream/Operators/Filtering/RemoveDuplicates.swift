extension Publisher where Output: Equatable {
  /// Drops a value equal to the one before it.
  ///
  ///     upstream    --a--a--b--b--a--|
  ///     removeDuplicates()
  ///     downstream  --a-----b-----a--|
  ///
  /// **Demand:** a dropped value is asked for again. **Failure, cancellation:** pass through.
  @inlinable
  public func removeDuplicates() -> Publishers.RemoveDuplicates<Self> { removeDuplicates(by: ==) }
}

extension Publisher {
  /// Drops a value that `predicate` finds equal to the one before it.
  ///
  /// **Demand:** a dropped value is asked for again. **Failure, cancellation:** pass through.
  ///
  /// - Parameter predicate: compares the value before with the new one.
  @inlinable
  public func removeDuplicates(
    by predicate: @escaping (Output, Output) -> Bool
  ) -> Publishers.RemoveDuplicates<Self> {
    Publishers.RemoveDuplicates(upstream: self, predicate: predicate)
  }

  /// Drops a value that `predicate` finds equal to the one before it, and fails with the first error it throws.
  ///
  /// **Demand:** a dropped value is asked for again. **Failure:** an error thrown cancels upstream.
  @inlinable
  public func tryRemoveDuplicates(
    by predicate: @escaping (Output, Output) throws -> Bool
  ) -> Publishers.TryRemoveDuplicates<Self> {
    Publishers.TryRemoveDuplicates(upstream: self, predicate: predicate)
  }
}

extension Publishers {
  /// See ``Publisher/removeDuplicates(by:)``.
  @frozen
  public struct RemoveDuplicates<Upstream: Publisher>: Publisher {
    public typealias Output = Upstream.Output
    public typealias Failure = Upstream.Failure

    public let upstream: Upstream
    public let predicate: (Output, Output) -> Bool

    @inlinable
    public init(upstream: Upstream, predicate: @escaping (Output, Output) -> Bool) {
      self.upstream = upstream
      self.predicate = predicate
    }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: RemoveDuplicatesStage<Output, Failure, Never, Failure>(Downstream(subscriber), .passing, predicate))
    }
  }

  /// See ``Publisher/tryRemoveDuplicates(by:)``.
  @frozen
  public struct TryRemoveDuplicates<Upstream: Publisher>: Publisher {
    public typealias Output = Upstream.Output
    public typealias Failure = any Error

    public let upstream: Upstream
    public let predicate: (Output, Output) throws -> Bool

    @inlinable
    public init(upstream: Upstream, predicate: @escaping (Output, Output) throws -> Bool) {
      self.upstream = upstream
      self.predicate = predicate
    }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: RemoveDuplicatesStage<Output, Upstream.Failure, any Error, any Error>(
          Downstream(subscriber), .throwing, predicate))
    }
  }
}

@usableFromInline
final class RemoveDuplicatesStage<Input, Failure: Error, RuleError: Error, OutputFailure: Error>:
  RuleStage<Input, Failure, RuleError, Input, OutputFailure>, Subscriber
{
  @exclusivity(unchecked)
  @usableFromInline
  var last: Input?
  @usableFromInline
  let isDuplicate: (Input, Input) throws(RuleError) -> Bool

  @inlinable
  init(
    _ down: Downstream<Input, OutputFailure>, _ endings: Endings<Failure, RuleError, OutputFailure>,
    _ isDuplicate: @escaping (Input, Input) throws(RuleError) -> Bool
  ) {
    self.isDuplicate = isDuplicate
    super.init(down, endings)
  }

  @inlinable
  func receive(_ input: Input) -> Subscribers.Demand {
    guard isLive || takesStray() else { return .none }
    if let last {
      do throws(RuleError) {
        if try isDuplicate(last, input) {
          self.last = input
          return .max(1)
        }
      } catch {
        return fail(error)
      }
    }
    last = input
    return down.next(input)
  }

  @usableFromInline
  override var strays: Strays { .earlyTraps }
}
