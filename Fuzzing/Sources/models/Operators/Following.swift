import FeedStream
import FeedStreamTesting

/// Plays one publisher after another; each gets the outstanding demand.
private final class Following: Model {
  private let follows: (Ending, _ hasValue: Bool) -> Bool
  private let limit: (Parameters) -> Int
  private let specs: (Int) -> Int
  private var demand = 0
  private var hasValue = false
  private var latest = 0

  /// - Parameters:
  ///   - specs: returns the publisher for the n-th subscription.
  ///   - limit: returns the number of publishers after the first.
  ///   - follows: returns true if another publisher follows this completion.
  init(
    _ parameters: Parameters, specs: @escaping (Int) -> Int = { $0 }, limit: @escaping (Parameters) -> Int = { _ in 1 },
    _ follows: @escaping (Ending, _ hasValue: Bool) -> Bool
  ) {
    self.follows = follows
    self.limit = limit
    self.specs = specs
    super.init(parameters)
  }
  required init(_ parameters: Parameters) {
    follows = { _, _ in false }
    limit = { _ in 0 }
    specs = { $0 }
    super.init(parameters)
  }
  override func subscribed(_ probe: Int) -> [Effect] { [.subscribe(specs(0))] }
  override func began(_ source: Int) -> [Effect] {
    latest = source
    return source == 0 ? [.handOut()] : [.request(source, demand)]
  }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    demand = sum(demand, count)
    return [.request(latest, count)]
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    hasValue = true
    if demand != .max { demand -= 1 }
    return [.emit(value)]
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    guard latest < limit(parameters), follows(ending, hasValue) else { return [.end(ending)] }
    return [.subscribe(specs(source + 1))]
  }
}

var following: [Definition] {
  [
    Definition(
      name: "append", shape: Shape(upstreams: 2), model: { Following($0) { ending, _ in ending == .finished } },
      build: {
        context -> AnyPublisher<Int, TestError> in context.source(0).append(context.source(1)).eraseToAnyPublisher()
      }),
    Definition(
      name: "prepend", shape: Shape(upstreams: 2), model: { Following($0) { ending, _ in ending == .finished } },
      build: {
        context -> AnyPublisher<Int, TestError> in context.source(1).prepend(context.source(0)).eraseToAnyPublisher()
      }),
    Definition(
      name: "switchIfEmpty", shape: Shape(upstreams: 2),
      model: { Following($0) { ending, hasValue in ending == .finished && !hasValue } },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source(0).switchIfEmpty(context.source(1)).eraseToAnyPublisher()
      }),
    Definition(
      name: "catch", shape: Shape(upstreams: 2), model: { Following($0) { ending, _ in ending != .finished } },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source(0).catch { (_: TestError) -> Upstream in context.source(1) }.eraseToAnyPublisher()
      }),
  ]
}
