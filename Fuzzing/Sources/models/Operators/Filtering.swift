import FeedStream
import FeedStreamTesting

/// Leaves out values, and requests one more for each.
private final class Some: Model {
  private let choose: (Int) -> Int?
  init(_ parameters: Parameters, _ choose: @escaping (Int) -> Int?) {
    self.choose = choose
    super.init(parameters)
  }
  required init(_ parameters: Parameters) {
    choose = { $0 }
    super.init(parameters)
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    if let chosen = choose(value) { [.emit(chosen)] } else { [.request(0, 1)] }
  }
}

/// Leaves out the first values. After the subscriber has received its subscription, that many more are requested,
/// together with the demand that has arrived meanwhile.
private final class Rest: Model {
  private lazy var left = parameters[0, below: 4]
  private var early = 0
  private var hasBegun = false
  private var ending: Ending?
  override func began(_ source: Int) -> [Effect] { [.handOut(), .then(0)] }
  override func then(_ token: Int, _ one: Int, _ other: Int) -> [Effect] {
    hasBegun = true
    return [.request(0, sum(left, early))] + (ending.map { [.end($0)] } ?? [])
  }
  // A completion that arrives before the subscriber has its subscription is delivered after that.
  override func ended(_ ending: Ending, _ source: Int) -> [Effect] {
    if hasBegun { return [.end(ending)] }
    self.ending = ending
    return []
  }
  override func requested(_ count: Int, _ probe: Int) -> [Effect] {
    if hasBegun { return [.request(0, count)] }
    early = sum(early, count)
    return []
  }
  override func value(_ value: Int, _ source: Int) -> [Effect] {
    guard left == 0 else {
      left -= 1
      return []
    }
    return [.emit(value)]
  }
}

var filtering: [Definition] {
  [
    Definition(
      name: "filter", model: { parameters in Some(parameters) { parameters.holds($0) ? $0 : nil } },
      build: { context -> AnyPublisher<Int, TestError> in
        let parameters = context.parameters
        return context.source().filter { (value: Int) -> Bool in parameters.holds(value) }.eraseToAnyPublisher()
      }),
    Definition(
      name: "compactMap", model: { parameters in Some(parameters) { parameters.holds($0) ? $0 + 1 : nil } },
      build: { context -> AnyPublisher<Int, TestError> in
        let parameters = context.parameters
        return context.source().compactMap { (value: Int) -> Int? in parameters.holds(value) ? value + 1 : nil }
          .eraseToAnyPublisher()
      }),
    Definition(
      name: "removeDuplicates",
      model: { parameters in
        var last: Int?
        return Some(parameters) { value in
          defer { last = value % 4 }
          return last == value % 4 ? nil : value
        }
      },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().removeDuplicates { (one: Int, other: Int) -> Bool in one % 4 == other % 4 }
          .eraseToAnyPublisher()
      }),
    Definition(
      name: "distinct",
      model: { parameters in
        var seen: [Int] = []
        return Some(parameters) {
          guard !seen.contains($0) else { return nil }
          seen.append($0)
          return $0
        }
      },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().distinct().eraseToAnyPublisher()
      }),
    Definition(
      name: "drop(while:)",
      model: { parameters in
        var isDropping = true
        return Some(parameters) {
          if isDropping { isDropping = parameters.holds($0) }
          return isDropping ? nil : $0
        }
      },
      build: { context -> AnyPublisher<Int, TestError> in
        let parameters = context.parameters
        return context.source().drop { (value: Int) -> Bool in parameters.holds(value) }.eraseToAnyPublisher()
      }),
    Definition(
      name: "dropFirst", model: { Rest($0) },
      build: { context -> AnyPublisher<Int, TestError> in
        context.source().dropFirst(context.parameters[0, below: 4]).eraseToAnyPublisher()
      }),
  ]
}
