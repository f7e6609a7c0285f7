#if Tracing
  public import Logging
  public import Tracing

  extension Logger.MetadataProvider {
    /// Adds the trace of `ServiceContext.current` to each log line, as `trace_id` and `span_id`.
    ///
    ///     LoggingSystem.bootstrap(StreamLogHandler.standardError, metadataProvider: .traceContext())
    ///
    /// A client with ``FeedHTTP/HTTPClient/traced(in:tracer:instrument:)`` would send the same IDs in the `traceparent`
    /// field. With a tracer that propagates W3C Trace Context, they identify the current span. With
    /// ``TraceContextPropagator``, they come from the request that is being served, whose sender created the span.
    /// Lines outside of a trace have neither. In closures that a timer, a queue or a connection calls, there is a
    /// context only below ``FeedStream/Publisher/inContext(_:)``.
    ///
    /// - Parameter instrument: writes the field; the process's instrument by default.
    public static func traceContext(instrument: (any Instrument)? = nil) -> Self {
      Self {
        guard let context = ServiceContext.current else { return [:] }
        var field: String?
        (instrument ?? InstrumentationSystem.instrument).inject(context, into: &field, using: ParentField())
        guard let parent = field.flatMap({ TraceParent($0) }) ?? context.traceParent else { return [:] }
        return ["trace_id": .string(parent.traceID), "span_id": .string(parent.parentID)]
      }
    }
  }

  /// Keeps the `traceparent` field, and leaves out all others.
  private struct ParentField: Injector {
    func inject(_ value: String, forKey key: String, into carrier: inout String?) {
      if key.lowercased() == "traceparent" { carrier = value }
    }
  }
#endif
