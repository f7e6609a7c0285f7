// Empty without the trait Tracing, which adds the dependency swift-distributed-tracing.
#if Tracing
  public import Tracing

  /// The identity of a request within a trace: the content of the field `traceparent` (W3C Trace Context, section 3.2).
  public struct TraceParent: Hashable, Sendable, CustomStringConvertible {
    /// The trace's ID: 32 hexadecimal digits.
    public let traceID: String
    /// The ID of the span that sent the request: 16 hexadecimal digits.
    public let parentID: String
    /// Bit 0 is set if the sender may have recorded the trace.
    public let flags: UInt8

    /// Parses the field's value; `nil` if it is invalid. Of a later version, only the parts of version 00 are read.
    public init?(_ text: String) {
      let bytes = Array(text.utf8)
      let dash = UInt8(ascii: "-")
      guard bytes.count >= 55, bytes[2] == dash, bytes[35] == dash, bytes[52] == dash else { return nil }
      let version = bytes[..<2]
      guard Self.isHexadecimal(version), !version.elementsEqual("ff".utf8) else { return nil }
      guard bytes.count == 55 || !version.elementsEqual("00".utf8) && bytes[55] == dash else { return nil }
      let (trace, parent) = (bytes[3..<35], bytes[36..<52])
      for part in [trace, parent] where !Self.isHexadecimal(part) || part.allSatisfy({ $0 == UInt8(ascii: "0") }) {
        return nil
      }
      guard Self.isHexadecimal(bytes[53..<55]),
        let flags = UInt8(String(decoding: bytes[53..<55], as: UTF8.self), radix: 16)
      else { return nil }
      traceID = String(decoding: trace, as: UTF8.self)
      parentID = String(decoding: parent, as: UTF8.self)
      self.flags = flags
    }

    /// The field's value in version 00.
    public var description: String {
      "00-\(traceID)-\(parentID)-\(flags < 16 ? "0" : "")\(String(flags, radix: 16))"
    }

    /// True for hexadecimal digits whose letters are lowercase, as the specification requires.
    private static func isHexadecimal(_ bytes: ArraySlice<UInt8>) -> Bool {
      bytes.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
  }

  /// Passes on `traceparent` and `tracestate`, unchanged, from the requests that a server receives to those that it
  /// sends.
  ///
  ///     InstrumentationSystem.bootstrap(TraceContextPropagator())
  ///
  /// Use it if only other services record traces. A tracer that records spans has its own propagation, and replaces
  /// this.
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
