import FeedStream
import FeedStreamTesting

/// Requests everything from upstream, and delivers one result on demand.
class ResultModel: Model {
  private var isAsked = false
  private var isSettled = false
  private var isDelivered = false
  private var result: Int?

  /// Takes a value; a result completes the stream.
  func take(_ value: Int) -> Int? { nil }
  /// The result when upstream finishes; without one, the stream finishes without a value.
  func atEnd() -> Int? { nil }

  override func began(_ source: Int) -> [Effect] { [.handOut(), .request(0, .max)] }

  override func value(_ value: Int, _ source: Int) -> [Effect] {
    guard !isSettled, let result = take(value) else { return [] }
    return [.stop(0)] + settle(result)
  }

  // Without a result, the completion waits for a request, as a result would: Combine's operators do that if there were
  // values.
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    if isSettled { return [] }
    return ending == .finished ? settle(atEnd()) : [.end(ending)]
  }

  private func settle(_ result: Int?) -> [Effect] {
    isSettled = true
    self.result = result
    return deliver()
  }

  private func deliver() -> [Effect] {
    guard isAsked, isSettled, !isDelivered else { return [] }
    isDelivered = true
    return (result.map { [.emit($0)] } ?? []) + [.end(.finished)]
  }

  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    isAsked = true
    return deliver()
  }
}

private final class Reduction: ResultModel {
  private let update: (Int) -> Int?
  private let end: () -> Int?
  init(_ parameters: Parameters, _ update: @escaping (Int) -> Int?, end: @escaping () -> Int?) {
    self.update = update
    self.end = end
    super.init(parameters)
  }
  required init(_ parameters: Parameters) {
    update = { _ in nil }
    end = { nil }
    super.init(parameters)
  }
  override func take(_ value: Int) -> Int? { update(value) }
  override func atEnd() -> Int? { end() }
}

/// An operator whose result is a function of the values, up to the one that settles it.
private func reduction(
  _ name: String, kinds: [SourceSpec.Kind] = [.sync, .timed, .hot],
  settled: @escaping (Parameters, [Int]) -> Int? = { _, _ in nil }, end: @escaping (Parameters, [Int]) -> Int?,
  build: @escaping (Context) -> AnyPublisher<Int, TestError>
) -> Definition {
  Definition(
    name: name, shape: Shape(kinds: kinds),
    model: { parameters in
      var values: [Int] = []
      return Reduction(parameters) {
        values.append($0)
        return settled(parameters, values)
      } end: {
        end(parameters, values)
      }
    }, build: build)
}

var reducing: [Definition] {
  [
    reduction(
      "first", kinds: [.sync, .timed, .hot, .endless], settled: { $1.last }, end: { _, _ in nil },
      build: {
        $0.source().first().eraseToAnyPublisher()
      }),
    reduction(
      "first(where:)", settled: { $0.holds($1.last!) ? $1.last : nil }, end: { _, _ in nil },
      build: { context in
        let parameters = context.parameters
        return context.source().first { (value: Int) -> Bool in parameters.holds(value) }.eraseToAnyPublisher()
      }),
    reduction("last", end: { $1.last }, build: { $0.source().last().eraseToAnyPublisher() }),
    reduction(
      "last(where:)", end: { parameters, values in values.last { parameters.holds($0) } },
      build: { context in
        let parameters = context.parameters
        return context.source().last { (value: Int) -> Bool in parameters.holds(value) }.eraseToAnyPublisher()
      }),
    reduction(
      "reduce", end: { $1.reduce(1) { $0 &* 3 &+ $1 } },
      build: {
        $0.source().reduce(1) { (sum: Int, value: Int) -> Int in sum &* 3 &+ value }.eraseToAnyPublisher()
      }),
    reduction(
      "reduce(_:)", end: { $1.isEmpty ? nil : $1.dropFirst().reduce($1[0]) { $0 &* 3 &+ $1 } },
      build: {
        $0.source().reduce { (sum: Int, value: Int) -> Int in sum &* 3 &+ value }.eraseToAnyPublisher()
      }),
    reduction("count", end: { $1.count }, build: { $0.source().count().eraseToAnyPublisher() }),
    reduction("min", end: { $1.min() }, build: { $0.source().min().eraseToAnyPublisher() }),
    reduction("max", end: { $1.max() }, build: { $0.source().max().eraseToAnyPublisher() }),
    reduction(
      "contains", settled: { $1.last == 3 ? 1 : nil }, end: { _, _ in 0 },
      build: {
        $0.source().contains(3).map { (answer: Bool) -> Int in answer ? 1 : 0 }.eraseToAnyPublisher()
      }),
    reduction(
      "allSatisfy", settled: { $1.last! > 5 ? 0 : nil }, end: { _, _ in 1 },
      build: {
        $0.source().allSatisfy { (value: Int) -> Bool in value <= 5 }
          .map { (answer: Bool) -> Int in answer ? 1 : 0 }.eraseToAnyPublisher()
      }),
    reduction(
      "collect", end: { digits($1) },
      build: {
        $0.source().collect().map { (values: [Int]) -> Int in digits(values) }.eraseToAnyPublisher()
      }),
    Definition(
      name: "ignoreOutput", model: { Ignoring($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().ignoreOutput().setOutputType(to: Int.self).eraseToAnyPublisher()
      }),
  ]
}

/// Requests everything, and passes only the completion.
private final class Ignoring: Model {
  override func began(_ source: Int) -> [Effect] { [.handOut(), .request(0, .max)] }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] { [] }
  override func value(_ value: Int, _ source: Int) -> [Effect] { [] }
}
