import FeedStream
import FeedStreamTesting

/// The first values; the stream completes with the last of them.
private final class Some: Model {
  private lazy var left = parameters[0, below: 4]
  override func began(_ source: Int) -> [Effect] {
    // Nothing is taken from upstream, not even its failure.
    left == 0 ? [.stop(0), .handOut(), .end(.finished)] : [.handOut()]
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    guard left > 0 else { return [] }
    left -= 1
    // A completion of upstream within the delivery of the last value passes, as in Combine.
    return left == 0 ? [.emit(value), .end(.finished)] : [.emit(value)]
  }
}

/// The values in a range of indices.
private final class Range: Model {
  private var index = 0
  private lazy var range = parameters[0, below: 3]...(parameters[0, below: 3] + parameters[1, below: 2])
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    defer { index += 1 }
    if index > range.upperBound { return [] }
    if index < range.lowerBound { return [.request(0, 1)] }
    return index == range.upperBound ? [.emit(value), .end(.finished)] : [.emit(value)]
  }
}

/// Values as long as the predicate holds.
private final class While: Model {
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    parameters.holds(value) ? [.emit(value)] : [.end(.finished)]
  }
}

/// Values as long as the predicate holds, and the first for which it does not.
private final class WhileInclusive: Model {
  private var isDone = false
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    if isDone { return [] }
    if parameters.holds(value) { return [.emit(value)] }
    isDone = true
    return [.stop(0), .emit(value), .end(.finished)]
  }
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] { isDone ? [] : [.end(ending)] }
}

var ending: [Definition] {
  [
    Definition(
      name: "prefix", shape: Shape(kinds: [.sync, .timed, .hot, .endless]), model: { Some($0) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        context.source().prefix(context.parameters[0, below: 4]).eraseToAnyPublisher()
      }),
    Definition(
      name: "output(in:)", shape: Shape(kinds: [.sync, .timed, .hot, .endless]), model: { Range($0) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        let first = context.parameters[0, below: 3]
        return context.source().output(in: first...(first + context.parameters[1, below: 2])).eraseToAnyPublisher()
      }),
    Definition(
      name: "prefix(while:)", model: { While($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        let parameters = context.parameters
        return context.source().prefix { (value: Int) -> Bool in parameters.holds(value) }.eraseToAnyPublisher()
      }),
    Definition(
      name: "prefix(while:inclusive:)", model: { WhileInclusive($0) },
      build: {
        context -> AnyPublisher<Int, TestError> in
        let parameters = context.parameters
        return context.source().prefix(while: { (value: Int) -> Bool in parameters.holds(value) }, inclusive: true)
          .eraseToAnyPublisher()
      }),
  ]
}
