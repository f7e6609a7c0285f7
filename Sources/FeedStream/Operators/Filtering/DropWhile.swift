extension Publisher {
  /// Drops values as long as `predicate` holds, and delivers everything from the first for which it does not.
  ///
  ///     upstream    --1--2--9--3--|
  ///     drop(while: { $0 < 5 })
  ///     downstream  --------9--3--|
  ///
  /// **Demand:** a dropped value is asked for again. **Failure, cancellation:** pass through. Policy: forwards the rest.
  @inlinable
  public func drop(while predicate: @escaping (Output) -> Bool) -> Publishers.DropWhile<Self> {
    Publishers.DropWhile(upstream: self, predicate: predicate)
  }

  /// Drops values as long as `predicate` holds, and fails with the first error it throws.
  ///
  /// **Demand:** a dropped value is asked for again. **Failure:** an error thrown cancels upstream.
  /// **Cancellation:** passes through. Policy: forwards the rest.
  @inlinable
  public func tryDrop(while predicate: @escaping (Output) throws -> Bool) -> Publishers.TryDropWhile<Self> {
    Publishers.TryDropWhile(upstream: self, predicate: predicate)
  }
}

extension Publishers {
  /// See ``Publisher/drop(while:)``.
  @frozen
  public struct DropWhile<Upstream: Publisher>: Publisher {
    public typealias Output = Upstream.Output
    public typealias Failure = Upstream.Failure

    public let upstream: Upstream
    public let predicate: (Upstream.Output) -> Bool

    @inlinable
    public init(upstream: Upstream, predicate: @escaping (Upstream.Output) -> Bool) {
      self.upstream = upstream
      self.predicate = predicate
    }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: DropWhileStage<Output, Failure, Never, Failure>(
          Downstream(subscriber), .passing, predicate))
    }
  }

  /// See ``Publisher/tryDrop(while:)``.
  @frozen
  public struct TryDropWhile<Upstream: Publisher>: Publisher {
    public typealias Output = Upstream.Output
    public typealias Failure = any Error

    public let upstream: Upstream
    public let predicate: (Upstream.Output) throws -> Bool

    @inlinable
    public init(upstream: Upstream, predicate: @escaping (Upstream.Output) throws -> Bool) {
      self.upstream = upstream
      self.predicate = predicate
    }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: DropWhileStage<Output, Upstream.Failure, any Error, Failure>(
          Downstream(subscriber), .throwing, predicate))
    }
  }
}

@usableFromInline
final class DropWhileStage<Input, Failure: Error, RuleError: Error, OutputFailure: Error>:
  RuleStage<Input, Failure, RuleError, Input, OutputFailure>, Subscriber
{
  @usableFromInline
  let predicate: (Input) throws(RuleError) -> Bool
  @exclusivity(unchecked)
  @usableFromInline
  var isDropping = true

  @inlinable
  init(
    _ down: Downstream<Input, OutputFailure>, _ endings: Endings<Failure, RuleError, OutputFailure>,
    _ predicate: @escaping (Input) throws(RuleError) -> Bool
  ) {
    self.predicate = predicate
    super.init(down, endings)
  }

  @inlinable
  func receive(_ input: Input) -> Subscribers.Demand {
    guard isLive else { return .none }
    guard isDropping else { return down.next(input) }
    do throws(RuleError) {
      if try predicate(input) { return .max(1) }
    } catch {
      return fail(error)
    }
    isDropping = false
    return down.next(input)
  }
}
