import CLibrary
import Synchronization

/// Issues each warning once per place.
@usableFromInline enum Warnings {
  struct State {
    var writes = isOnByDefault
    var handler: (@Sendable (StreamWarning) -> Void)?
    fileprivate var told: Set<Told> = []
  }

  /// The limit for a loop's turns, in nanoseconds; a longer turn causes a warning.
  static let turnLimit = Atomic<Int64>(100_000_000)

  fileprivate struct Told: Hashable {
    let kind: StreamWarning.Kind
    let place: String
  }

  /// The maximum number of recorded places; beyond it, no further warnings are issued.
  private static let limit = 1_000

  /// True if warnings are written or handled; check it before work that is needed only for warnings.
  @usableFromInline static var areOn: Bool { on.load(ordering: .relaxed) & forWarnings != 0 }

  /// True if warnings or the map must observe new subscriptions and the turns of loops.
  @usableFromInline package static var watch: Bool { on.load(ordering: .relaxed) != 0 }

  private static let forWarnings: UInt8 = 1
  private static let forMap: UInt8 = 2
  private static let on = Atomic<UInt8>((isOnByDefault ? forWarnings : 0) | (mapIsOnByDefault ? forMap : 0))
  private static let state = Mutex(State())

  private static let isOnByDefault: Bool = {
    switch getenv("FEEDSTREAM_WARNINGS").map({ String(cString: $0) }) {
    case "on": return true
    case "off": return false
    default:
      #if DEBUG
        return true
      #else
        return false
      #endif
    }
  }()

  /// Evaluated before the first subscription is made or the first loop runs.
  private static let mapIsOnByDefault: Bool = {
    guard getenv("FEEDSTREAM_MAP").map({ String(cString: $0) }) == "on" else { return false }
    LiveMap.begin()
    return true
  }()

  static func mapIs(on isOn: Bool) {
    if isOn { on.bitwiseOr(forMap, ordering: .relaxed) } else { on.bitwiseAnd(~forMap, ordering: .relaxed) }
  }

  static func change(_ body: (inout State) -> Void) {
    state.withLock { state in
      body(&state)
      state.told = []
      if state.writes || state.handler != nil {
        on.bitwiseOr(forWarnings, ordering: .relaxed)
      } else {
        on.bitwiseAnd(~forWarnings, ordering: .relaxed)
      }
    }
  }

  /// - Parameter culprit: distinguishes several warnings at one place, each of which is issued once.
  @inline(never)
  static func warn(
    _ kind: StreamWarning.Kind, at place: String, culprit: String = "", stack: [String] = [],
    _ message: @autoclosure () -> String
  ) {
    guard areOn else { return }
    let (isNew, handler) = state.withLock { state in
      (state.told.count < limit && state.told.insert(Told(kind: kind, place: place + culprit)).inserted, state.handler)
    }
    guard isNew else { return }
    let warning = StreamWarning(kind: kind, place: place, message: message(), stack: stack)
    if let handler { return handler(warning) }
    complain(
      "\(warning.line) (\(kind.section); reported once per place; FEEDSTREAM_WARNINGS=off turns warnings off)",
      stack.map { "  in \($0)" })
  }
}

/// The file and line of a call, or a name and line 0. This type doesn't allocate, because every subject stores one of
/// these.
@frozen @usableFromInline struct SourcePlace: Sendable, CustomStringConvertible {
  @usableFromInline let file: StaticString
  @usableFromInline let line: UInt

  @inlinable init(_ file: StaticString, _ line: UInt) {
    self.file = file
    self.line = line
  }

  @usableFromInline var description: String { line == 0 ? "\(file)" : "\(file):\(line)" }
}

// MARK: - Values

extension Warnings {
  /// Warns about a value that a subject did not deliver, unless ``StreamDiagnostics/onDrop(_:)`` has a handler.
  static func undelivered(_ name: StaticString, _ reason: DroppedValue.Reason, at place: SourcePlace) {
    guard areOn, !StreamDiagnostics.isWatched else { return }
    switch reason {
    case .noSubscriber:
      warn(
        .sentToNobody, at: "\(place)",
        """
        \(name): a value was sent while there was no subscriber; subscribe first, keep the AnyCancellable that sink returns, or use \
        CurrentValueSubject or ReplaySubject, which keep values
        """)
    case .terminated: sentLate("\(name)", at: "\(place)")
    case .noDemand: unrequested("\(name)", at: "\(place)")
    case .bufferFull, .busy: break
    }
  }

  /// Warns about a value that was sent after the completion.
  static func sentLate(_ name: String, at place: String) {
    warn(
      .sentAfterCompletion, at: place,
      "\(name): a value was sent after the completion and was dropped; send it earlier, or make a new stream")
  }

  static func sentToClosedLoop(_ what: String, at place: String) {
    warn(
      .closedLoop, at: place,
      "\(what) was sent to a closed loop and was dropped; send it before close() or shutdown(), or make another loop")
  }

  static func unrequested(_ name: String, at place: String, atFailure: Bool = false) {
    if atFailure {
      return warn(
        .noDemand, at: place, culprit: "failure",
        """
        \(name): a value was dropped, because the stream failed before a subscriber had requested the value; request more, or handle \
        the failure above this operator, for example with catch
        """)
    }
    warn(
      .noDemand, at: place,
      """
      \(name): a value was dropped, because a subscriber had not requested it; request more, or put \
      buffer(size:prefetch:whenFull:) or an onBackpressure operator before that subscriber
      """)
  }
}
