/// The stage of all stateless operators whose closure may throw: `tryMap`, `tryFilter`, `tryCompactMap` …
///
/// `body` does the operator's work and passes on its result. An error that it throws cancels upstream and becomes the
/// failure.
@usableFromInline final class TryStage<Input, UpstreamFailure: Error, Output>: Stage<Output, any Error>, Subscriber {
  @usableFromInline typealias Failure = UpstreamFailure

  @usableFromInline let name: StaticString
  @usableFromInline let body: (Input) throws -> Subscribers.Demand

  @usableFromInline let policy: Strays

  @inlinable init(
    _ name: StaticString, strays: Strays = .valuesPass, _ down: ErasedSubscriber<Output, any Error>,
    _ body: @escaping (Input) throws -> Subscribers.Demand
  ) {
    self.name = name
    policy = strays
    self.body = body
    super.init(down)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    let isStray = !takesEvents
    guard !isStray || takesStray() else { return .none }
    do {
      return try body(input)
    } catch {
      return fail(error, isStray: isStray)
    }
  }

  @inline(never) @usableFromInline func fail(_ error: any Error, isStray: Bool) -> Subscribers.Demand {
    if isStray, policy == .valuesAndErrorsPass {
      down.receive(completion: .failure(error))
    } else {
      stop(.failure(error))
    }
    return .none
  }

  @usableFromInline
  func receive(completion: Subscribers.Completion<UpstreamFailure>) { finish(completion.mapError { $0 }) }

  override var strays: Strays { policy }
  override var description: String { "\(name)" }
}
