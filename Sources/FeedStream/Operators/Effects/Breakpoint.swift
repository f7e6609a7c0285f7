import CLibrary

extension Publisher {
  /// Stops the process in the debugger when a closure returns true; without a debugger, the process ends with
  /// `SIGTRAP`.
  ///
  ///     upstream    --a--b--|
  ///     breakpoint(receiveOutput: { $0 == b })
  ///     downstream  --a--b--|       (stops before b is delivered)
  ///
  /// **Demand, failure, cancellation:** pass through. **Policy:** forwards.
  ///
  /// - Parameters:
  ///   - receiveSubscription: called with the subscription; returns true to stop.
  ///   - receiveOutput: called with each value; returns true to stop.
  ///   - receiveCompletion: called with the completion; returns true to stop.
  @inlinable public func breakpoint(
    receiveSubscription: ((any Subscription) -> Bool)? = nil,
    receiveOutput: ((Output) -> Bool)? = nil,
    receiveCompletion: ((Subscribers.Completion<Failure>) -> Bool)? = nil
  ) -> Publishers.Breakpoint<Self> {
    Publishers.Breakpoint(
      upstream: self, receiveSubscription: receiveSubscription, receiveOutput: receiveOutput,
      receiveCompletion: receiveCompletion)
  }

  /// Stops the process in the debugger when the stream fails.
  ///
  ///     upstream    --a--b--#
  ///     breakpointOnError()
  ///     downstream  --a--b--#       (stops before the failure is delivered)
  ///
  /// **Demand, failure, cancellation:** pass through. **Policy:** forwards.
  @inlinable public func breakpointOnError() -> Publishers.Breakpoint<Self> {
    breakpoint(receiveCompletion: { if case .failure = $0 { true } else { false } })
  }
}

extension Publishers {
  /// See ``Publisher/breakpoint(receiveSubscription:receiveOutput:receiveCompletion:)``.
  @frozen public struct Breakpoint<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let receiveSubscription: ((any Subscription) -> Bool)?
    public let receiveOutput: ((Upstream.Output) -> Bool)?
    public let receiveCompletion: ((Subscribers.Completion<Upstream.Failure>) -> Bool)?

    @inlinable public init(
      upstream: Upstream,
      receiveSubscription: ((any Subscription) -> Bool)? = nil,
      receiveOutput: ((Upstream.Output) -> Bool)? = nil,
      receiveCompletion: ((Subscribers.Completion<Failure>) -> Bool)? = nil
    ) {
      self.upstream = upstream
      self.receiveSubscription = receiveSubscription
      self.receiveOutput = receiveOutput
      self.receiveCompletion = receiveCompletion
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      if S.isFused {
        upstream.receive(subscriber: BreakpointStage(subscriber.erased, self))
      } else {
        upstream.receive(subscriber: BreakpointStage(subscriber, self))
      }
    }
  }
}

@frozen @usableFromInline
struct BreakpointStage<Upstream: Publisher, Downstream: Subscriber<Upstream.Output, Upstream.Failure>>: FusedStage {
  @usableFromInline let downstream: Downstream
  @usableFromInline let breakpoint: Publishers.Breakpoint<Upstream>

  @inlinable init(_ downstream: Downstream, _ breakpoint: Publishers.Breakpoint<Upstream>) {
    self.downstream = downstream
    self.breakpoint = breakpoint
  }

  @inlinable func receive(subscription: any Subscription) {
    if breakpoint.receiveSubscription?(subscription) == true { stopInDebugger() }
    downstream.receive(subscription: subscription)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    if let receiveOutput = breakpoint.receiveOutput, receiveOutput(input) { stopInDebugger() }
    return downstream.receive(input)
  }

  @inlinable func receive(completion: Subscribers.Completion<Failure>) {
    if breakpoint.receiveCompletion?(completion) == true { stopInDebugger() }
    downstream.receive(completion: completion)
  }
}

/// Raises `SIGTRAP` with its default action, because Swift's backtracer would otherwise handle the signal and let the
/// process continue.
@inline(never) @usableFromInline func stopInDebugger() {
  let handler = signal(SIGTRAP, SIG_DFL)
  raise(SIGTRAP)
  signal(SIGTRAP, handler)
}
