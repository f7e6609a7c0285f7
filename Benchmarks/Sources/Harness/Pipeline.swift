/// One pipeline to measure, with one library.
public struct Pipeline {
  public enum Kind: Sendable {
    /// Values travel on the caller's stack: its floor is a loop that calls the same closures.
    case synchronous
    /// As `synchronous`, with a single operator, without state or with it; its cost is measured against the source
    /// alone.
    case stateless, stateful
    /// As `synchronous`, with an operator that doesn't change values, delivers one value at the end, or delivers
    /// arrays.
    case passing, reducing, grouping
    /// A subject's delivery.
    case subject
    /// Several sources are combined, or values are kept for later.
    case combining
    /// No values, or few: the cost of subscriptions.
    case lifecycle
  }

  public let name: String
  public let kind: Kind
  /// Sets up work on a number of elements, and returns it; only the call of the returned function is measured. Its
  /// result is the sum of the values that arrived, which is the same for every contender.
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
