/// One thing to measure, on one library.
public struct Pipeline {
  public enum Kind: Sendable {
    /// Values travel on the caller's stack: its floor is a loop that calls the same closures.
    case synchronous
    /// The same, of one operator that keeps no state, or that does; what it adds is measured against the bare source.
    case stateless, stateful
    /// The same, of an operator that does nothing to values, or that delivers one at the end, or arrays of them.
    case passing, reducing, grouping
    /// A subject's delivery.
    case subject
    /// Several sources come together, or something is kept for later.
    case combining
    /// No values: what a subscription costs.
    case lifecycle
  }

  public let name: String
  public let kind: Kind
  /// Sets up work on a number of elements and returns it; only the call of what it returns is measured. Its result is
  /// the sum of what arrived, the same for every contender.
  public let prepare: (Int) -> () -> Int

  public init(_ name: String, _ kind: Kind = .synchronous, prepare: @escaping (Int) -> () -> Int) {
    self.name = name
    self.kind = kind
    self.prepare = prepare
  }
}

/// The pipelines of one contender.
public struct Pipelines {
  public private(set) var all: [Pipeline] = []

  public init() {}

  public mutating func add(_ name: String, _ run: @escaping (Int) -> Int) { add(name, .synchronous, run) }

  public mutating func add(_ name: String, _ kind: Pipeline.Kind, _ run: @escaping (Int) -> Int) {
    all.append(Pipeline(name, kind) { count in { run(count) } })
  }

  public mutating func add(_ name: String, _ kind: Pipeline.Kind, prepare: @escaping (Int) -> () -> Int) {
    all.append(Pipeline(name, kind, prepare: prepare))
  }
}
