import FeedStream
import FeedStreamTesting

/// Each value becomes another one; demand, completions and cancellations pass.
private final class Each: Model {
  private let change: (Int) -> Int
  init(_ parameters: Parameters, _ change: @escaping (Int) -> Int) {
    self.change = change
    super.init(parameters)
  }
  required init(_ parameters: Parameters) {
    change = { $0 }
    super.init(parameters)
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] { [.emit(change(value))] }
}

/// The time since the previous value, in milliseconds.
private final class Intervals: Model {
  private var last = 0
  override func began(_ source: Int) -> [Effect] {
    last = now
    return [.handOut()]
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    let interval = now - last
    last = now
    return [.emit(interval)]
  }
}

/// Each value with the previous one; the first is kept, and one more is requested in its place.
private final class Pairs: Model {
  private var last: Int?
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    defer { last = value }
    guard let last else { return [.request(0, 1)] }
    return [.emit(digits([last, value]))]
  }
}

var oneToOne: [Definition] {
  [
    Definition(
      name: "passing", model: { Model($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().eraseToAnyPublisher()
      }),
    Definition(
      name: "map", model: { Each($0) { $0 * 2 + 1 } },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().map { (value: Int) -> Int in value * 2 + 1 }.eraseToAnyPublisher()
      }),
    Definition(
      name: "tryMap", model: { Each($0) { $0 * 2 + 1 } },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().tryMap { (value: Int) throws -> Int in value * 2 + 1 }
          .mapError { (error: any Error) -> TestError in error as! TestError }.eraseToAnyPublisher()
      }),
    Definition(
      name: "scan",
      model: { parameters in
        var sum = 1
        return Each(parameters) {
          sum += $0
          return sum
        }
      },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().scan(1) { (sum: Int, value: Int) -> Int in sum + value }.eraseToAnyPublisher()
      }),
    Definition(
      name: "scan(_:)",
      model: { parameters in
        var sum: Int?
        return Each(parameters) {
          sum = sum.map { $0 * 3 } ?? 0
          sum! += $0
          return sum!
        }
      },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().scan { (sum: Int, value: Int) -> Int in sum * 3 + value }.eraseToAnyPublisher()
      }),
    Definition(
      name: "enumerated",
      model: { parameters in
        var index = -1
        return Each(parameters) {
          index += 1
          return digits([index, $0])
        }
      },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().enumerated().map { (pair: (offset: Int, element: Int)) -> Int in
          digits([pair.offset, pair.element])
        }.eraseToAnyPublisher()
      }),
    Definition(
      name: "pairwise", model: { Pairs($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().pairwise().map { (pair: (Int, Int)) -> Int in digits([pair.0, pair.1]) }.eraseToAnyPublisher()
      }),
    Definition(
      name: "measureInterval", model: { Intervals($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().measureInterval(using: context.time)
          .map { (stride: StreamInstant.Stride) -> Int in Int(stride.nanoseconds / 1_000_000) }.eraseToAnyPublisher()
      }),
    Definition(
      name: "handleEvents", model: { Model($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().handleEvents(receiveOutput: { (_: Int) -> Void in }).checkpoint("here").eraseToAnyPublisher()
      }),
  ]
}
