import FeedStream

/// Pending work in virtual time.
public struct PendingWork: Sendable, CustomStringConvertible {
  /// The time at which the work is due.
  public var when: StreamInstant
  /// The origin of the work, if known.
  public var origin: WorkOrigin

  public var description: String { "\(when.nanoseconds.asTime): \(origin)" }

  /// True if the work never becomes due.
  var isEndless: Bool { when.nanoseconds == .max }
}

/// The origin of a piece of work.
public enum WorkOrigin: Hashable, Sendable, CustomStringConvertible {
  /// A direct call to the scheduler on this line.
  case line(CallSite)
  /// A function that was found by walking the stack, such as `Debounce.receive(_:) (Debounce.swift:40)` (see
  /// ``VirtualTimeScheduler/tracesOrigins``), or an event in the virtual world, such as `the request to example.com`.
  case function(String)
  /// A task or an actor that runs on the scheduler.
  case task
  /// A task that sleeps on the scheduler as its clock.
  case sleep
  /// Work given to ``VirtualTimeScheduler/offload(_:completion:)``, or its result.
  case offload
  /// A call through the `Scheduler` protocol, such as an operator's, while origins are not traced.
  case untraced

  public var description: String {
    switch self {
    case .line(let site): "\(site)"
    case .function(let name): name
    case .task: "a task or an actor"
    case .sleep: "a sleeping task"
    case .offload: "offloaded work"
    case .untraced: "an operator (set tracesOrigins to see which)"
    }
  }
}

/// A ``WorkOrigin`` as an object, which takes one word of memory.
package final class OriginNote: Sendable {
  let origin: WorkOrigin

  init(_ origin: WorkOrigin) { self.origin = origin }

  /// Makes the origin of an event in the virtual world, with a readable name.
  package init(named name: String) { origin = .function(name) }

  static let offload = OriginNote(.offload)
  static let sleep = OriginNote(.sleep)
  static let untraced = OriginNote(.untraced)

  static func line(_ site: CallSite) -> OriginNote { OriginNote(.line(site)) }
}

extension TimerQueue.Work {
  /// The work's origin in virtual time.
  var origin: WorkOrigin { (note as? OriginNote)?.origin ?? .untraced }
}

extension Int64 {
  /// Nanoseconds in the usual notation: `1.5s`, `20ms`, `0s`.
  var asTime: String {
    guard self != 0 else { return "0s" }
    guard self != .max, self != .min else { return self > 0 ? "forever" : "-forever" }
    let units: [(UInt64, String)] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns")]
    let (unit, name) = units.first { magnitude >= $0.0 }!
    var fraction = ""
    if magnitude % unit > 0 {
      let digits = String(magnitude % unit)
      fraction = "." + String(repeating: "0", count: String(unit).count - 1 - digits.count) + digits
      while fraction.last == "0" { fraction.removeLast() }
    }
    return "\(self < 0 ? "-" : "")\(magnitude / unit)\(fraction)\(name)"
  }
}
