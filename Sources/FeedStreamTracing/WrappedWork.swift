#if Tracing
  public import Tracing

  extension ServiceContext {
    /// Returns a closure that runs `work` in the context that is current now, whichever thread calls the closure.
    ///
    ///     loop.offload(ServiceContext.wrap { readIndex() }) { index in … }
    ///
    /// Use it for code that runs on the thread pool, on another loop or on a queue, because such code has no context of
    /// its own. For the values of a stream, use ``FeedStream/Publisher/inContext(_:)``.
    ///
    /// - Parameter work: the code to run. If no context is current now, it sees none.
    public static func wrap<Result>(_ work: @escaping @Sendable () -> Result) -> @Sendable () -> Result {
      let context = ServiceContext.current
      return { $current.withValue(context, operation: work) }
    }

    /// Returns a closure that runs `work` in the context that is current now, whichever thread calls the closure.
    ///
    ///     pages.parallelMap(on: group, ServiceContext.wrap { page in parse(page) })
    ///
    /// - Parameter work: the code to run. If no context is current now, it sees none.
    public static func wrap<Argument, Result>(
      _ work: @escaping @Sendable (Argument) -> Result
    ) -> @Sendable (Argument) -> Result {
      let context = ServiceContext.current
      return { argument in $current.withValue(context) { work(argument) } }
    }
  }
#endif
