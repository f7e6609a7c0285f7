extension Publisher {
  /// Delivers values and the ending on `scheduler`.
  ///
  ///     upstream    --a--b--c--|
  ///     receive(on: loop)
  ///     downstream  --a--b--c--|   each on the loop's next turn
  ///
  /// **Policy:** keeps what is asked for and waits for its turn. **Demand:** passes through. **Failure:** waits its
  /// turn behind the values. **Cancellation:** upstream immediately; what waits is dropped, an ending too.
  ///
  /// - Parameters:
  ///   - scheduler: where to deliver.
  ///   - options: passed on to the scheduler.
  @inlinable public func receive<S: Scheduler>(
    on scheduler: S, options: S.SchedulerOptions? = nil
  ) -> Publishers.ReceiveOn<Self, S> {
    Publishers.ReceiveOn(upstream: self, scheduler: scheduler, options: options)
  }
}

extension Publishers {
  /// See ``Publisher/receive(on:options:)``.
  public struct ReceiveOn<Upstream: Publisher, Context: Scheduler>: Publisher {
    public typealias Output = Upstream.Output
    public typealias Failure = Upstream.Failure

    public let upstream: Upstream
    public let scheduler: Context
    public let options: Context.SchedulerOptions?

    @inlinable public init(upstream: Upstream, scheduler: Context, options: Context.SchedulerOptions?) {
      self.upstream = upstream
      self.scheduler = scheduler
      self.options = options
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: ReceiveOnStage<Output, Failure>("ReceiveOn", ErasedSubscriber(subscriber)) { [scheduler, options] in
          scheduler.schedule(options: options, $0)
          return nil
        })
    }
  }
}
