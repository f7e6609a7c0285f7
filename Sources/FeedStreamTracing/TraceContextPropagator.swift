#if Tracing
  public import Tracing

  /// Passes on `traceparent` and `tracestate`, unchanged, from the requests that a server receives to those that it
  /// sends.
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
      context.traceParent = parent
      context.traceState = extractor.extract(key: "tracestate", from: carrier)
    }

    public func inject<Carrier, Inject: Injector>(
      _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
      guard let parent = context.traceParent else { return }
      injector.inject("\(parent)", forKey: "traceparent", into: &carrier)
      if let state = context.traceState { injector.inject(state, forKey: "tracestate", into: &carrier) }
    }
  }

  extension ServiceContext {
    private enum ParentKey: ServiceContextKey {
      typealias Value = TraceParent
      static var nameOverride: String? { "traceparent" }
    }

    private enum StateKey: ServiceContextKey {
      typealias Value = String
      static var nameOverride: String? { "tracestate" }
    }

    /// The `traceparent` of the request that is being served, with ``TraceContextPropagator``.
    public var traceParent: TraceParent? {
      get { self[ParentKey.self] }
      set { self[ParentKey.self] = newValue }
    }

    /// The `tracestate` of the request that is being served, with ``TraceContextPropagator``.
    public var traceState: String? {
      get { self[StateKey.self] }
      set { self[StateKey.self] = newValue }
    }
  }
#endif
