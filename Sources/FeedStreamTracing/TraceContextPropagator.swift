#if Tracing
  public import Tracing

  /// Passes on `traceparent` and `tracestate`, unchanged, from the requests that a server receives to those that it
  /// sends. Several `tracestate` fields become one.
  ///
  ///     InstrumentationSystem.bootstrap(TraceContextPropagator())
  ///
  /// Use it if only other services record traces. A tracer that records spans has its own propagation, and replaces
  /// this type.
  public struct TraceContextPropagator: Instrument {
    public init() {}

    public func extract<Carrier, Extract: Extractor>(
      _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
      guard let parent = extractor.extract(key: "traceparent", from: carrier).flatMap({ TraceParent($0) }) else {
        return
      }
      context.trace = TraceFields(parent: parent, state: extractor.extract(key: "tracestate", from: carrier))
    }

    public func inject<Carrier, Inject: Injector>(
      _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
      guard let trace = context.trace, let parent = trace.parent else { return }
      injector.inject("\(parent)", forKey: "traceparent", into: &carrier)
      if let state = trace.state { injector.inject(state, forKey: "tracestate", into: &carrier) }
    }
  }

  /// The fields of a trace in a context. They are one value, because each value of a context is an entry in a
  /// dictionary.
  private struct TraceFields: Sendable {
    var parent: TraceParent?
    var state: String?
  }

  extension ServiceContext {
    private enum TraceKey: ServiceContextKey {
      typealias Value = TraceFields
      static var nameOverride: String? { "traceparent" }
    }

    fileprivate var trace: TraceFields? {
      get { self[TraceKey.self] }
      set { self[TraceKey.self] = newValue }
    }

    /// The `traceparent` of the request that is being served, if ``TraceContextPropagator`` is installed.
    public var traceParent: TraceParent? {
      get { trace?.parent }
      set { trace = TraceFields(parent: newValue, state: trace?.state) }
    }

    /// The `tracestate` of the request that is being served, if ``TraceContextPropagator`` is installed.
    public var traceState: String? {
      get { trace?.state }
      set { trace = TraceFields(parent: trace?.parent, state: newValue) }
    }
  }
#endif
