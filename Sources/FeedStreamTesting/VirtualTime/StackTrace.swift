#if canImport(Runtime)
  import Runtime
  import Synchronization
#endif

/// Finds out who called, for messages. Walking the stack costs a fraction of a millisecond, reading the debugging
/// information for a stack not met before a tenth of a second.
enum StackTrace {
  #if canImport(Runtime)
    private static let known = Mutex<[[String]: WorkOrigin]>([:])

    /// The nearest caller outside of this module's virtual time, as `Debounce.receive(_:) (Debounce.swift:40)`.
    static func caller() -> WorkOrigin {
      guard let trace = try? Backtrace.capture(algorithm: .fast, limit: 12, offset: 1, top: 0) else { return .untraced }
      let key = trace.frames.map(\.description)
      if let origin = known.withLock({ $0[key] }) { return origin }
      let origin = origin(of: trace)
      known.withLock { $0[key] = origin }
      return origin
    }

    private static func origin(of trace: Backtrace) -> WorkOrigin {
      for frame in trace.symbolicated(options: [.useSymbolCache, .showSourceLocations])?.frames ?? [] {
        guard !frame.isSwiftThunk, let symbol = frame.symbol, let place = symbol.sourceLocation,
          !place.path.contains("FeedStreamTesting/VirtualTime/"), !place.path.hasSuffix("Core/Scheduler.swift")
        else { continue }
        let file = place.path.split(separator: "/").last ?? ""
        return .function("\(symbol.name) (\(file):\(place.line))")
      }
      return .untraced
    }
  #else
    static func caller() -> WorkOrigin { .untraced }
  #endif
}
